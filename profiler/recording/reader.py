"""Read the logs of a recorded program, as far as they were written before a crash.

A line that is incomplete or unreadable is left out, with what depends on it.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from profiler.recording.commands import read_commands
from profiler.recording.raw_log import (
    BufferRaw,
    EventTimes,
    ImageRaw,
    LocalRaw,
    OtherRaw,
    RawArgument,
    RawDevice,
    RawLaunch,
    RawProcess,
    RawProgram,
    SvmRaw,
    ValueRaw,
)

VERSION = 1
MAX_SOURCE_BYTES = 64 << 20
_SLOT = struct.Struct("<QQd29d")
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)
_UNKNOWN_DEVICE = RawDevice("", "", "")
_UNKNOWN_PROGRAM = RawProgram("binary", None, "")


@dataclass(slots=True)
class _Process:
    """What was read of one process so far, by the numbers in its lines."""

    folder: Path
    head: Mapping[str, Any] | None = None
    devices: dict[int, RawDevice] = field(default_factory=dict)
    programs: dict[int, RawProgram] = field(default_factory=dict)
    launches: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    queues: dict[int, tuple[RawDevice, bool]] = field(default_factory=dict)
    varying: set[int] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def take(self, entry: Mapping[str, Any]) -> None:
        match entry["record"]:
            case "process":
                self._begin(entry)
            case "device":
                names = ("name", "driver_version", "platform")
                self.devices[int(entry["id"])] = RawDevice(*(str(entry.get(name, "")).strip() for name in names))
            case "queue":
                device = self.devices.get(int(entry["device"]), _UNKNOWN_DEVICE)
                self.queues[int(entry["id"])] = device, bool(entry.get("out_of_order"))
            case "program":
                self.programs[int(entry["id"])] = self._program(entry)
            case "launch":
                self.launches[int(entry["id"])] = entry
            case "varies":
                self.varying.add(int(entry["launch"]))
            case "problem":
                self.problems.append(str(entry["message"]))

    def _begin(self, entry: Mapping[str, Any]) -> None:
        if int(entry["version"]) > VERSION:
            self.problems.append("a newer version of Kernelcast wrote this log; update this one")
        self.head = entry

    def _program(self, entry: Mapping[str, Any]) -> RawProgram:
        headers = tuple((str(each["name"]), self._text(each["source"]) or b"") for each in entry.get("headers") or ())
        linked = tuple(self.programs[number] for number in entry.get("linked") or () if number in self.programs)
        text, options = self._text(entry.get("source")), str(entry.get("options") or "")
        return RawProgram(str(entry["kind"]), text, options, headers, linked)

    def _text(self, name: str | None) -> bytes | None:
        """Return the content of a file beside the log; None for a path to anywhere else."""
        if not name or Path(name).name != name:
            return None
        try:
            with (self.folder / name).open("rb") as file:
                text = file.read(MAX_SOURCE_BYTES + 1)
        except OSError:
            return None
        return text if len(text) <= MAX_SOURCE_BYTES else None


class LogTail:
    """Reads a process's log while it is being written: each request reads the lines that were added."""

    def __init__(self, path: Path) -> None:
        self._path, self._process, self._read_bytes = path, _Process(path.parent), 0

    def program_of(self, launch: int) -> tuple[RawProgram, str] | None:
        """Return program and kernel of a launch; None if the log does not have it yet."""
        self._refresh()
        entry = self._process.launches.get(launch)
        program = self._process.programs.get(entry["program"]) if entry is not None else None
        return None if entry is None or program is None else (program, str(entry["kernel"]))

    @property
    def cwd(self) -> str:
        return str((self._process.head or {}).get("cwd") or "")

    def _refresh(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                added = file.read()
        except OSError:
            return
        self._read_bytes += added.rfind(b"\n") + 1
        for entry in _objects(added):
            with suppress(*_UNREADABLE):  # reported when the whole log is read
                self._process.take(entry)


def read_folder(folder: Path) -> tuple[RawProcess, ...]:
    """Return what each process wrote, sorted by when they began."""
    found = [process for path in folder.glob("*.jsonl") if (process := read_process(path)) is not None]
    return tuple(sorted(found, key=lambda process: process.started_at))


def read_process(path: Path) -> RawProcess | None:
    """Return what one process wrote; None if its log lacks the line about the process."""
    process = _Process(path.parent)
    for entry in _lines(path):
        try:
            process.take(entry)
        except _UNREADABLE as error:
            process.problems.append(f"a line of {path.name} is unreadable and left out ({error!r})")
    head = process.head
    if head is None:
        return None
    slots = list(_slots(path.with_suffix(".counts")))
    launches = tuple(_launches(process, slots, path.name))
    return RawProcess(
        str(head.get("cwd") or ""),
        _moment(head.get("started_at")),
        launches,
        tuple(dict.fromkeys(process.problems)),
        path.stem,
        read_commands(path.with_suffix(".commands"), process.queues),
    )


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the whole lines of a log that are JSON objects."""
    try:
        content = path.read_bytes()
    except OSError:
        return
    yield from _objects(content)


def _objects(content: bytes) -> Iterator[Mapping[str, Any]]:
    lines = content.split(b"\n")
    for line in lines[:-1]:  # the last line has no end: it was being written
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _moment(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _slots(path: Path) -> Iterator[tuple[int, EventTimes]]:
    try:
        content = path.read_bytes()
    except OSError:
        return
    for at in range(0, len(content) - _SLOT.size + 1, _SLOT.size):
        count, timed, sum_us, *samples = _SLOT.unpack_from(content, at)
        kept = tuple(each for each in samples[: min(timed, len(samples))] if math.isfinite(each) and each >= 0)
        is_sound = math.isfinite(sum_us) and bool(kept)
        yield count, EventTimes(timed, sum_us, kept) if is_sound else EventTimes()


def _launches(process: _Process, slots: list[tuple[int, EventTimes]], name: str) -> Iterator[RawLaunch]:
    for number, entry in sorted(process.launches.items()):
        count, times = slots[number] if number < len(slots) else (0, EventTimes())
        if not count:  # it was refused, or the program ended in it
            continue
        try:
            yield _launch(process, number, entry, count, times)
        except _UNREADABLE as error:
            process.problems.append(f"launch {number} of {name} is unreadable and left out ({error!r})")


def _launch(process: _Process, number: int, entry: Mapping[str, Any], count: int, times: EventTimes) -> RawLaunch:
    local = entry.get("local")
    return RawLaunch(
        process.programs.get(entry["program"], _UNKNOWN_PROGRAM),
        str(entry["kernel"]),
        process.devices.get(entry["device"], _UNKNOWN_DEVICE),
        _sizes(entry["global"]),
        None if local is None else _sizes(local),
        _sizes(entry.get("offset") or [0] * len(entry["global"])),
        tuple(_argument(each) for each in entry["args"]),
        count,
        times,
        values_vary=number in process.varying,
        number=number,
    )


def _sizes(values: list[int]) -> tuple[int, ...]:
    sizes = tuple(int(value) for value in values)
    if not 1 <= len(sizes) <= 3 or min(sizes) < 0:
        raise ValueError(f"{sizes} are not sizes")
    return sizes


def _argument(plain: Mapping[str, Any]) -> RawArgument:
    match plain["kind"]:
        case "buffer":
            return BufferRaw(int(plain["bytes"]))
        case "image":
            size = tuple(max(1, int(each)) for each in plain["size"])
            return ImageRaw(size, str(plain.get("channels", "")), str(plain.get("type", "")))
        case "local":
            return LocalRaw(int(plain["bytes"]))
        case "value":
            return ValueRaw(bytes.fromhex(plain["hex"]))
        case "svm":
            size_bytes = plain.get("bytes")
            return SvmRaw(None if size_bytes is None else int(size_bytes))
        case kind:
            return OtherRaw(str(kind))
