"""Reading and writing images, and asking for their sizes (section 6.15.15). Texels are not interpolated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import FLOAT, HALF, INT, UINT, ULONG, VOID
from model.opencl.types import ImageType, OpaqueType, ScalarType, VectorType
from model.sampling.code import Code
from model.sampling.compiler import Compiler
from model.sampling.images import coordinates_of, found_image, texel_offsets
from model.sampling.places import assigned_as
from model.sampling.tables import Function, table
from model.sampling.taint import read_through
from model.sampling.values import Array, Value, dtype_of

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_CHANNELS = {"f": FLOAT, "i": INT, "ui": UINT, "h": HALF}
_BYTES = 16


def _image(c: Compiler, name: str, values: list[Code], node: Node) -> tuple[Code, ImageType]:
    image = values[0] if values else None
    if image is None or not isinstance(image.type, ImageType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    return image, image.type


def _at(coordinate: Value, count: int, width: int) -> Array:
    """Coordinates as rows, for all lanes."""
    rows = coordinate.reshape(1, -1) if coordinate.ndim < 2 else coordinate[:count]
    return np.broadcast_to(rows, (count, width))


def _read(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    image, kind = _image(c, name, values, node)
    rest = values[1:]
    sampler = rest.pop(0) if rest and isinstance(rest[0].type, OpaqueType) else None
    if (
        sampler is None
        and len(rest) >= 2
        and isinstance(rest[0].type, ScalarType)
        and isinstance(rest[1].type, VectorType)
    ):
        sampler = rest.pop(0)
    if not rest or not isinstance(rest[0].type, ScalarType | VectorType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    count = coordinates_of(kind)
    _check(c, name, rest[0], count, node)
    channel = _CHANNELS[name.removeprefix("read_image")]
    held = FLOAT if channel is HALF else channel
    is_depth = "depth" in kind.name
    access = c.access(node)
    handle, coordinate = image.run, rest[0].run
    flags = sampler.run if sampler is not None else None
    rows = np.arange(4, dtype=np.int64)[:, None] * held.size_bytes
    dtype, given = dtype_of(held), dtype_of(channel)
    c.cost += 60

    def run(f: Lanes) -> Value:
        found = found_image(f.memory, handle(f))
        how = int(np.max(flags(f))) if flags is not None else 0
        offsets, inside = texel_offsets(found, _at(coordinate(f), count, f.width), how, held)
        at = offsets + np.int64(found.address(f.memory, held))
        if access is not None:
            f.context.accesses[access].note(f, at, _BYTES)
        texels = f.memory.load(f, at, dtype, rows)
        if not inside.all():
            texels = np.where(inside, texels, dtype.type(0))
        texels = texels.astype(given)
        return (texels[0] if f.width > 1 else texels[0, 0]) if is_depth else texels

    c.address_taints |= rest[0].taint
    taint = read_through(image.taint) | rest[0].taint
    return Code(run, channel if is_depth else VectorType(channel, 4), is_pure=False, taint=taint)


def _check(c: Compiler, name: str, coordinate: Code, count: int, node: Node) -> None:
    width = coordinate.type.width if isinstance(coordinate.type, VectorType) else 1
    if width < count:
        raise c.refuse(f"`{name}` is given {width} coordinates, not {count}", node)


def _write(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    image, kind = _image(c, name, values, node)
    if len(values) < 3:
        raise c.refuse(f"`{name}` does not take these arguments", node)
    count = coordinates_of(kind)
    _check(c, name, values[1], count, node)
    channel = _CHANNELS[name.removeprefix("write_image")]
    held = FLOAT if channel is HALF else channel
    colour = assigned_as(values[-1], VectorType(held, 4))
    access = c.access(node)
    handle, coordinate, what = image.run, values[1].run, colour.run
    rows = np.arange(4, dtype=np.int64)[:, None] * held.size_bytes
    dtype = dtype_of(held)
    for token in read_through(image.taint):
        c.flows.assigned(token, colour.taint)
    c.cost += 60

    def run(f: Lanes) -> Value:
        found = found_image(f.memory, handle(f))
        value = what(f)
        offsets, _ = texel_offsets(found, _at(coordinate(f), count, f.width), 0, held)
        at = offsets + np.int64(found.address(f.memory, held))
        if access is not None:
            f.context.accesses[access].note(f, at, _BYTES)
        f.memory.store(f, at, value, dtype, rows)
        return np.int32(0)

    return Code(run, VOID, is_pure=False)


_SIZES = {"get_image_width": 0, "get_image_height": 1, "get_image_depth": 2, "get_image_array_size": -1}


def _query(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    image, _ = _image(c, name, values, node)
    number, handle = _SIZES[name], image.run

    def run(f: Lanes) -> Value:
        size = found_image(f.memory, handle(f)).size
        return np.int32(size[number] if number < len(size) else 1)

    if name == "get_image_array_size":
        return Code(lambda f: np.uint64(run(f)), ULONG)
    return Code(run, INT)


def _dimensions(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """`int2` of 2D images, `int4` of 3D ones."""
    image, kind = _image(c, name, values, node)
    count, handle = (2 if kind.dimensions == 2 else 4), image.run

    def run(f: Lanes) -> Value:
        size = found_image(f.memory, handle(f)).size
        out = np.zeros((count, 1), np.int32)
        for number, extent in enumerate(size[: kind.dimensions]):
            out[number, 0] = extent
        return out

    return Code(run, VectorType(INT, count))


def _fixed(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """Channel order and type: RGBA of floats."""
    _image(c, name, values, node)
    held = np.int32({"get_image_channel_order": 0x10B5, "get_image_channel_data_type": 0x10DE}.get(name, 1))
    return Code(lambda _: held, INT)


IMAGE_FUNCTIONS: dict[str, Function] = {
    **table(_read, *(f"read_image{suffix}" for suffix in _CHANNELS)),
    **table(_write, *(f"write_image{suffix}" for suffix in _CHANNELS)),
    **table(_query, *_SIZES),
    "get_image_dim": _dimensions,
    **table(
        _fixed,
        "get_image_channel_order",
        "get_image_channel_data_type",
        "get_image_num_mip_levels",
        "get_image_num_samples",
    ),
}
