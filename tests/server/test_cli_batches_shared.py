"""A long batch is shared among processes, and nobody can tell from its answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil
import pytest

from server.cli.batch_processes import FEW_LINES, MOST_PROCESSES, MUCH_MORE, Asked, Workers, processes, said_by
from server.cli.requests import Request

KERNEL = (
    "kernel void {name}(global float *x, int n) {{ for (int i = 0; i < n; i++) x[get_global_id(0)] += {name}f; }}\n"
)
FILES = 3
ENDS_S = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(FILES):
        (tmp_path / f"{number}.cl").write_text(KERNEL.format(name="k").replace("kf", f"{number}.5f"))
    return tmp_path


def lines(count: int) -> list[bytes]:
    """Of several kernels, and some that nobody can answer."""
    asked: list[dict[str, Any]] = [
        {"id": n, "file": f"{n % FILES}.cl", "global": [64 * (n + 1)], "args": {"n": n}} for n in range(count)
    ]
    asked[3] = {"id": 3, "file": "none.cl"}
    asked[5] = {"id": 5, "glbal": 7}
    return [b"no JSON" if n == 7 else json.dumps(each).encode() for n, each in enumerate(asked)]


def call(kernelcast: str, folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [kernelcast, "predict", "--batch", "-", "--device", "generic-cpu", "--jobs", str(jobs)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder,
        env={**os.environ, "KERNELCAST_DATA_DIR": str(folder / "data")},
    )  # fmt: skip


def test_answers_are_those_of_one_process_in_the_order_of_the_lines(kernelcast: str, folder: Path) -> None:
    asked = b"\n\n".join(lines(40))  # empty lines count, and are not answered
    alone, shared = (call(kernelcast, folder, jobs) for jobs in (1, 3))
    expected, found = (
        [json.loads(line) for line in each.communicate(asked)[0].splitlines()] for each in (alone, shared)
    )
    assert [answer["id"] for answer in found] == [None if n == 7 else n for n in range(40)]
    assert [answer.get("error") for answer in found] == [answer.get("error") for answer in expected]
    assert [answer["error"]["line"] for answer in found if answer["id"] in (None, 5)] == [11, 15]
    for answer, same in zip(found, expected, strict=True):
        assert answer.get("work") == same.get("work")
        if "error" not in same:
            assert answer["runtime_us"] == pytest.approx(
                same["runtime_us"], rel=1e-4
            )  # rounding, by what is asked with it
    assert alone.returncode == shared.returncode == 1


def test_no_process_outlives_the_one_that_was_called(kernelcast: str, folder: Path) -> None:
    with call(kernelcast, folder, 2) as asking:
        assert asking.stdin is not None
        assert asking.stdout is not None
        asking.stdin.write(b"\n".join(lines(20)) + b"\n")
        asking.stdin.flush()
        assert json.loads(asking.stdout.readline())["id"] == 0
        others = psutil.Process(asking.pid).children(recursive=True)
        assert len(others) >= 2
        asking.kill()
        assert not psutil.wait_procs(others, timeout=ENDS_S)[1]


def test_whoever_stops_reading_ends_it_all(kernelcast: str, folder: Path) -> None:
    with call(kernelcast, folder, 2) as asking:
        assert asking.stdin is not None
        assert asking.stdout is not None
        asking.stdin.write(b"\n".join(lines(300)) + b"\n")
        asking.stdin.flush()
        asking.stdout.readline()
        others = psutil.Process(asking.pid).children(recursive=True)
        asking.stdout.close()
        assert asking.wait(ENDS_S) == 141
        assert not psutil.wait_procs(others, timeout=ENDS_S)[1]


def test_what_dying_processes_leave_unanswered_is_given_back_to_whoever_asked(folder: Path) -> None:
    asked = [Asked(b"{}", n, Request(folder / "0.cl")) for n in range(50)]
    with Workers(["no such command"], 2) as workers:
        said = list(said_by(workers, asked))
    assert [(each.asked.id, each.text) for each in said] == [(n, None) for n in range(50)]


def test_what_reading_the_batch_raises_is_raised_where_answers_are_awaited() -> None:
    def broken() -> Iterator[Asked]:
        raise OSError("gone")
        yield  # makes it an iterator

    with Workers([], 0) as workers, pytest.raises(OSError, match="gone"):
        list(said_by(workers, broken()))


def test_a_kernel_stays_with_one_process_until_that_has_much_more_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        """Answers nothing."""

        has_ended = False

        def __init__(self, _call: Sequence[str], *, is_heard: bool) -> None:
            self.is_heard, self.kernels = is_heard, list[bytes]()

        @property
        def waiting(self) -> int:
            return len(self.kernels)

        def ask(self, line: bytes) -> Future[str]:
            self.kernels.append(line)
            return Future()

        def close(self) -> None: ...

    made: list[Busy] = []
    monkeypatch.setattr("server.cli.batch_processes.Worker", lambda *a, **k: made.append(Busy(*a, **k)) or made[-1])
    workers = Workers([], 2)
    for _ in range(5):
        workers.ask("a", b"a")
    workers.ask("b", b"b")
    assert [busy.kernels for busy in made] == [[b"a"] * 5, [b"b"]]
    for _ in range(2 * MUCH_MORE):
        workers.ask("a", b"a")
    assert abs(made[0].waiting - made[1].waiting) <= MUCH_MORE
    assert set(made[1].kernels) == {b"a", b"b"}
    assert [busy.is_heard for busy in made] == [True, False]


def test_few_lines_are_not_worth_a_process() -> None:
    assert processes(FEW_LINES, None) == 1
    assert processes(10**6, None) <= MOST_PROCESSES
    assert (processes(10, 3), processes(1, 3), processes(10**6, 1)) == (3, 1, 1)
