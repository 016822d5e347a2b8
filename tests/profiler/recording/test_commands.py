"""The order of a program's commands is read from its files, put together, and kept."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.program.command import Command, CommandKind, CommandSequence, Queue
from profiler.recording.commands import MAGIC, pack_commands, program_of, read_commands, unpack_commands
from profiler.recording.raw_log import RawCommands, RawDevice
from profiler.recording.recordings import Recording, forget, recorded_commands, save
from profiler.store import Store

NONE = 0xFFFFFFFF
GPU = RawDevice("A GPU", "1", "P")
QUEUES = {0: (GPU, False), 3: (GPU, True)}


def record(
    kind: int, begin: int, end: int, *, launch: int = NONE, queue: int = 0, flags: int = 0, size: int = 0,
    device: tuple[int, int, int] = (0, 0, 0), thread: int = 0, waits: tuple[int, ...] = (),
) -> bytes:  # fmt: skip
    waited = [*(each + 1 for each in waits), *[0] * 6][:6]
    return struct.pack(
        "<4I Q 2Q 3Q 2I 6I", kind, launch, queue, flags, size, begin, end, *device, thread, len(waits), *waited
    )


def written(path: Path, *records: bytes, seen: int | None = None, end_ns: int = 9000) -> Path:
    header = struct.pack("<8sQQ72x", MAGIC, len(records) if seen is None else seen, end_ns)
    path.write_bytes(header + b"".join(records) + bytes(96 * 100))
    return path


def test_commands_have_queues_launches_times_and_what_they_wait_for(tmp_path: Path) -> None:
    path = written(
        tmp_path / "7-0.commands",
        record(2, 1000, 2000, size=4096, flags=1 | 2),
        record(1, 3000, 3500, launch=5, queue=3, device=(103000, 104000, 106000), waits=(0,)),
        record(11, 3600, 8000),
    )
    found = program_of([read_commands(path, QUEUES)], {("7-0", 5): 1}, {GPU: "gpu"})
    assert found.queues == (Queue("gpu"), Queue("gpu", is_out_of_order=True))
    write, launch, finish = found.commands
    assert (write.kind, write.size_bytes, write.is_blocking, write.is_first) == (CommandKind.WRITE, 4096, True, True)
    assert (launch.launch, launch.queue, launch.waits, launch.begin_us, launch.device_us) == (1, 1, (0,), 2.0, 2.0)
    assert launch.start_us == pytest.approx(3.0)  # the device's clock is 100 us ahead
    assert (finish.kind, finish.end_us, found.wall_us, found.left_out) == (CommandKind.FINISH, 7.0, 8.0, 0)


def test_refused_and_incomplete_commands_are_left_out_and_places_stay_right(tmp_path: Path) -> None:
    path = written(
        tmp_path / "7-0.commands",
        record(255, 100, 200),
        record(2, 300, 400),
        record(3, 500, 600, waits=(1,)),
        record(0, 700, 700),
    )
    found = program_of([read_commands(path, QUEUES)], {}, {})
    assert [(each.kind, each.waits) for each in found.commands] == [(CommandKind.WRITE, ()), (CommandKind.READ, (0,))]
    assert found.left_out == 0
    assert found.queues[0].device == "A GPU"


def test_commands_beyond_the_room_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "7-0.commands", record(2, 0, 100), seen=500, end_ns=10_000)
    found = program_of([read_commands(path, QUEUES)], {}, {})
    assert (len(found.commands), found.left_out, found.wall_us) == (1, 499, 10.0)


def test_processes_run_beside_each_other_on_threads_and_queues_of_their_own(tmp_path: Path) -> None:
    first = read_commands(written(tmp_path / "1-0.commands", record(2, 0, 100), record(3, 900, 950)), QUEUES)
    second = read_commands(written(tmp_path / "2-0.commands", record(1, 500, 600, launch=0)), {0: (GPU, False)})
    found = program_of([first, second], {("2-0", 0): 4}, {})
    assert [(each.begin_us, each.thread, each.queue) for each in found.commands] == [
        (0, 0, 0),
        (0.5, 1, 2),
        (0.9, 0, 0),
    ]
    assert found.commands[1].launch == 4


@pytest.mark.parametrize("content", [b"", b"short", b"OTHERVER" + bytes(1000)])
def test_other_files_have_no_commands(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "7-0.commands").write_bytes(content)
    assert read_commands(tmp_path / "7-0.commands", QUEUES) == RawCommands()
    assert read_commands(tmp_path / "missing", QUEUES) == RawCommands()


@given(st.binary(max_size=2000))
def test_any_bytes_are_read_without_a_failure(content: bytes) -> None:
    class _Held:
        stem = "x"

        @staticmethod
        def read_bytes() -> bytes:
            return struct.pack("<8sQQ72x", MAGIC, 1 << 60, 5) + content

    found = program_of([read_commands(_Held(), QUEUES)], {}, {})  # type: ignore[arg-type]
    assert all(place > max(each.waits, default=-1) for place, each in enumerate(found.commands))


COMMANDS = CommandSequence(
    (
        Command(CommandKind.WRITE, 0.0, 1.5, 0, size_bytes=4096, is_blocking=True, is_first=True, is_pinned=True),
        Command(CommandKind.LAUNCH, 2.0, 2.25, 0, 1, waits=(0,), start_us=3.0, finish_us=9.125, thread=2),
    ),
    (Queue("gpu", is_out_of_order=True),),
    left_out=3,
    wall_us=12.5,
)


def test_the_store_gives_back_what_it_was_given(tmp_path: Path) -> None:
    assert unpack_commands(pack_commands(COMMANDS)) == COMMANDS
    store = Store.open(tmp_path / "store.sqlite3")
    kept = save(store, Recording(tmp_path, ("run",), str(tmp_path), 1.0, 0, ()), COMMANDS)
    assert recorded_commands(store, kept.id) == COMMANDS
    assert forget(store, number=kept.id) == 1
    assert recorded_commands(store, kept.id) is None


def test_commands_that_are_damaged_count_as_none(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store.sqlite3")
    kept = save(store, Recording(tmp_path, ("run",), str(tmp_path), 1.0, 0, ()), COMMANDS)
    with sqlite3.connect(store.path) as database:
        database.execute("UPDATE recorded_commands SET commands = ?", (b"damaged",))
    assert recorded_commands(store, kept.id) is None
