"""The width, height and depth of what a launch goes through, where nobody gave them; and of its images."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import isfinite, prod

from model.launch.access_bounds import AccessBounds
from model.launch.arg_name_hints import Meaning, meaning_of
from model.launch.launch import Assumption, Launch, Number
from model.launch.resolve import Size3
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.work.work import Work

_ROW, _SIDE, _SLICES = 1024, 128, 16  # of a picture, of a volume, of a volume that a flat launch goes through
_LARGEST_SIDES = {1: 4096, 2: 8192, 3: 2048}  # of images: what every device supports (OpenCL 3.0, table 4.3)
_BEYOND = 1.25  # times a side: reads at a border end there, others mean a larger image
_SHORTER = 2  # times shorter than guessed is another size, less is a launch that was rounded up
_SHARES_END = 2  # coordinates from 0 to 1 may be shares of an image
_MOST_GROWTH = 256  # times the texels: more is a bound that is never met
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


def with_reached_texels(work: Work, launch: Launch, given: Collection[str]) -> Launch:
    """Return the launch with each image whose size is a guess, not in `given`, as large as its coordinates reach.

    What is written decides. Reads may go a little beyond, where a sampler answers; and coordinates between texels may
    be shares of the image, which tell nothing.
    """
    if all(name in given for name, _ in launch.images):
        return launch
    texels = AccessBounds(work, launch).texels
    images, notes = dict(launch.images), list(launch.assumptions)
    for name, sides in launch.images:
        parameter = work.kernel.parameter(name)
        if name in given or parameter is None or name not in texels:
            continue
        dimensions, accesses = _dimensions(parameter), [a for a in work.accesses() if a.buffer == name]
        ends = [span.high for span in texels[name][:dimensions]]
        if len(ends) < dimensions or max(ends) <= _SHARES_END or any(a.is_between_texels for a in accesses):
            continue
        least_growth = 1.0 if any(a.is_store for a in accesses) else _BEYOND
        found = [_side(side, end, least_growth) for side, end in zip(sides, ends, strict=False)]
        size = (*found, *sides[dimensions:])
        if size == sides or max(found) > _LARGEST_SIDES[dimensions] or prod(size) > _MOST_GROWTH * prod(sides):
            continue
        images[name] = (size[0], size[1], size[2])
        text = f"the image `{name}` is {'x'.join(map(str, size))}, as far as its coordinates reach"
        notes = [Assumption(name, text) if note.subject == name else note for note in notes]
    return replace(launch, images=tuple(images.items()), assumptions=tuple(notes))


def _side(side: int, end: float, least_growth: float) -> int:
    """Return how long a side is of which a kernel reaches `end`; as it was where that is near, or not known."""
    is_near = side / _SHORTER < end <= side * least_growth
    return side if is_near or not isfinite(end) or end < 1 else int(end)


def _dimensions(parameter: Parameter) -> int:
    name = parameter.type.name
    return 3 if "3d" in name or "2d_array" in name else 2 if "2d" in name or "1d_array" in name else 1


def _named(image: str, meaning: Meaning, scalars: Mapping[str, Number]) -> int | None:
    """`src_width` for the image `src`."""
    found = (int(v) for n, v in scalars.items() if image in n and n != image and meaning_of(n) is meaning and v >= 1)
    return next(found, None)
