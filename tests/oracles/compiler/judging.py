"""Programs of a package through both: what agrees, what the analysis could not read, how long it took."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from types import FrameType

from model.errors import AnalysisError
from model.opencl.kernel import Kernel
from model.opencl.program import Program, read_program
from model.work.analyse import analyse
from model.work.execution.unknowns import Unknown
from tests.oracles.compiler.building import Built, built
from tests.oracles.compiler.comparing import Compared, compared
from tests.oracles.compiler.programs import Source

LIMIT_S = 20  # of processor time, for one kernel: what takes longer counts as not analysed


@dataclass(frozen=True)
class KernelRead:
    """What the analysis says of one kernel; `failure` is why it gave up on it, if it did.

    `cpu_s` is the processor time that the analysis took, in seconds.
    """

    name: str
    unknowns: tuple[Unknown, ...]
    failure: str
    cpu_s: float

    @property
    def is_clean(self) -> bool:
        return not self.unknowns and not self.failure


@dataclass(frozen=True)
class Verdict:
    """One program that builds. `cpu_s` is the processor time of reading it and analysing its kernels, in seconds."""

    source: Source
    compared: Compared
    kernels: tuple[KernelRead, ...]
    cpu_s: float


@dataclass(frozen=True)
class Judged:
    """One package: how many programs were tried, and the verdict on each that builds."""

    tried: int
    verdicts: tuple[Verdict, ...]

    @property
    def found(self) -> int:
        return sum(v.compared.found for v in self.verdicts)

    @property
    def missed(self) -> list[str]:
        return [f"{v.source.name}: {name}" for v in self.verdicts for name in v.compared.missed]

    @property
    def invented(self) -> list[str]:
        return [f"{v.source.name}: {name}" for v in self.verdicts for name in v.compared.invented]

    @property
    def differences(self) -> list[str]:
        return [f"{v.source.name}: {difference}" for v in self.verdicts for difference in v.compared.differences]

    @property
    def kernels(self) -> list[KernelRead]:
        return [kernel for v in self.verdicts for kernel in v.kernels]

    @property
    def clean_share(self) -> float:
        return sum(kernel.is_clean for kernel in self.kernels) / max(1, len(self.kernels))

    @property
    def reasons(self) -> Counter[str]:
        """Why kernels are not clean, and how many kernels each reason touches."""
        return Counter(
            reason
            for kernel in self.kernels
            for reason in {f"{u.kind} {u.name}".strip() for u in kernel.unknowns} | ({kernel.failure} - {""})
        )


def judged(sources: Iterable[Source]) -> Judged:
    """Build all of `sources`, and read those that build. Takes as many cores as there are."""
    tried = list(sources)
    building = zip(tried, built(tried), strict=True)
    pairs = [(source, answer) for source, answer in building if not answer.error]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return Judged(
            len(tried),
            tuple(pool.map(_verdict, *zip(*pairs, strict=True))) if pairs else (),
        )


def sample(sources: Sequence[Source], size: int, seed: int) -> list[Source]:
    """The same `size` programs every time."""
    return random.Random(seed).sample(sources, min(size, len(sources)))


def _verdict(source: Source, answer: Built) -> Verdict:
    start = time.process_time()
    program = read_program(source.text, source.path, source.options)
    kernels = tuple(_read(program, kernel) for kernel in program.kernels)
    return Verdict(source, compared(program, answer), kernels, time.process_time() - start)


class _TooLate(Exception):
    """A kernel took longer than LIMIT_S."""


def _read(program: Program, kernel: Kernel) -> KernelRead:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLate

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    start = time.process_time()
    unknowns: tuple[Unknown, ...] = ()
    failure = ""
    try:
        unknowns = analyse(program, kernel).unknowns
    except AnalysisError as error:
        failure = error.message
    except _TooLate:
        failure = f"not analysed within {LIMIT_S} s of processor time"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return KernelRead(kernel.name, unknowns, failure, time.process_time() - start)
