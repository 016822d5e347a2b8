"""Name the arguments of a recorded launch by the parameters of its kernel."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from model.errors import LaunchError
from model.launch.annotation.names import image_sizes
from model.launch.build_options import parse_build_options
from model.launch.expression import ExpressionError, constant
from model.launch.launch import Number
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from profiler.packing import Unreadable, unpack_by_value
from profiler.recording.raw_log import (
    BufferRaw,
    ImageRaw,
    LocalRaw,
    OtherRaw,
    RawArgument,
    RawLaunch,
    RawProgram,
    SvmRaw,
    UnseenRaw,
    ValueRaw,
)
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.sources import Sources, source_key


@dataclass(slots=True)
class _Named:
    """The arguments of one launch by name, and notes on those that cannot be given."""

    args: dict[str, Number] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)
    images: dict[str, tuple[int, ...]] = field(default_factory=dict)
    local_bytes: dict[str, int] = field(default_factory=dict)
    fills: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class ReadSource:
    """A recorded program after parsing, and the key of its text in `Sources`."""

    key: str
    text: bytes
    program: Program
    options: str  # with absolute include folders


class Namer:
    """Parses each source of a recorded program once, and names the arguments of its launches.

    `cwd`: the program's, which its include folders are relative to.
    """

    def __init__(self, sources: Sources, cwd: str) -> None:
        self._sources, self._cwd = sources, cwd
        self._read: dict[RawProgram, ReadSource | None] = {}

    def entry(self, launch: RawLaunch) -> RecordedEntry:
        source = self.source(launch.program, launch.kernel)
        kernel = source.program.by_name.get(launch.kernel) if source is not None else None
        named, positional = _Named(), tuple(map(shown_argument, launch.arguments))
        if kernel is None:
            named.notes.append(_why_unnamed(launch, source))
        elif len(kernel.parameters) != len(launch.arguments):
            named.notes.append(
                f"`{kernel.name}` was read with {len(kernel.parameters)} parameters, and the program set "
                f"{len(launch.arguments)} arguments: they are given by position"
            )
        else:
            positional = ()
            _name_all(kernel, launch, named)
        if launch.values_vary:
            named.notes.append("launches with other values of its scalar arguments are counted as this one")
        if any(launch.offset):
            named.notes.append("the program gave a global offset, which is not part of what is predicted")
        mean_us = launch.times.mean_us
        return RecordedEntry(
            kernel=launch.kernel,
            global_size=launch.global_size,
            local_size=launch.local_size,
            offset=launch.offset if any(launch.offset) else (),
            args=tuple(named.args.items()),
            buffers=tuple(named.buffers.items()),
            images=tuple(named.images.items()),
            local_bytes=tuple(named.local_bytes.items()),
            fills=tuple(named.fills.items()),
            positional=positional,
            options=source.options if source is not None else launch.program.options,
            count=launch.count,
            event_us=launch.times.median_us,
            total_us=None if mean_us is None else mean_us * launch.count,
            fingerprint=kernel.fingerprint if kernel is not None else "",
            source=source.key if source is not None else "",
            device_name=launch.device.name,
            platform=launch.device.platform,
            driver=launch.device.driver_version,
            notes=tuple(named.notes),
        )

    def source(self, program: RawProgram, kernel: str) -> ReadSource | None:
        """Return the source that defines the kernel: the program's own, or that of a program it was linked from."""
        for part in program.linked:
            found = self.source(part, kernel)
            if found is not None and kernel in found.program.by_name:
                return found
        if program not in self._read:
            self._read[program] = self._source(program)
        return self._read[program]

    def _source(self, program: RawProgram) -> ReadSource | None:
        if program.text is None:
            return None
        key = source_key(program.text, program.headers)
        path = self._sources.keep(key, program.text, program.headers)
        options = absolute_options(program.options, self._cwd, path.parent if program.headers else None)
        read = read_program(program.text.decode("utf-8", "replace"), path, options)
        return ReadSource(key, program.text, read, shlex.join(options.arguments()))


def absolute_options(text: str, cwd: str, headers: Path | None = None) -> BuildOptions:
    """Return build options with absolute include folders, `headers` first."""
    try:
        options = parse_build_options(text)
    except LaunchError:  # a driver may understand more than we do
        return BuildOptions()
    folders = [os.path.join(cwd, folder) for folder in options.include_dirs]
    return BuildOptions(options.defines, (*([str(headers)] if headers else []), *folders), options.flags)


def shown_argument(argument: RawArgument) -> str:
    """Return a description of an argument whose name is unknown."""
    match argument:
        case BufferRaw(size_bytes=size):
            return f"buffer of {size} bytes"
        case ImageRaw(size=size, channels=channels, type=kind):
            return f"image {'x'.join(map(str, size))} {channels} {kind}"
        case LocalRaw(size_bytes=size):
            return f"{size} bytes of local memory"
        case ValueRaw(data=data):
            return f"value 0x{data[::-1].hex()}"
        case SvmRaw(size_bytes=known):
            return "shared virtual memory" + ("" if known is None else f" of {known} bytes")
        case UnseenRaw(size_bytes=size):
            return f"{size} bytes that are not in the log"
        case OtherRaw(kind=kind):
            return kind


def _why_unnamed(launch: RawLaunch, source: ReadSource | None) -> str:
    if source is not None:
        return f"`{launch.kernel}` was not found in the source of its program: arguments are given by position"
    kind = launch.program.kind
    what = {"binary": "a binary", "il": "an intermediate language", "built-in": "the driver's own kernels"}
    return (
        f"the program of `{launch.kernel}` was made of {what.get(kind, 'a source that was not kept')}: "
        "arguments are given by position"
    )


def _name_all(kernel: Kernel, launch: RawLaunch, named: _Named) -> None:
    for index, (parameter, argument) in enumerate(zip(kernel.parameters, launch.arguments, strict=True)):
        named.notes += _name_one(parameter, argument, named)
        for at, part, word in launch.fills:
            if at == index and parameter.name in named.buffers:
                named.fills[f"{parameter.name}.{part}" if part else parameter.name] = word


def _name_one(parameter: Parameter, argument: RawArgument, named: _Named) -> Iterator[str]:
    """Add one argument to `named`; yield notes on what could not be added."""
    name = parameter.name
    match parameter.kind, argument:
        case ((ParameterKind.BUFFER | ParameterKind.IMAGE), _) if _is_null(argument):
            yield f"`{name}` is null in the program"
        case ParameterKind.BUFFER, BufferRaw(size_bytes=size) | SvmRaw(size_bytes=int(size)):
            named.buffers[name] = max(1, size // parameter.pointee_bytes)
        case ParameterKind.LOCAL, LocalRaw(size_bytes=size) | UnseenRaw(size_bytes=size):
            named.local_bytes[name] = size
        case ParameterKind.IMAGE, ImageRaw(size=size):
            named.images[name] = size[: image_sizes(parameter)]
        case ((ParameterKind.SCALAR | ParameterKind.STRUCT), ValueRaw(data=data)):
            yield from _name_value(parameter, data, named)
        case ParameterKind.SAMPLER, _:
            return
        case ((ParameterKind.SCALAR | ParameterKind.STRUCT), UnseenRaw(size_bytes=size)):
            yield f"the log does not have the {size} bytes of `{name}`"
        case _, OtherRaw(kind="unset"):
            yield f"`{name}` was set in a way that could not be seen"
        case _, SvmRaw():
            yield f"`{name}` is shared virtual memory of unknown size"
        case _:
            yield f"`{name}` is a `{parameter.type.name}`, and the program passed: {shown_argument(argument)}"


def _name_value(parameter: Parameter, data: bytes, named: _Named) -> Iterator[str]:
    try:
        values = unpack_by_value(parameter.name, parameter.type, data)
        for _, value in values:
            constant(value)
    except (Unreadable, ExpressionError) as error:
        yield f"{error}; it is left out"
    else:
        named.args.update(values)


def _is_null(argument: RawArgument) -> bool:
    """Return whether the argument of a buffer or image is null, in any of the forms that logs have.

    Drivers that do not describe parameters leave open what `clSetKernelArg(..., 8, NULL)` sets: a null pointer or local
    memory.
    """
    match argument:
        case ValueRaw(data=data):
            return not any(data)
        case OtherRaw(kind=kind):
            return kind == "null"
    return isinstance(argument, LocalRaw | UnseenRaw)
