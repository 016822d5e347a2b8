"""A sequence of commands as the store keeps it: columns of numbers as JSON, compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from model.program.command import Command, CommandKind, CommandSequence, Queue

VERSION = 1
MAX_BYTES = 64 << 20  # of the JSON text
UNREADABLE = (zlib.error, ValueError, TypeError, KeyError)


def pack(sequence: CommandSequence) -> bytes:
    """`unpack` reads it back."""
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


def unpack(packed: bytes) -> CommandSequence:
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
    commands = tuple(_command(row, place, queues) for place, row in enumerate(zip(*columns, strict=True)))
    return CommandSequence(commands, queues, int(plain["left_out"]), float(plain["wall_us"]))


def _command(row: Sequence[Any], place: int, queues: Sequence[Queue]) -> Command:
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
