"""A device process may end in any way: the parent learns why, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from model.errors import KernelcastError
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, MeasureError, TimedOut
from profiler.messages import Phase
from profiler.worker import Limits, run_job

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

JOBS = """
import os, signal, subprocess, sys, time
from profiler.measurement import BuildFailed
from profiler.messages import Phase

def add(a, b, reporter):
    reporter.progress(0.5, "adding")
    return a + b

def look_around(reporter):
    return {"stdin": sys.stdin.read(), "path": sys.path, "main": sys.modules["__main__"].__dict__.get("__file__"),
            "modules": sorted(sys.modules), "affinity": os.environ.get("POCL_AFFINITY")}

def chat(reporter):
    os.system("echo from the shell")
    os.write(1, b"from native code")
    print("from python", flush=True)
    return 7

def fail(reporter):
    raise BuildFailed("line 3 is wrong", line=3, log="its words")

def blunder(reporter):
    raise ZeroDivisionError("our own mistake")

def die(number, reporter):
    os.write(2, b"last words")
    os.kill(os.getpid(), number)

def hang(reporter):
    time.sleep(600)

def hang_in_a_phase(reporter):
    reporter.begin(0.5, "second phase", Phase("the second phase", 0.3, on_timeout="try less"))
    time.sleep(600)

def start_another_and_hang(reporter):
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    reporter.progress(0.0, str(other.pid))
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_jobs.py").write_text(JOBS)
    monkeypatch.syspath_prepend(str(tmp_path))


def limits(limit_s: float = 30) -> Limits:
    return Limits(Phase("the job", limit_s))


def test_a_job_answers_and_tells_how_far_it_is() -> None:
    heard: list[tuple[float, str]] = []
    assert run_job("some_jobs:add", (2, 3), returns=int, on_progress=lambda *step: heard.append(step)) == 5
    assert heard == [(0.5, "adding")]


def test_native_output_never_reaches_our_own_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_job("some_jobs:chat", returns=int) == 7
    assert capfd.readouterr() == ("", "")


def test_the_child_reads_nothing_and_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "model").mkdir(parents=True)
    (workspace / "model" / "__init__.py").write_text("raise SystemExit('the wrong model')")
    monkeypatch.chdir(workspace)
    monkeypatch.syspath_prepend("")
    seen = run_job("some_jobs:look_around", returns=dict)
    assert seen["stdin"] == ""
    assert str(workspace) not in seen["path"]
    assert "" not in seen["path"]
    assert seen["main"] is None
    assert seen["affinity"] == os.environ.get("POCL_AFFINITY", "1")


def test_a_named_failure_arrives_whole() -> None:
    with pytest.raises(BuildFailed) as failure:
        run_job("some_jobs:fail", returns=int)
    assert (failure.value.message, failure.value.line, failure.value.log) == ("line 3 is wrong", 3, "its words")


def test_a_mistake_of_our_own_is_one_sentence_with_the_rest_in_the_log() -> None:
    with pytest.raises(
        MeasureError, match=r"the job ended without an answer: ZeroDivisionError: our own mistake$"
    ) as e:
        run_job("some_jobs:blunder", returns=int, limits=limits())
    assert "Traceback" in e.value.log


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGFPE])
def test_a_crash_names_its_signal_and_keeps_the_last_words(number: signal.Signals) -> None:
    with pytest.raises(KernelCrashed, match=rf"the job crashed \({number.name}\)") as crash:
        run_job("some_jobs:die", (int(number),), returns=int, limits=limits())
    assert crash.value.log == "last words"


def test_a_hang_ends_at_the_limit_of_its_phase() -> None:
    with pytest.raises(TimedOut, match=r"^the job ran longer than 0\.5 s and was stopped$"):
        run_job("some_jobs:hang", returns=int, limits=limits(0.5))
    with pytest.raises(TimedOut, match=r"^the second phase ran longer than 0\.3 s and was stopped: try less$"):
        run_job("some_jobs:hang_in_a_phase", returns=int, limits=limits())


def test_cancelling_ends_the_job_and_whatever_it_started() -> None:
    cancel = threading.Event()
    started: list[psutil.Process] = []

    def cancel_when_started(_fraction: float, pid: str) -> None:
        started.append(psutil.Process(int(pid)))
        cancel.set()

    with pytest.raises(Cancelled):
        run_job("some_jobs:start_another_and_hang", returns=int, on_progress=cancel_when_started, cancel=cancel)
    _, alive = psutil.wait_procs(started, timeout=10)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_a_job_dies_with_its_parent(tmp_path: Path) -> None:
    parent = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from profiler.worker import run_job
run_job("some_jobs:start_another_and_hang", returns=int, on_progress=lambda _, pid: print(pid, flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        grandchild = psutil.Process(int(process.stdout.readline()))
        child = grandchild.parent()
        assert child is not None
        process.kill()
    _, alive = psutil.wait_procs([child, grandchild], timeout=10)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def test_every_failure_is_one_a_user_can_be_shown() -> None:
    for target, arguments in (("some_jobs:blunder", ()), ("some_jobs:die", (11,)), ("no_such_module:x", ())):
        with pytest.raises(KernelcastError):
            run_job(target, arguments, returns=int)
