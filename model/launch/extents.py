"""The width, height and depth of what a launch goes through, where nobody gave them; and of its images."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from model.launch.arg_name_hints import Meaning, meaning_of
from model.launch.launch import Assumption, Number
from model.launch.resolve import Size3
from model.opencl.kernel import Kernel, Parameter, ParameterKind

_ROW, _SIDE, _SLICES = 1024, 128, 16  # of a picture, of a volume, of a volume that a flat launch goes through
_LARGEST_SIDES = {1: 4096, 2: 8192, 3: 2048}  # of images: what every device supports (OpenCL 3.0, table 4.3)
_MEANINGS = (Meaning.WIDTH, Meaning.HEIGHT, Meaning.DEPTH)


def extents(size: tuple[int, ...], dimensions: int) -> Size3:
    """Of something with so many dimensions that a launch of global size `size` goes through, item by item."""
    if len(size) >= dimensions:
        known = [*size[:dimensions], 1, 1]
        return known[0], known[1], known[2]
    if len(size) == 2:
        return size[0], size[1], _SLICES
    items = prod(size)
    if dimensions == 2:
        width = min(items, _ROW)
        return width, max(1, items // width), 1
    width = min(items, _SIDE)
    height = min(max(1, items // width), _SIDE)
    return width, height, max(1, items // (width * height))


def image_sizes(
    kernel: Kernel, given: Mapping[str, Size3], scalars: Mapping[str, Number], size: tuple[int, ...]
) -> tuple[dict[str, Size3], list[Assumption]]:
    """Return the size of every image: as given, as the scalars that bear its name say, or like the launch."""
    sizes, notes = dict(given), []
    for parameter in kernel.of_kind(ParameterKind.IMAGE):
        if parameter.name in sizes:
            continue
        named = {meaning: _named(parameter.name, meaning, scalars) for meaning in _MEANINGS}
        dimensions = _dimensions(parameter)
        like_launch = extents(size, dimensions)
        sides = [
            min(named[meaning] or side, _LARGEST_SIDES[dimensions]) if d < dimensions else 1
            for d, (meaning, side) in enumerate(zip(_MEANINGS, like_launch, strict=True))
        ]
        sizes[parameter.name] = (sides[0], sides[1], sides[2])
        like = "like the scalars of its name" if any(named.values()) else "like the global size"
        text = f"the image `{parameter.name}` is {'x'.join(map(str, sizes[parameter.name]))}, {like}"
        notes.append(Assumption(parameter.name, text))
    return sizes, notes


def _dimensions(parameter: Parameter) -> int:
    name = parameter.type.name
    return 3 if "3d" in name or "2d_array" in name else 2 if "2d" in name or "1d_array" in name else 1


def _named(image: str, meaning: Meaning, scalars: Mapping[str, Number]) -> int | None:
    """`src_width` for the image `src`."""
    found = (int(v) for n, v in scalars.items() if image in n and n != image and meaning_of(n) is meaning and v >= 1)
    return next(found, None)
