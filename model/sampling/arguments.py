"""What a launch gives a kernel: scalars, vectors and structs by value, buffers, local memory, images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model.contents.buffer import BufferContents, buffer_contents
from model.contents.leaves import UnknownContents
from model.launch.launch import Fill, Launch, Number
from model.opencl.builtin_types import SCALARS
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.types import PointerType, ScalarKind, ScalarType, StructType, Type, VectorType, lane_names
from model.sampling.images import add_image, image_of
from model.sampling.memory import Memory, Paged, Segment, Whole
from model.sampling.values import Array, NotInterpreted, Value, dtype_of

_WHOLE_BYTES = 1 << 15
_PAGE_BYTES = 128
_RUN_BYTES = 2048  # from which on writing structs whole is faster than looking for the member of each byte
_UNITS = {1: SCALARS["uchar"], 2: SCALARS["ushort"], 4: SCALARS["uint"], 8: SCALARS["ulong"]}


def fills_of(name: str, launch: Launch) -> dict[str, Fill]:
    """Return the fills of one buffer: "" for the whole, and by member."""
    found: dict[str, Fill] = {}
    for target, fill in launch.fills:
        if target == name:
            found[""] = fill
        elif target.startswith((f"{name}.", f"{name}[")):
            found[target[len(name) :].removeprefix(".")] = fill
    return found


def segment_of_buffer(parameter: Parameter, launch: Launch) -> Segment:
    """Return the memory behind a pointer. Raises NotInterpreted for contents that nobody knows."""
    kind = parameter.type
    if not isinstance(kind, PointerType):
        raise NotInterpreted(f"`{parameter.name}` is not a buffer")
    lengths = dict(launch.buffers)
    element: Type = SCALARS["uchar"] if kind.pointee.name == "void" else kind.pointee
    length = lengths.get(parameter.name)
    if length is None:
        raise NotInterpreted(f"the length of `{parameter.name}` is not known")
    shortest = min(lengths.values(), default=1)
    try:
        contents = buffer_contents(parameter.name, element, length, fills_of(parameter.name, launch), shortest)
    except UnknownContents as error:
        raise NotInterpreted(str(error)) from None
    size = contents.size_bytes
    if size <= _WHOLE_BYTES:
        data = np.zeros(size, np.uint8)
        contents.write(data)
        return Whole(parameter.name, size, data)
    unit = _unit(element)
    page = _PAGE_BYTES if element.size_bytes & (element.size_bytes - 1) == 0 else element.size_bytes
    while page < _PAGE_BYTES:
        page += element.size_bytes
    scalar = _UNITS[unit]

    def make(first_bytes: Array, page_bytes: int) -> Array:
        if unit == 1 and element.size_bytes > 1:
            runs = np.split(first_bytes, np.flatnonzero(np.diff(first_bytes) != page_bytes) + 1)
            if page_bytes * len(first_bytes) >= _RUN_BYTES * len(runs):
                return _written(contents, runs, page_bytes)
        offsets = first_bytes[:, None] + np.arange(0, page_bytes, unit)[None, :]
        inside = np.minimum(offsets, size - unit)
        return contents.take(inside, scalar).view(np.uint8)

    return Paged(parameter.name, size, make, page)


def _written(contents: BufferContents, runs: Sequence[Array], page_bytes: int) -> Array:
    """Return the bytes of pages, given as runs of the first bytes of pages that follow each other."""
    pages = []
    for run in runs:
        first = int(run[0])
        data = np.zeros(len(run) * page_bytes, np.uint8)
        contents.write(data[: max(0, contents.size_bytes - first)], first)
        pages.append(data)
    return np.concatenate(pages)


def _unit(kind: Type) -> int:
    """Return the size of the scalars that a buffer is made of, where they are alike; else 1."""
    sizes = set(_scalar_sizes(kind))
    return sizes.pop() if len(sizes) == 1 else 1


def _scalar_sizes(kind: Type) -> list[int]:
    match kind:
        case ScalarType():
            return [kind.size_bytes]
        case VectorType():
            return [kind.element.size_bytes]
        case StructType():
            return [size for _, member in kind.members for size in _scalar_sizes(member)]
        case PointerType():
            return [8]
        case _ if hasattr(kind, "element"):
            return _scalar_sizes(kind.element)
        case _:
            return [1]


def value_by_name(name: str, kind: Type, scalars: Mapping[str, Number]) -> Value:
    """Return a scalar, vector or struct by value. Raises NotInterpreted where the launch does not say it."""
    match kind:
        case ScalarType():
            if name not in scalars:
                raise NotInterpreted(f"the value of `{name}` is not known")
            return number(scalars[name], kind)
        case VectorType():
            parts = []
            for lane in range(kind.width):
                known = next((n for n in (*lane_names(name, lane), name) if n in scalars), None)
                if known is None:
                    raise NotInterpreted(f"the value of `{name}` is not known")
                parts.append(number(scalars[known], kind.element))
            return np.array(parts, dtype_of(kind.element))[:, None]
        case StructType():
            data = np.zeros(max(1, kind.size_bytes), np.uint8)
            _write_members(name, kind, scalars, data, 0)
            return data[:, None]
    raise NotInterpreted(f"an argument of type `{kind.name}` is not interpreted")


def _write_members(name: str, kind: StructType, scalars: Mapping[str, Number], data: Array, at: int) -> None:
    """Members that the launch does not give are 0."""
    for (member, of), offset in zip(kind.members, kind.offsets(), strict=True):
        path, first = f"{name}.{member}", at + offset
        if isinstance(of, StructType):
            _write_members(path, of, scalars, data, first)
        elif isinstance(of, ScalarType | VectorType):
            try:
                value = value_by_name(path, of, scalars)
            except NotInterpreted:
                continue
            held = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
            data[first : first + len(held)] = held


def number(given: Number, kind: ScalarType) -> Value:
    """Return a launch's number as the type holds it."""
    dtype = dtype_of(kind)
    if kind.kind is ScalarKind.FLOAT or kind.kind is ScalarKind.BOOL:
        return dtype.type(given)
    bits = kind.size_bytes * 8
    value = int(given) & ((1 << bits) - 1)
    return dtype.type(value - (1 << bits) if kind.kind is ScalarKind.SIGNED and value >> (bits - 1) else value)


def arguments(kernel: Kernel, launch: Launch, memory: Memory, group_slots: Array) -> list[Any]:
    """Return the values of all parameters, in their order. `group_slots`: of each lane, the number of its group."""
    scalars = dict(launch.scalars)
    local_bytes = dict(launch.local_bytes)
    values: list[Any] = []
    for parameter in kernel.parameters:
        match parameter.kind:
            case ParameterKind.BUFFER:
                values.append(np.int64(memory.add(segment_of_buffer(parameter, launch))))
            case ParameterKind.LOCAL:
                size = local_bytes.get(parameter.name)
                if size is None:
                    raise NotInterpreted(f"the size of `{parameter.name}` in local memory is not known")
                each = -(-max(1, size) // 16) * 16
                count = int(group_slots.max()) + 1 if len(group_slots) else 1
                if each * count > 64 << 20:
                    raise NotInterpreted("its local memory is too large to be interpreted")
                base = memory.add(Whole(parameter.name, each * count))
                values.append(base + group_slots * np.int64(each))
            case ParameterKind.SCALAR | ParameterKind.STRUCT:
                values.append(value_by_name(parameter.name, parameter.type, scalars))
            case ParameterKind.SAMPLER:
                values.append(np.int64(scalars.get(parameter.name, 0)))
            case ParameterKind.IMAGE:
                values.append(np.int64(add_image(memory, image_of(parameter, launch))))
            case _:
                raise NotInterpreted(f"`{parameter.name}`, a `{parameter.type.name}`, is not interpreted")
    return values
