"""Images: texels of four channels, kept for each type that they are read as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from model.contents.buffer import CHANNELS, image_contents
from model.launch.launch import Launch
from model.opencl.kernel import Parameter
from model.opencl.types import ImageType, ScalarType
from model.sampling.memory import SHIFT, Memory, Paged
from model.sampling.values import Array, NotInterpreted, Value, dtype_of

_PAGE_BYTES = 256
NORMALIZED, LINEAR, CLAMP, REPEAT, MIRRORED, ADDRESSING = 1, 32, 4, 6, 8, 14


@dataclass(slots=True)
class Image:
    """`size`: width, height, depth or layers, as many as it has dimensions."""

    name: str
    size: tuple[int, ...]
    texels: dict[str, int] = field(default_factory=dict)  # by channel type: the address of the first

    def address(self, memory: Memory, channel: ScalarType) -> int:
        known = self.texels.get(channel.name)
        if known is not None:
            return known
        count = int(np.prod(self.size))
        contents = image_contents(self.name, channel, count)
        unit = channel.size_bytes

        def make(first_bytes: Array, page_bytes: int) -> Array:
            offsets = first_bytes[:, None] + np.arange(0, page_bytes, unit)[None, :]
            inside = np.minimum(offsets, contents.size_bytes - unit)
            return contents.take(inside, channel).view(np.uint8)

        base = self.texels[channel.name] = memory.add(Paged(self.name, contents.size_bytes, make, _PAGE_BYTES))
        return base


def image_of(parameter: Parameter, launch: Launch) -> Image:
    """Return what the launch says of an image."""
    kind = parameter.type
    size = dict(launch.images).get(parameter.name)
    if size is None or not isinstance(kind, ImageType):
        raise NotInterpreted(f"the size of image `{parameter.name}` is not known")
    width, height, depth = (max(1, n) for n in size)
    if kind.name.startswith("image1d_array"):
        height = max(height, depth)
    return Image(parameter.name, (width, height, depth)[: coordinates_of(kind)])


def coordinates_of(kind: ImageType) -> int:
    """Return how many coordinates a texel has, layers included."""
    return kind.dimensions + ("array" in kind.name)


def add_image(memory: Memory, image: Image) -> int:
    """Return a handle: an address that nothing lies at."""
    memory.segments.append(None)
    number = len(memory.segments) - 1
    memory.images[number] = image
    return number << SHIFT


def found_image(memory: Memory, handle: Value) -> Image:
    """Return the image that all lanes speak of."""
    first = handle if handle.ndim == 0 else handle.reshape(-1)[0]
    image: Image | None = memory.images.get(int(first) >> SHIFT)
    if image is None:
        raise NotInterpreted("an image is not an argument of the kernel")
    return image


def texel_offsets(image: Image, coordinates: Array, sampler: int, channel: ScalarType) -> tuple[Value, Any]:
    """Bytes of the texels at these coordinates (a row for each dimension), and which of them lie inside."""
    sizes = np.array(image.size, np.int64)[:, None]
    at: Any = coordinates
    if at.dtype.kind == "f":
        if sampler & NORMALIZED:
            whole = at.astype(np.float64)
            if sampler & ADDRESSING in (REPEAT, MIRRORED):
                whole = whole - np.floor(whole)
            at = whole * sizes
        at = np.floor(np.nan_to_num(at, nan=0.0, posinf=1e9, neginf=-1e9))
        at = np.clip(at, -1e9, 1e9)
    at = at.astype(np.int64)
    inside = ((at >= 0) & (at < sizes)).all(axis=0)
    at = np.clip(at, 0, sizes - 1)
    index = at[0]
    scale = 1
    for dimension in range(1, len(at)):
        scale *= int(sizes[dimension - 1, 0])
        index = index + at[dimension] * scale
    offsets = index * (CHANNELS * dtype_of(channel).itemsize)
    if (sampler & ADDRESSING) != CLAMP:
        inside = np.ones_like(inside)
    return offsets, inside
