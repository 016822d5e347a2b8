"""The hook in Python programs: what it records, and that it never harms the program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from profiler.recording.listener import listening
from profiler.recording.raw_log import RawProcess
from profiler.recording.reader import read_folder
from profiler.recording.running import recording_environment

pytestmark = pytest.mark.device

BEGIN = """
import os, sys, threading
import numpy as np
import pyopencl as cl
context = cl.Context([p for p in cl.get_platforms() if p.name == "Portable Computing Language"][0].get_devices()[:1])
queue = cl.CommandQueue(context)
text = "kernel void scale(global float *x, int n) { x[get_global_id(0)] *= n; }"
scale = cl.Program(context, text).build().scale
flags, ones = cl.mem_flags, np.ones(1024, np.float32)
x = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=ones)
"""

Recorded = Callable[..., RawProcess]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Run a program under the hook alone, and return its output."""
    (tmp_path / "logs").mkdir()

    def run(text: str, added: Mapping[str, str] | None = None, socket: Path | None = None) -> str:
        settings = recording_environment(os.environ, tmp_path / "logs", layer=None, socket=socket, profile=False)
        ran = subprocess.run(
            [sys.executable, "-c", text], env={**settings, **(added or {})}, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


@pytest.fixture
def record(run: Callable[..., str], tmp_path: Path) -> Recorded:
    """Run a program under the hook alone, and return what it recorded."""

    def record(text: str, socket: Path | None = None) -> RawProcess:
        run(f"{text}\nqueue.finish()", socket=socket)  # PoCL may crash where a process ends while it still compiles
        (process,) = read_folder(tmp_path / "logs")
        return process

    return record


def test_launches_with_other_buffers_of_the_same_size_are_one(record: Recorded) -> None:
    process = record(
        BEGIN + "for _ in range(5):\n    scale(queue, (64,), None, cl.Buffer(context, 1, 4096), np.int32(1))"
    )
    assert [launch.count for launch in process.launches] == [5]


def test_looking_for_pyopencl_does_not_end_the_watch_for_it(record: Recorded) -> None:
    probe = "import importlib.util\nfor _ in range(2):\n    assert importlib.util.find_spec('pyopencl') is not None\n"
    process = record(probe + BEGIN + "scale(queue, (64,), None, x, np.int32(1))")
    assert [launch.count for launch in process.launches] == [1]


def test_contents_are_not_read_where_that_could_wait_for_the_program(record: Recorded, tmp_path: Path) -> None:
    text = """
start = cl.UserEvent(context)
event = scale(queue, (64,), None, x, np.int32(1), wait_for=[start])
start.set_status(cl.command_execution_status.COMPLETE)
event.wait()
"""
    with listening(tmp_path / "logs") as (fills, socket):
        process = record(BEGIN + text, socket)
    assert (len(process.launches), fills.words) == (1, {})
    assert process.problems == (
        "contents of buffers are not sampled: the program uses user events, and reading could wait forever",
    )


def test_other_threads_launch_while_contents_are_read(record: Recorded, tmp_path: Path) -> None:
    """The first thread's read waits until the second one has launched."""
    text = """
other, first = cl.Program(context, text).build().scale, scale(queue, (64,), None, x, np.int32(1))
def wait(event):
    second = threading.Thread(target=lambda: other(queue, (32,), None, x, np.int32(2)))
    second.start()
    second.join(20)
    assert not second.is_alive()
cl.Event.wait = wait
scale(queue, (64,), None, x, np.int32(3), wait_for=[first])
"""
    with listening(tmp_path / "logs") as (_, socket):
        assert record(BEGIN + text, socket).problems == ()


def test_buffers_that_the_host_must_not_read_are_left_out(record: Recorded, tmp_path: Path) -> None:
    text = """
for flag in (flags.HOST_WRITE_ONLY, flags.HOST_NO_ACCESS, flags.WRITE_ONLY):
    scale(queue, (64,), None, cl.Buffer(context, flag, 4096), np.int32(1))
    scale(queue, (32,), None, x, np.int32(1))
"""
    with listening(tmp_path / "logs") as (fills, socket):
        process = record(BEGIN + text, socket)
    assert process.problems == ()
    assert [(launch.global_size, launch.count) for launch in process.launches] == [((64,), 3), ((32,), 3)]
    assert list(fills.words.values()) == [(("", "const:1"),)]


def test_a_failing_send_is_one_problem_and_every_launch_counts(record: Recorded, tmp_path: Path) -> None:
    text = "for n in (1, 2, 3):\n    scale(queue, (64,), None, x, np.int32(n))"
    process = record(BEGIN + text, tmp_path / "gone")
    assert [launch.count for launch in process.launches] == [1, 1, 1]
    (problem,) = process.problems
    assert "no longer takes them" in problem


def test_a_file_of_the_program_under_a_number_of_ours_is_left_alone(record: Recorded, tmp_path: Path) -> None:
    text = f"""
scale(queue, (64,), None, x, np.int32(0)).wait()
os.closerange(3, 256)
own = [open({str(tmp_path / "own")!r}, "ab") for _ in range(64)]
for n in range(1, 3000):
    scale(queue, (64,), None, x, np.int32(n))
queue.finish()
"""
    process = record(BEGIN + text)
    assert (tmp_path / "own").stat().st_size == 0
    assert [launch.count for launch in process.launches] == [1] * 3000


def test_a_program_that_outlives_its_recording_runs_on(run: Callable[..., str], tmp_path: Path) -> None:
    text = BEGIN + "scale(queue, (64,), None, x, np.int32(1)).wait()\nprint('done')"
    assert run(text, {"KERNELCAST_RECORD_DIR": str(tmp_path / "gone")}) == "done\n"
    remove = f"import shutil\nshutil.rmtree({str(tmp_path / 'logs')!r})\n"
    again = "scale(queue, (32,), None, x, np.int32(2)).wait()\nprint('done')"
    assert run(BEGIN + "scale(queue, (64,), None, x, np.int32(1)).wait()\n" + remove + again) == "done\n"
