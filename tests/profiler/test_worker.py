"""A device process may end in any way: the parent learns why, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil
import pytest

from model.errors import KernelcastError
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, MeasureError, OutOfResources, TimedOut
from profiler.process import worker
from profiler.process.messages import Phase
from profiler.process.worker import Limits, run_job

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

JOBS = """
import os, signal, subprocess, sys, tempfile, time
from profiler.measurement import BuildFailed
from profiler.process.messages import Phase

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

def say_much(reporter):
    for number in range(20000):
        reporter.progress(number / 20000, str(number))

def answer_much(size, reporter):
    return b"x" * size

def garble(reporter):
    reporter._stream.write(b"Content-Length: 12\\r\\n")
    reporter._stream.flush()
    time.sleep(600)

def spoil(reporter):
    import struct
    reporter._stream.write(struct.pack("<4sI", b"\\x00kc\\x01", 9) + b"cos\\nnono\\n")
    reporter._stream.flush()
    time.sleep(600)

def close_the_pipe(reporter):
    reporter._stream.close()
    time.sleep(600)

def leave_the_pipe_to_another(reporter):
    if os.fork() == 0:
        time.sleep(600)
    os._exit(3)

def write_files(reporter):
    tempfile.mkdtemp()
    open(os.path.join(os.environ["POCL_CACHE_DIR"], "code"), "w").close()
    reporter.progress(0.0, tempfile.gettempdir())

def write_files_and_hang(reporter):
    write_files(reporter)
    time.sleep(600)

def have_files_written_and_hang(reporter):
    folder = os.path.join(tempfile.gettempdir(), "linked")
    subprocess.Popen(["sh", "-c", 'while :; do mkdir -p "$0" && echo linked > "$0/kernel.so"; done', folder])
    write_files_and_hang(reporter)

def take(size, reporter):
    return len(bytearray(size))

def start_another_and_hang(reporter):
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    reporter.progress(0.0, str(other.pid))
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_jobs.py").write_text(JOBS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("POCL_CACHE_DIR")  # of all tests: users' jobs have a folder each


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
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def test_a_job_dies_with_its_parent(tmp_path: Path) -> None:
    parent = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from profiler.process.worker import run_job
run_job("some_jobs:start_another_and_hang", returns=int, on_progress=lambda _, pid: print(pid, flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        grandchild = psutil.Process(int(process.stdout.readline()))
        child = grandchild.parent()
        assert child is not None
        process.kill()
    _, alive = psutil.wait_procs([child, grandchild], timeout=60)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def test_every_failure_is_one_a_user_can_be_shown() -> None:
    for target, arguments in (("some_jobs:blunder", ()), ("some_jobs:die", (11,)), ("no_such_module:x", ())):
        with pytest.raises(KernelcastError):
            run_job(target, arguments, returns=int)


def test_a_flood_of_progress_is_thinned_and_its_last_word_is_told() -> None:
    heard: list[str] = []
    with pytest.raises(MeasureError):  # it answers None
        run_job("some_jobs:say_much", returns=int, on_progress=lambda _, text: heard.append(text))
    assert heard[-1] == "19999"
    assert len(heard) < 5000


def test_an_answer_may_be_larger_than_any_pipe() -> None:
    assert len(run_job("some_jobs:answer_much", (5_000_000,), returns=bytes)) == 5_000_000


@pytest.mark.parametrize("job", ["garble", "spoil"])
def test_what_is_no_message_ends_the_job_at_once(job: str) -> None:
    with pytest.raises(MeasureError, match="sent something that is not a message"):
        run_job(f"some_jobs:{job}", returns=int)


def test_a_closed_connection_is_no_reason_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LEAVING_S", 0.2)
    with pytest.raises(MeasureError, match="the job closed its connection without an answer"):
        run_job("some_jobs:close_the_pipe", returns=int, limits=limits())


def test_a_process_that_left_is_missed_though_another_holds_its_pipe() -> None:
    with pytest.raises(MeasureError, match="the job ended without an answer: exit status 3"):
        run_job("some_jobs:leave_the_pipe_to_another", returns=int, limits=limits(600))


def test_what_a_job_writes_goes_with_it() -> None:
    folders: list[Path] = []
    with pytest.raises(MeasureError):  # it answers None
        run_job("some_jobs:write_files", returns=int, on_progress=lambda _, folder: folders.append(Path(folder)))
    assert folders
    assert not folders[0].exists()


@pytest.mark.parametrize("job", ["write_files_and_hang", "have_files_written_and_hang"])
def test_what_a_job_wrote_goes_when_its_parent_is_killed(tmp_path: Path, job: str) -> None:
    parent = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from profiler.process.worker import run_job
run_job("some_jobs:{job}", returns=int, on_progress=lambda _, folder: print(folder, flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.exists()
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    psutil.wait_procs(children, timeout=60)
    assert not folder.exists()


def test_a_job_gets_no_more_memory_than_it_may_have() -> None:
    assert run_job("some_jobs:take", (100_000_000,), returns=int) == 100_000_000
    with pytest.raises(OutOfResources, match="ran out of memory"):
        run_job("some_jobs:take", (100_000_000,), returns=int, limits=Limits(memory_bytes=80_000_000))
    with pytest.raises(OutOfResources, match="ran out of memory"):  # more than any machine has free
        run_job("some_jobs:take", (2**44,), returns=int)


def test_without_room_for_temporary_files_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(MeasureError, match=r"no temporary file can be made .* set TMPDIR"):
        run_job("some_jobs:chat", returns=int)


def test_no_temporary_folder_has_blanks_where_another_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers split what they are told at blanks."""
    (tmp_path / "with a blank").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "with a blank"))
    folders: list[str] = []
    with pytest.raises(MeasureError):
        run_job("some_jobs:write_files", returns=int, on_progress=lambda _, folder: folders.append(folder))
    assert " " not in folders[0]
