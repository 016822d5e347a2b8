"""`make programs`: every kernel of many public programs through `predict`, each within a time limit, none by surprise.

The programs come from package registries (the origins of `kernelcast dataset fetch` that are packages), or from
folders on this machine: `make programs ARGS="--folder DIR"`, each folder in DIR a program. Nothing of them is kept in
this repository. The exit status is 1 where a kernel took longer than the limit or ended in an unexpected exception.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psutil

from model.errors import KernelcastError
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.origins.decontamination import is_exam_kernel
from profiler.corpus.origins.launching import time_limit
from profiler.corpus.origins.origin import OriginKind, read_origins
from server.cli.batch_processes import Worker, WorkerEnded
from tests.programs.sources import Source, fetched, programs_below, sources_of
from tests.programs.table import Outcome, Tally, table

READING_LIMIT_S = 20  # of all kernels of one file
FIRST_ANSWER_S = 60.0  # loads the learned model
POLL_S = 0.1
PATIENCE = 6.0  # times the limit, for what waits and does not work
FAULTS = frozenset({"crash", "timeout", "internal"})
_WARM = "__kernel void warm(__global float *x) { x[get_global_id(0)] = 1.0f; }\n"


class Watch:
    """How long a process has worked since now. Its processor time counts: the machine may be busy with others."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._began_s = time.perf_counter()
        self._worked_s = self._all_s()

    @property
    def processor_s(self) -> float:
        return self._all_s() - self._worked_s

    @property
    def passed_s(self) -> float:
        return time.perf_counter() - self._began_s

    def _all_s(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)


def _within(answer: Future[str], watch: Watch, limit_s: float) -> str:
    """Wait for an answer. Raises FutureTimeout where it takes more processor time, or `PATIENCE` times as long."""
    while True:
        try:
            return answer.result(POLL_S)
        except FutureTimeout:
            with suppress(psutil.Error):  # the process has ended, and `answer` is about to say so
                if watch.processor_s > limit_s or watch.passed_s > PATIENCE * limit_s:
                    raise


class Asker:
    """`kernelcast predict --batch -` in a process of its own, which is begun anew where it dies or takes too long."""

    def __init__(self, device: str, limit_s: float) -> None:
        self._device = device
        self._limit_s = limit_s
        self._folder = Path(tempfile.mkdtemp(prefix="kernelcast-programs-"))
        self._warm = self._folder / "warm.cl"
        self._warm.write_text(_WARM)
        self._worker: Worker | None = None

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        shutil.rmtree(self._folder)

    def ask(self, source: Source, kernel: str) -> Outcome:
        request = {"file": str(source.file), "kernel": kernel, "include": list(source.include)}
        worker = self._started()
        watch = Watch(worker.pid)
        try:
            answer = json.loads(_within(worker.ask(json.dumps(request).encode()), watch, self._limit_s))
        except FutureTimeout:
            self._end()
            return Outcome(source.reference, kernel, "timeout", f"no answer in {self._limit_s:g} s", self._limit_s)
        except WorkerEnded:
            self._end()
            return Outcome(source.reference, kernel, "crash", "the process ended", watch.passed_s)
        took_s = watch.processor_s
        error = answer.get("error")
        if error is not None:
            return Outcome(source.reference, kernel, error["code"], error["message"], took_s)
        return Outcome(source.reference, kernel, "", "", took_s)

    def _started(self) -> Worker:
        if self._worker is None or self._worker.has_ended:
            call = ["predict", "--batch", "-", "--jobs", "1", "--no-cache"]
            call += ["--ignore-measurements", "--device", self._device]
            self._worker = Worker(call, is_heard=False)
            self._worker.ask(json.dumps({"file": str(self._warm)}).encode()).result(FIRST_ANSWER_S)
        return self._worker

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker = None


def outcomes_of(place: Path, texts: Path, asker: Asker, only: str = "") -> Iterator[Outcome]:
    """One outcome for each kernel of a program."""
    for source in sources_of(place, texts):
        text = source.file.read_bytes().decode("utf-8", errors="replace")
        try:
            with time_limit(READING_LIMIT_S):
                program = read_program(text, source.file, BuildOptions(include_dirs=source.include))
        except KernelcastError as error:
            yield Outcome(source.reference, "(all)", "timeout", error.message, READING_LIMIT_S)
            continue
        except Exception as error:  # noqa: BLE001 - what is looked for here
            yield Outcome(source.reference, "(all)", "crash", repr(error)[:200], 0.0)
            continue
        for kernel in program.wanted(None, included=True):
            if not is_exam_kernel(kernel.name) and only in f"{source.reference}:{kernel.name}":
                yield asker.ask(source, kernel.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="only those whose name holds one of these")
    parser.add_argument("--folder", type=Path, action="append", default=[], help="its folders are programs")
    parser.add_argument("--work", type=Path, default=Path(".cache/programs"), help="where packages are unpacked")
    parser.add_argument("--repositories", action="store_true", help="the origins that are repositories, too")
    parser.add_argument("--mirrors", type=Path, help="git directories of repositories, read instead of the network")
    parser.add_argument("--device", default="nvidia-geforce-rtx-3060", help="which device to predict for")
    parser.add_argument("--limit-s", type=float, default=5.0, help="of processor time for each kernel")
    parser.add_argument("--kernel", default="", help="only kernels whose path and name hold this")
    parser.add_argument("--json", type=Path, help="all outcomes, one JSON object a line")
    chosen = parser.parse_args()
    kinds = {OriginKind.PYPI, OriginKind.DEBIAN} | ({OriginKind.REPOSITORY} if chosen.repositories else set())
    if chosen.folder:
        places = [each for folder in chosen.folder for each in programs_below(folder.absolute())]
    else:
        wanted = [origin for origin in read_origins() if origin.kind in kinds]
        places = list(fetched(wanted, chosen.work.absolute() / "sources", chosen.mirrors))
    tallies = []
    with Asker(chosen.device, chosen.limit_s) as asker:
        for name, place in places:
            if chosen.programs and not any(part in name for part in chosen.programs):
                continue
            texts = chosen.work.absolute() / "texts" / name
            tally = Tally(name, [])
            for outcome in outcomes_of(place, texts, asker, chosen.kernel):
                tally.outcomes.append(outcome)
                if outcome.code in FAULTS:
                    print(f"  {outcome.code}: {name} {outcome.reference}:{outcome.kernel}: {outcome.message}")
                if chosen.json:
                    with chosen.json.open("a", encoding="utf-8") as file:
                        print(json.dumps({"program": name, **outcome.as_json()}), file=file)
            if tally.outcomes:
                tallies.append(tally)
                print(tally.line(), flush=True)
    print(table(tallies))
    return int(any(outcome.code in FAULTS for tally in tallies for outcome in tally.outcomes))


if __name__ == "__main__":
    sys.exit(main())
