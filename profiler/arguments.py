"""From a launch to what each kernel argument is: sizes, bytes and fills, checked before anything is allocated.

No device is needed for this; `profiler.device_worker.memory.allocation` makes real arguments of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from model.launch.fill_target import fills_of
from model.launch.launch import Fill, Launch
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.types import AddressSpace, ArrayType, ImageType, OpaqueType, PointerType, ScalarKind, ScalarType, Type
from profiler.measurement import NeedsAnnotation, OutOfResources
from profiler.packing import pack_by_value

PAD_BYTES = 4096  # behind each buffer: reading a little past the end, as stencils do, is not worth a crash


@dataclass(frozen=True, slots=True)
class BufferArgument:
    """A global or constant buffer of `length` elements; `fill` None means the default contents.

    `part_fills` are for members and single elements of it, as `start`, `[3]` or `[3].start`.
    """

    name: str
    element: Type
    length: int
    fill: Fill | None
    is_constant: bool = False
    part_fills: tuple[tuple[str, Fill], ...] = ()

    @property
    def fills(self) -> dict[str, Fill]:
        """What is known of the contents by part, the whole of it under ""."""
        return ({} if self.fill is None else {"": self.fill}) | dict(self.part_fills)

    @property
    def size_bytes(self) -> int:
        return self.length * self.element.size_bytes


@dataclass(frozen=True, slots=True)
class LocalArgument:
    """A block of local memory."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ValueArgument:
    """A scalar, vector or struct by value, as the bytes that the kernel sees."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ImageArgument:
    """An image; `channel` is how the kernel reads or writes it: `float`, `int` or `uint`."""

    name: str
    type: ImageType
    size: tuple[int, int, int]
    access: str
    channel: str

    @property
    def size_bytes(self) -> int:
        """With 16 bytes a texel, the most that any format we choose takes."""
        width, height, depth = self.size
        return width * max(1, height) * max(1, depth) * 16


@dataclass(frozen=True, slots=True)
class SamplerArgument:
    """A sampler; clamps to the edge, nearest texel, unnormalised coordinates."""

    name: str


Argument = BufferArgument | LocalArgument | ValueArgument | ImageArgument | SamplerArgument


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """What the device can hold."""

    max_alloc_bytes: int
    global_mem_bytes: int
    local_mem_bytes: int


def plan_arguments(kernel: Kernel, launch: Launch, source: str) -> tuple[Argument, ...]:
    """Return what each parameter of `kernel` gets, in order. Raises NeedsAnnotation for what cannot be supplied."""
    own = "\n".join(source.split("\n")[kernel.range.start_line : kernel.range.end_line + 1])
    # Its own text first: another kernel may read an image of the same name in another way.
    return tuple(_plan(parameter, launch, f"{own}\n{source}") for parameter in kernel.parameters)


def check_memory(arguments: tuple[Argument, ...], limits: MemoryLimits) -> None:
    """Check that the device can hold the arguments.

    Raises OutOfResources, which names the argument and the limit, if it cannot.
    """
    total_bytes = local_bytes = 0
    for argument in arguments:
        if isinstance(argument, LocalArgument):
            local_bytes += argument.size_bytes
        if not isinstance(argument, BufferArgument | ImageArgument):
            continue
        total_bytes += argument.size_bytes
        if argument.size_bytes > limits.max_alloc_bytes:
            _refuse(
                f"`{argument.name}` needs {_size(argument.size_bytes)}, but this device allows "
                f"{_size(limits.max_alloc_bytes)} in one piece; choose a smaller launch"
            )
        if total_bytes > limits.global_mem_bytes:
            _refuse(
                f"the buffers up to `{argument.name}` need {_size(total_bytes)}, but there is room for "
                f"{_size(limits.global_mem_bytes)}; choose a smaller launch"
            )
    if local_bytes > limits.local_mem_bytes:
        names = ", ".join(f"`{a.name}`" for a in arguments if isinstance(a, LocalArgument))
        _refuse(
            f"local memory: {names} need {_size(local_bytes)} a work-group, but this device has "
            f"{_size(limits.local_mem_bytes)}"
        )


def _plan(parameter: Parameter, launch: Launch, source: str) -> Argument:
    match parameter.kind, parameter.type:
        case ParameterKind.BUFFER, PointerType() as pointer:
            return _plan_buffer(parameter, pointer, launch)
        case ParameterKind.LOCAL, _:
            size_bytes = dict(launch.local_bytes).get(parameter.name)
            if size_bytes is None:
                _need(f"how many bytes of local memory `{parameter.name}` points to", f"{parameter.name}=1024")
            return LocalArgument(parameter.name, size_bytes)
        case ((ParameterKind.SCALAR | ParameterKind.STRUCT), _):
            return ValueArgument(parameter.name, pack_by_value(parameter, dict(launch.scalars)))
        case ParameterKind.IMAGE, ImageType() as image:
            return _plan_image(parameter, image, launch, source)
        case ParameterKind.SAMPLER, _:
            return SamplerArgument(parameter.name)
        case _:
            raise NeedsAnnotation(
                f"parameter `{parameter.name}` is a `{parameter.type.name}`, which cannot be supplied; "
                "kernels with pipes, queues or undeclared types can be predicted but not measured"
            )


def _plan_buffer(parameter: Parameter, pointer: PointerType, launch: Launch) -> BufferArgument:
    length = dict(launch.buffers).get(parameter.name)
    if length is None:
        _need(f"how many elements buffer `{parameter.name}` has", f"{parameter.name}=1024")
    element = _storable(pointer.pointee)
    if element is None:
        raise NeedsAnnotation(
            f"buffer `{parameter.name}` holds `{pointer.pointee.name}`, of which the size or contents are unknown; "
            "declare the type in this file or in an include folder that the build options name"
        )
    is_constant = pointer.space is AddressSpace.CONSTANT
    fills = dict(fills_of(launch.fills, parameter.name))
    whole = fills.pop("", None)
    return BufferArgument(parameter.name, element, length, whole, is_constant, tuple(fills.items()))


def _storable(pointee: Type) -> Type | None:
    match pointee:
        case OpaqueType(name="void"):
            return ScalarType("uchar", ScalarKind.UNSIGNED, 1)  # counted in bytes
        case OpaqueType() | PointerType() | ImageType():
            return None
        case ArrayType(length=None):
            return None
        case _:
            return pointee if pointee.size_bytes else None


def _plan_image(parameter: Parameter, image: ImageType, launch: Launch, source: str) -> ImageArgument:
    if "msaa" in image.name or "depth" in image.name:
        raise NeedsAnnotation(f"image `{parameter.name}` is an `{image.name}`, which cannot be measured yet")
    size = dict(launch.images).get(parameter.name)
    if size is None:
        _need(f"how large image `{parameter.name}` is", f"{parameter.name}=(1024, 1024)")
    return ImageArgument(parameter.name, image, size, parameter.access, _channel(parameter.name, source))


def _channel(name: str, source: str) -> str:
    """By the function that the kernel calls on it: read_imagef, write_imagei, read_imageui ..."""
    called = re.search(rf"\b(?:read|write)_image(f|ui|i|h)\s*\(\s*{re.escape(name)}\b", source)
    return {"i": "int", "ui": "uint"}.get(called[1] if called else "f", "float")


def _need(what: str, example: str) -> NoReturn:
    raise NeedsAnnotation(f"say {what}, for example: // kernelcast: {example}")


def _refuse(message: str) -> NoReturn:
    raise OutOfResources(message)


def _size(size_bytes: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= scale:
            return (
                f"{size_bytes / scale:.3g} {unit}" if size_bytes < 1000 * scale else f"{size_bytes / scale:.0f} {unit}"
            )
    return f"{size_bytes} bytes"
