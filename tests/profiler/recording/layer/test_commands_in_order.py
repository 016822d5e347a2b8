"""The layer writes down all commands of a program in their order, with sizes, waits and times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model.program.command import Command, CommandKind, CommandSequence
from profiler.recording.commands import program_of
from profiler.recording.reader import read_folder
from tests.profiler.recording.layer.conftest import Ran

pytestmark = pytest.mark.device

Record = Callable[..., Ran]
PROGRAM = """
import os, signal, sys
import numpy as np
import pyopencl as cl
context = cl.Context([p for p in cl.get_platforms() if p.name == "Portable Computing Language"][0].get_devices()[:1])
timed = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
free = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
program = cl.Program(context, "kernel void scale(global float *x) { x[get_global_id(0)] *= 2; }").build()
data = np.ones(1 << 16, np.float32)
flags = cl.mem_flags
x, y = (cl.Buffer(context, flags.READ_WRITE, data.nbytes) for _ in range(2))
z = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=data)
shared = cl.Buffer(context, flags.READ_WRITE | flags.ALLOC_HOST_PTR, data.nbytes)
scale = cl.Kernel(program, "scale")
scale.set_args(x)
"""
STEPS = """
sent = cl.enqueue_copy(timed, x, data, is_blocking=False)
again = cl.enqueue_copy(timed, x, data, is_blocking=False)
ran = cl.enqueue_nd_range_kernel(free, scale, (1 << 16,), (64,), wait_for=[sent, again])
cl.enqueue_copy(free, y, x, wait_for=[ran])
cl.enqueue_fill_buffer(timed, y, np.float32(1), 0, 4096)
pinned, event = cl.enqueue_map_buffer(timed, shared, cl.map_flags.WRITE, 0, data.shape, np.float32)
cl.enqueue_copy(timed, y, pinned, is_blocking=False)
pinned.base.release(timed)
cl.enqueue_barrier(free)
timed.finish()
free.finish()
fresh = np.empty(1 << 20, np.float32)
cl.enqueue_copy(timed, fresh[: 1 << 16], x)
"""


def commands_in(ran: Ran) -> CommandSequence:
    assert ran.status in {0, 137, -9}, ran.err
    return program_of([process.commands for process in read_folder(ran.folder)], {}, {})


def of(sequence: CommandSequence, kind: CommandKind) -> list[Command]:
    return [each for each in sequence.commands if each.kind is kind]


def test_commands_are_in_their_order_with_sizes_and_queues(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + STEPS, "utf-8")
    found = commands_in(record([sys.executable, tmp_path / "program.py"]))
    kinds = [each.kind for each in found.commands if each.kind not in {CommandKind.WAIT, CommandKind.FLUSH}]
    assert kinds == [
        CommandKind.BUILD, CommandKind.CREATE, CommandKind.WRITE, CommandKind.WRITE, CommandKind.LAUNCH,
        CommandKind.COPY, CommandKind.FILL, CommandKind.MAP, CommandKind.WRITE, CommandKind.UNMAP,
        CommandKind.BARRIER, CommandKind.FINISH, CommandKind.FINISH, CommandKind.READ,
    ]  # fmt: skip
    assert [queue.is_out_of_order for queue in found.queues] == [False, True]
    writes = of(found, CommandKind.WRITE)
    assert [each.size_bytes for each in writes] == [1 << 18] * 3
    assert [(each.is_first, each.is_pinned) for each in writes] == [(True, False), (False, False), (False, True)]
    assert of(found, CommandKind.FILL)[0].size_bytes == 4096
    assert of(found, CommandKind.CREATE)[0].size_bytes == 1 << 18
    (read,) = of(found, CommandKind.READ)
    assert (read.is_blocking, read.is_first, read.queue) == (True, True, 0)
    begins = [each.begin_us for each in found.commands]
    assert begins == sorted(begins)
    assert found.left_out == 0


def test_events_say_what_waits_for_what_and_profiling_queues_give_times(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + STEPS, "utf-8")
    found = commands_in(record([sys.executable, tmp_path / "program.py"]))
    (launch,) = of(found, CommandKind.LAUNCH)
    writes = [place for place, each in enumerate(found.commands) if each.kind is CommandKind.WRITE]
    assert launch.waits == tuple(writes[:2])
    assert launch.device_us is None  # its queue has no profiling
    for write in of(found, CommandKind.WRITE):
        assert write.start_us is not None
        assert write.finish_us is not None
        assert write.begin_us <= write.start_us <= write.finish_us


def test_what_was_enqueued_before_a_crash_is_kept(record: Record, tmp_path: Path) -> None:
    text = f"{PROGRAM}{STEPS}\nos.kill(os.getpid(), signal.SIGKILL)\n"
    (tmp_path / "program.py").write_text(text, "utf-8")
    assert len(of(commands_in(record([sys.executable, tmp_path / "program.py"])), CommandKind.READ)) == 1


def test_a_fork_adds_nothing_to_the_commands_of_its_parent(launcher: Path, record: Record) -> None:
    ran = record([launcher, "fork"])
    processes = [each.commands for each in read_folder(ran.folder)]
    launches = [sum(record.kind is CommandKind.LAUNCH for record in each.records) for each in processes]
    assert launches == [8, 0]


def test_more_commands_than_there_is_room_for_are_counted(record: Record, tmp_path: Path) -> None:
    more = "for _ in range(70_000):\n    free.flush()\n"
    (tmp_path / "program.py").write_text(PROGRAM + more, "utf-8")
    found = commands_in(record([sys.executable, tmp_path / "program.py"]))
    assert len(found.commands) == (1 << 16) - 1
    assert found.left_out >= 70_000 + 2 - len(found.commands)
    assert found.wall_us > found.recorded_us
