"""Read the sequences of commands that the layer wrote, one file a process, and put them together as one program's.

A file is a header and records of equal size, as `layer/layer.h` declares them. A record without a kind was being
written when the program ended, and is left out, as are calls that the driver refused.

The store keeps a sequence as columns of numbers, JSON that is compressed.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

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


VERSION = 1
MAX_BYTES = 64 << 20  # of the JSON text
UNREADABLE = (zlib.error, ValueError, TypeError, KeyError)


def pack_commands(sequence: CommandSequence) -> bytes:
    """Return a sequence as the store keeps it; `unpack_commands` reads it back."""
    commands = sequence.commands
    plain = {
        "version": VERSION,
        "queues": [[queue.device, queue.is_out_of_order] for queue in sequence.queues],
        "left_out": sequence.left_out,
        "wall_us": sequence.wall_us,
        "kind": [int(each.kind) for each in commands],
        "begin_ns": [round(1000 * each.begin_us) for each in commands],
        "call_ns": [round(1000 * (each.end_us - each.begin_us)) for each in commands],
        "start_ns": [None if each.start_us is None else round(1000 * each.start_us) for each in commands],
        "device_ns": [
            None if each.finish_us is None or each.start_us is None else round(1000 * (each.finish_us - each.start_us))
            for each in commands
        ],
        "queue": [each.queue for each in commands],
        "launch": [each.launch for each in commands],
        "bytes": [each.size_bytes for each in commands],
        "flags": [each.is_blocking + 2 * each.is_first + 4 * each.is_pinned for each in commands],
        "thread": [each.thread for each in commands],
        "waits": [list(each.waits) for each in commands],
    }
    return zlib.compress(json.dumps(plain, separators=(",", ":")).encode())


def unpack_commands(packed: bytes) -> CommandSequence:
    """Return the sequence. Raises one of `UNREADABLE` for what is damaged or of a later version."""
    reader = zlib.decompressobj()
    text = reader.decompress(packed, MAX_BYTES)
    plain = json.loads(text)
    if plain["version"] > VERSION:
        raise ValueError("written by a newer Kernelcast")
    queues = tuple(Queue(str(device), bool(out_of_order)) for device, out_of_order in plain["queues"])
    columns = [
        plain[name]
        for name in (
            "kind", "begin_ns", "call_ns", "start_ns", "device_ns", "queue", "launch", "bytes", "flags", "thread",
            "waits",
        )
    ]  # fmt: skip
    commands = tuple(_kept_command(row, place, queues) for place, row in enumerate(zip(*columns, strict=True)))
    return CommandSequence(commands, queues, int(plain["left_out"]), float(plain["wall_us"]))


def _kept_command(row: Sequence[Any], place: int, queues: Sequence[Queue]) -> Command:
    kind, begin_ns, call_ns, start_ns, device_ns, queue, launch, size, flags, thread, waits = row
    if queue is not None and not 0 <= queue < len(queues):
        raise ValueError(f"there is no queue {queue}")
    timed = start_ns is not None and device_ns is not None
    return Command(
        kind=CommandKind(kind),
        begin_us=begin_ns / 1000,
        end_us=(begin_ns + call_ns) / 1000,
        queue=queue,
        launch=launch,
        size_bytes=int(size),
        is_blocking=bool(flags & 1),
        is_first=bool(flags & 2),
        is_pinned=bool(flags & 4),
        thread=int(thread),
        waits=tuple(int(each) for each in waits if 0 <= each < place),
        start_us=start_ns / 1000 if timed else None,
        finish_us=(start_ns + device_ns) / 1000 if timed else None,
    )
