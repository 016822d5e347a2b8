"""A changed launch, launches by the batch and a new kernel, on kernels that the corpus' generator writes.

Times differ from machine to machine; what tells whether something became slower are the ratios to a yardstick, a fixed
piece of arithmetic in Python that is timed in between.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from model.device import Device
from model.launch.launch import Launch
from model.opencl.program import read_program
from model.predictor import Predictor
from model.work.analyse import analyse
from model.work.work import Work
from profiler.corpus.generate import kernels
from profiler.corpus.kernel import CorpusKernel

KERNELS = 120
KNOWN_TIMES = 5  # so that starting the process does not hide what each answer takes
FAMILIES_AT_ONCE = 330  # of the first kernels, so that every family is among those that are taken
YARDSTICK_STEPS = 4000


@dataclass(frozen=True, slots=True)
class Spread:
    """`what` of `n` cases, in milliseconds; `in_yardsticks` is the median over the yardstick's of the same run."""

    what: str
    times_ms: tuple[float, ...]
    yardstick_ms: float

    def at(self, share: float) -> float:
        ordered = sorted(self.times_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def in_yardsticks(self) -> float:
        return self.at(0.5) / self.yardstick_ms


def changed_and_new(device: Device, *, count: int = KERNELS) -> list[Spread]:
    """What a new kernel and a changed launch of a known one take, and what of that is counting."""
    chosen = _kernels(count)
    times: dict[str, list[float]] = {"a new kernel": [], "a changed launch": [], "counting alone": []}
    yardsticks: list[float] = []
    predictor = Predictor()
    for kernel in chosen:
        gc.collect()  # what the kernel before has left is not this one's
        yardsticks.append(_timed_ms(_yardstick))
        made: list[Work] = []
        times["a new kernel"].append(_timed_ms(partial(_first, kernel, predictor, device, made)))
        (work,) = made
        for number, launch in enumerate(_launches(kernel)[1:]):
            if number % 2:
                times["counting alone"].append(_timed_ms(partial(work.count, launch)))
            else:
                times["a changed launch"].append(_timed_ms(partial(predictor.predict, work, launch, device)))
    yardstick_ms = statistics.median(yardsticks)
    return [Spread(what, tuple(taken), yardstick_ms) for what, taken in times.items()]


def _first(kernel: CorpusKernel, predictor: Predictor, device: Device, made: list[Work]) -> None:
    """From text to prediction."""
    program = read_program(kernel.source, None, kernel.options)
    work = analyse(program, program.kernel(kernel.name))
    predictor.predict(work, _launches(kernel)[0], device)
    made.append(work)


def in_process_per_second(device: Device, *, count: int = KERNELS, rounds: int = 3) -> list[float]:
    """Predictions a second, round by round, of launches that were not asked for before, of known kernels."""
    works: list[tuple[Work, Sequence[Launch]]] = []
    for kernel in _kernels(count):
        program = read_program(kernel.source, None, kernel.options)
        works.append((analyse(program, program.kernel(kernel.name)), _launches(kernel)))
    asked = sum(len(launches) for _, launches in works)
    rates: list[float] = []
    for _ in range(rounds):
        predictor = Predictor()  # which remembers nothing
        begun = time.perf_counter()
        for work, launches in works:
            for launch in launches:
                predictor.predict(work, launch, device)
        rates.append(asked / (time.perf_counter() - begun))
    return rates


def batches_per_second(kernelcast: str, jobs: int, *, count: int = KERNELS, rounds: int = 3) -> list[float]:
    """Answers a second of `kernelcast predict --batch`, each worked out, without what starting one process takes.

    Raises RuntimeError where a request stays without a prediction.
    """
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(request) for request in _requests(Path(folder), _kernels(count))]
        call = ["--jobs", str(jobs), "--no-cache"]
        alone_s = min(_batch_s(kernelcast, lines[:1], call) for _ in range(rounds))
        return [(len(lines) - 1) / max(1e-6, _batch_s(kernelcast, lines, call) - alone_s) for _ in range(rounds)]


def known_batches_per_second(kernelcast: str, *, count: int = KERNELS, rounds: int = 3) -> list[float]:
    """Answers a second of the same batch that an earlier process has answered, starting the process included."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(request) for request in _requests(Path(folder), _kernels(count))]
        data = str(Path(folder) / "data")  # the user's own keeps no answers of a bench
        _batch_s(kernelcast, lines, ["--no-cache"], data)  # makes the store
        _batch_s(kernelcast, lines, [], data)
        many = lines * KNOWN_TIMES
        return [len(many) / _batch_s(kernelcast, many, [], data) for _ in range(rounds)]


def _batch_s(kernelcast: str, lines: Sequence[str], flags: Sequence[str], data: str | None = None) -> float:
    begun = time.perf_counter()
    done = subprocess.run(
        [kernelcast, "predict", "--batch", "-", *flags],
        input="\n".join(lines), capture_output=True, text=True, check=False,
        env=os.environ | ({"KERNELCAST_DATA_DIR": data} if data is not None else {}),
    )  # fmt: skip
    taken_s = time.perf_counter() - begun
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(lines) or any("error" in answer for answer in answers):
        wrong = [answer for answer in answers if "error" in answer][:1]
        raise RuntimeError(f"{len(answers)} of {len(lines)} answered; {wrong} {done.stderr[-500:]}")
    return taken_s


def _requests(folder: Path, chosen: Sequence[CorpusKernel]) -> Iterator[dict[str, Any]]:
    for number, kernel in enumerate(chosen):
        file = folder / f"{number}.cl"
        file.write_text(kernel.source, encoding="utf-8")
        for launch in _launches(kernel):
            yield {
                "file": str(file),
                "kernel": kernel.name,
                "options": kernel.options.arguments(),
                "global": list(launch.global_size),
                "local": list(launch.local_size) if launch.local_size else None,
                "args": dict(launch.scalars),
                "buffers": dict(launch.buffers),
                "images": {name: [n for n in size if n > 0] for name, size in launch.images},
                "local_bytes": dict(launch.local_bytes),
                "fill": {name: str(fill) for name, fill in launch.fills},
            }


def _kernels(count: int) -> list[CorpusKernel]:
    """Some of the first kernels, without images (whose sizes a request says otherwise); the same each time."""
    first = list(itertools.islice(kernels(), FAMILIES_AT_ONCE))
    plain = [k for k in first if not any(launch.launch.images for launch in k.launches) and len(k.launches) > 1]
    return plain[:: max(1, len(plain) // count)][:count]


def _launches(kernel: CorpusKernel) -> list[Launch]:
    return [launch.launch for launch in kernel.launches]


def _yardstick() -> int:
    total = 0
    for step in range(YARDSTICK_STEPS):
        total += step * step % 7
    return total


def _timed_ms(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - begun)
