"""Read the sequences of commands that the layer wrote, one file a process, and put them together as one program's.

A file is a header and records of equal size, as `layer/layer.h` declares them. A record without a kind was being
written when the program ended, and is left out, as are calls that the driver refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from model.program.command import Command, CommandKind, CommandSequence, Queue
from profiler.recording.raw_log import RawCommand, RawCommands, RawDevice

MAGIC = b"KCCMDS1\0"
_HEADER = struct.Struct("<8sQQ72x")
_RECORD = struct.Struct("<4I Q 2Q 3Q 2I 6I")
_NONE = 0xFFFFFFFF
_BLOCKING, _FIRST, _PINNED = 1, 2, 4
_KINDS = {int(kind): kind for kind in CommandKind}
MOST_COMMANDS = 1 << 16  # of all processes together


def read_commands(path: Path, queues: Mapping[int, tuple[RawDevice, bool]]) -> RawCommands:
    """Return what a file holds; nothing if it is missing or of another version."""
    try:
        content = path.read_bytes()
    except OSError:
        return RawCommands()
    if len(content) < _HEADER.size:
        return RawCommands()
    magic, seen, end_ns = _HEADER.unpack_from(content)
    if magic != MAGIC:
        return RawCommands()
    listed = tuple((number, *queue) for number, queue in sorted(queues.items()))
    return RawCommands(path.stem, tuple(_records(content, seen)), listed, seen, end_ns)


def _records(content: bytes, seen: int) -> Iterator[RawCommand]:
    places = range(_RECORD.size, len(content) - _RECORD.size + 1, _RECORD.size)
    for number, at in enumerate(places[:seen]):
        code, launch, queue, flags, size, begin, end, queued, start, finish, thread, _, *waits = _RECORD.unpack_from(
            content, at
        )
        kind = _KINDS.get(code)
        if kind is not None and end >= begin:
            yield RawCommand(
                number, kind, None if launch == _NONE else launch, None if queue == _NONE else queue, flags, size,
                begin, end, queued, start, finish, thread, tuple(each - 1 for each in waits if 0 < each <= number),
            )  # fmt: skip


def program_of(
    processes: Sequence[RawCommands], launches: Mapping[tuple[str, int], int], device_ids: Mapping[RawDevice, str]
) -> CommandSequence:
    """Return the commands of all processes as one sequence.

    `launches` are the places of a recording's launches by log and number; `device_ids` the names of queues' devices.
    """
    base_ns = min((record.begin_ns for each in processes for record in each.records), default=0)
    found: list[tuple[int, Command, tuple[str, int], tuple[tuple[str, int], ...]]] = []
    queues: list[Queue] = []
    threads = 0
    for process in processes:
        numbered = {number: len(queues) + place for place, (number, _, _) in enumerate(process.queues)}
        queues += [Queue(device_ids.get(device) or device.name, unordered) for _, device, unordered in process.queues]
        ahead_ns = _clock_ahead_ns(process.records)
        for record in process.records:
            command = _command(record, base_ns, ahead_ns, threads)
            command = replace(
                command,
                queue=None if record.queue is None else numbered.get(record.queue),
                launch=None if record.launch is None else launches.get((process.log, record.launch)),
            )
            waits = tuple((process.log, each) for each in record.waits)
            found.append((record.begin_ns, command, (process.log, record.number), waits))
        threads += 1 + max((record.thread for record in process.records), default=-1)
    found.sort(key=lambda each: each[0])
    kept = found[:MOST_COMMANDS]
    places = {key: place for place, (_, _, key, _) in enumerate(kept)}
    commands = tuple(
        replace(command, waits=tuple(places[each] for each in waits if places.get(each, place) < place))
        for place, (_, command, _, waits) in enumerate(kept)
    )
    end_ns = max((max(each.end_ns, *(r.end_ns for r in each.records), 0) for each in processes), default=base_ns)
    left_out = sum(_left_out(each) for each in processes) + len(found) - len(kept)
    return CommandSequence(commands, tuple(queues), left_out, max(0, end_ns - base_ns) / 1e3)


def _left_out(process: RawCommands) -> int:
    """Return how many commands came after the last record that there is room for."""
    last = max((record.number for record in process.records), default=-1)
    refused_or_open = 1 if process.seen == last + 2 else 0  # the one that the program ended in
    return max(0, process.seen - last - 1 - refused_or_open)


def _clock_ahead_ns(records: Iterable[RawCommand]) -> int:
    """Return by how much the device's clock is ahead of the host's: no command was queued before its call."""
    return min((each.queued_ns - each.begin_ns for each in records if each.queued_ns), default=0)


def _command(record: RawCommand, base_ns: int, ahead_ns: int, threads: int) -> Command:
    timed = record.queued_ns > 0 and record.finish_ns >= record.start_ns > 0
    return Command(
        kind=record.kind,
        begin_us=(record.begin_ns - base_ns) / 1e3,
        end_us=(record.end_ns - base_ns) / 1e3,
        size_bytes=record.size_bytes,
        is_blocking=bool(record.flags & _BLOCKING),
        is_first=bool(record.flags & _FIRST),
        is_pinned=bool(record.flags & _PINNED),
        thread=record.thread + threads,
        start_us=(record.start_ns - ahead_ns - base_ns) / 1e3 if timed else None,
        finish_us=(record.finish_ns - ahead_ns - base_ns) / 1e3 if timed else None,
    )
