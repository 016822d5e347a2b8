"""Read a log that the OpenCL Intercept Layer wrote with CallLogging, and the sources that it dumped beside the log.

With `LogToFile`, `CallLogging` and `DumpProgramSource` (and `DevicePerformanceTiming` for times) it has all that a
recording needs, except values of other sizes than 4, 8 and 16 bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from model.errors import KernelcastError
from profiler.recording.raw_log import (
    BufferRaw,
    EventTimes,
    ImageRaw,
    OtherRaw,
    RawArgument,
    RawDevice,
    RawLaunch,
    RawProcess,
    RawProgram,
    SvmRaw,
    UnseenRaw,
    ValueRaw,
)

MAX_BYTES = 1 << 30
_CALL = re.compile(r"^(?P<way>>>>>|<<<<) (?:(?:Time: \S+|TID = \S+|TNum = \S+) )*(?P<name>cl\w+)(?P<rest>.*)$")
_SUCCESS = "-> CL_SUCCESS"
_NUMBER = re.compile(r"(\w[\w>-]*) = (\(nil\)|0x[0-9a-fA-F]+|[0-9a-fA-F]{8,16}\b|\d+)")
_VALUES = re.compile(r"value[XYZW]? = (0x[0-9a-fA-F]+|\(nil\)|\w+)")
_SIZES = re.compile(r"(global_work_offset|global_work_size|local_work_size) = < ([^>]*) >")
_IMAGE_TYPE = re.compile(r"desc->type = (\w+)")
_FORMAT = re.compile(r"channel_order = (\w+).*?channel_data_type = (\w+)")
_PROGRAM_NUMBER = re.compile(r"program number = (\d+)")
_KERNEL_NAME = re.compile(r"kernel_name = (\S+)")
_BUILT = re.compile(r"Build Info for program (\S+) \((\w+)\)")
_UNNAMED = RawDevice("", "", "")
_TIMED_ON = re.compile(r"^Device Performance Timing Results for (.+) \(\d+CUs, \d+MHz\):$", re.MULTILINE)
NO_SOURCE = (
    "the log has no sources: set DumpProgramSource=1 (and keep the folder that it names beside the log), "
    "so that arguments have names"
)


class NotALog(KernelcastError):
    """The file is not a log of the Intercept Layer."""

    code = "log"


@dataclass(slots=True)
class _State:
    """What the lines read so far say about objects, by their pointers."""

    folder: Path
    memory: dict[str, RawArgument] = field(default_factory=dict)
    programs: dict[str, RawProgram] = field(default_factory=dict)
    kernels: dict[str, tuple[str, str]] = field(default_factory=dict)  # name and program
    arguments: dict[str, dict[int, RawArgument]] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)  # calls that have not returned
    launches: Counter[RawLaunch] = field(default_factory=Counter)
    device: RawDevice = _UNNAMED
    calls: int = 0

    def enter(self, name: str, rest: str) -> None:
        self.calls += 1
        self.pending[name] = rest

    def leave(self, name: str, rest: str) -> None:
        given = self.pending.pop(name, "")
        if _SUCCESS not in rest:
            return
        numbers = {**_numbers(given), **({"returned": m[1]} if (m := re.search(r"returned (\S+?),? ", rest)) else {})}
        result = numbers.get("returned", "")
        match name:
            case "clCreateBuffer" | "clCreateBufferWithProperties" | "clCreateSubBuffer":
                self.memory[result] = BufferRaw(int(numbers.get("size", "0")))
            case "clCreateImage" | "clCreateImage2D" | "clCreateImage3D":
                self.memory[result] = _image(given, numbers)
            case "clCreateProgramWithSource" | "clCreateProgramWithBinary" | "clCreateProgramWithIL":
                self.programs[result] = self._program(name, rest)
            case "clCreateKernel":
                found = _KERNEL_NAME.search(given)
                self.kernels[result] = (found[1] if found else "", numbers.get("program", ""))
                self.arguments[result] = {}
            case "clSetKernelArg" | "clSetKernelArgSVMPointer" | "clSetKernelArgMemPointerINTEL":
                self._set_argument(name, given, numbers)
            case "clEnqueueNDRangeKernel":
                self._launch(given, numbers)

    def built(self, program: str, number: str) -> None:
        """Read the options that were dumped for the build of this number."""
        path = next(iter(sorted(self.folder.glob(f"CLI_{number}_options.txt"))), None)
        if path is not None and program in self.programs:
            options = path.read_text("utf-8", "replace").strip("\0 \n")
            self.programs[program] = replace(self.programs[program], options=options)

    def _program(self, name: str, rest: str) -> RawProgram:
        number = _PROGRAM_NUMBER.search(rest)
        if name != "clCreateProgramWithSource" or number is None:
            return RawProgram("binary" if "Binary" in name else "il", None, "")
        path = next(iter(sorted(self.folder.glob(f"CLI_{int(number[1]):04d}_*_source.cl"))), None)
        text = path.read_bytes().rstrip(b"\0") if path is not None else None
        return RawProgram("source", text, "")

    def _set_argument(self, name: str, given: str, numbers: dict[str, str]) -> None:
        known = self.arguments.setdefault(numbers.get("kernel", ""), {})
        known[int(numbers.get("index", "0"))] = (
            SvmRaw(None) if name != "clSetKernelArg" else _argument(given, int(numbers.get("size", "0")), self.memory)
        )

    def _launch(self, given: str, numbers: dict[str, str]) -> None:
        pointer = numbers.get("kernel", "")
        name, program = self.kernels.get(pointer, ("", ""))
        shown = re.match(r"\( (.+?) \)", given)
        sizes = {key: _sizes(text) for key, text in _SIZES.findall(given)}
        whole = sizes.get("global_work_size")
        if not whole or not (name or shown):
            return
        known = self.arguments.get(pointer, {})
        launch = RawLaunch(
            self.programs.get(program, RawProgram("unknown", None, "")),
            name or (shown[1] if shown else ""),
            self.device,
            whole,
            sizes.get("local_work_size") or None,
            sizes.get("global_work_offset") or (0,) * len(whole),
            tuple(known.get(index, OtherRaw("unset")) for index in range(max(known, default=-1) + 1)),
            1,
        )
        self.launches[launch] += 1


def read_log(path: Path) -> RawProcess:
    """Return the launches in a log. Raises NotALog for a file without calls."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise NotALog(f"{path} is larger than {MAX_BYTES} bytes")
        text = path.read_text("utf-8", "replace")
        began = path.stat().st_mtime
    except OSError as error:
        raise NotALog(f"{path} cannot be read: {error.strerror}") from None
    state = _State(path.parent)
    device = _TIMED_ON.search(text)
    if device is not None:
        state.device = replace(state.device, name=device[1])
    for line in text.splitlines():
        _take(state, line)
    if not state.calls:
        raise NotALog(
            f"{path} is not a log of the OpenCL Intercept Layer with calls in it: set CallLogging=1 and LogToFile=1"
        )
    times = device_times(text)
    launches = tuple(_timed(launch, count, state, times) for launch, count in state.launches.items())
    problems = () if any(launch.program.text for launch in launches) or not launches else (NO_SOURCE,)
    return RawProcess(str(path.parent.resolve()), began, launches, problems)


def _take(state: _State, line: str) -> None:
    call = _CALL.match(line)
    if call is None:
        built = _BUILT.search(line)
        if built is not None:
            state.built(built[1], built[2])
        return
    rest = call["rest"].lstrip(":").strip()
    if call["way"] == ">>>>":
        state.enter(call["name"], rest)
    else:
        state.leave(call["name"], rest)


def _timed(launch: RawLaunch, count: int, state: _State, times: dict[str, tuple[int, float]]) -> RawLaunch:
    """Return the launch with its count, and with its time if no other launch shares the kernel's line of times."""
    alone = sum(other.kernel == launch.kernel for other in state.launches) == 1
    calls, mean_us = times.get(launch.kernel, (0, 0.0))
    known = EventTimes(calls, calls * mean_us, (mean_us,)) if alone and calls else EventTimes()
    return replace(launch, count=count, times=known)


def _numbers(text: str) -> dict[str, str]:
    return dict(_NUMBER.findall(text))


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in re.split(r"[x,]", text)]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def _argument(given: str, size: int, memory: dict[str, RawArgument]) -> RawArgument:
    values = _VALUES.findall(given)
    if not values:
        return UnseenRaw(size)
    if values[0] in memory:
        return memory[values[0]]
    if values[0].startswith("CL_") or "sampler" in given:
        return OtherRaw("sampler")
    if values[0] == "(nil)":
        return ValueRaw(bytes(size))  # a value or a null pointer: the kernel's source decides
    return ValueRaw(b"".join(_bytes(value, size // len(values)) for value in values))


def _bytes(value: str, size: int) -> bytes:
    return (int(value, 16) if value.startswith("0x") else 0).to_bytes(max(size, 8), "little")[:size]


def _image(given: str, numbers: dict[str, str]) -> ImageRaw:
    size = [int(numbers.get(f"desc->{name}", numbers.get(name, "1"))) for name in ("width", "height", "depth")]
    kind, form = _IMAGE_TYPE.search(given), _FORMAT.search(given)
    if kind is not None and kind[1].endswith("ARRAY"):
        size[1 if "1D" in kind[1] else 2] = int(numbers.get("desc->array_size", "1"))
    order, channel = (form[1], form[2]) if form else ("", "")
    return ImageRaw(tuple(max(1, each) for each in size), _plain(order), _plain(channel))


def _plain(name: str) -> str:
    return name.removeprefix("CL_").lower()


_BEGIN = "Device Performance Timing Results for "
_ROW = re.compile(r"^\s*(?P<name>\w+)[^,]*,\s*(?P<calls>\d+),\s*\d+,\s*[\d.]+%,\s*(?P<mean_ns>\d+),\s*\d+,\s*\d+$")


def device_times(text: str) -> dict[str, tuple[int, float]]:
    """Return calls and mean time [us] of each kernel, by its name without the sizes that may follow it."""
    found: dict[str, tuple[int, float]] = {}
    _, _, table = text.partition(_BEGIN)
    for line in table.splitlines():
        row = _ROW.match(line)
        if row is not None:
            calls, mean_us = int(row["calls"]), int(row["mean_ns"]) * 1e-3
            known_calls, known_us = found.get(row["name"], (0, 0.0))
            total = known_calls + calls
            found[row["name"]] = (total, (known_calls * known_us + calls * mean_us) / total)
    return found
