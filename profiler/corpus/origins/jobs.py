"""What the preparation asks of device processes, and what they answer. Plain data, importable without pyopencl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, TypeVar

from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from profiler.measurement import MeasureError
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.process.worker import Limits, run_job

BUILD_JOB = "profiler.device_worker.origins.trials:try_builds"
WRITE_JOB = "profiler.device_worker.origins.generated:run"
PROVE_JOB = "profiler.device_worker.origins.trials:prove_launches"
# Long, for whoever times kernels on this machine may stop these processes for minutes.
OPEN_S, BUILD_S, RUN_S = 900.0, 900.0, 60.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BuildTry:
    text: str
    options: BuildOptions


@dataclass(frozen=True, slots=True)
class Builds:
    kernels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProofTry:
    text: str
    kernel: Kernel
    launch: Launch


@dataclass(frozen=True, slots=True)
class Proved:
    """`checked` as in `Measurement.checked`; `runtime_us` of one warm run."""

    checked: str
    runtime_us: float


@dataclass(frozen=True, slots=True)
class Written:
    """Sources that a library wrote, with their references."""

    sources: tuple[tuple[str, str], ...]
    is_last: bool = False


def outcomes(
    job: str, device_id: str, tries: Sequence[Any], limit_s: float, returns: type[T]
) -> list[T | MeasureError]:
    """One for each of `tries`. What crashes or hangs costs only itself: the rest goes on in another process."""
    found: dict[int, T | MeasureError] = {}
    at_stake: list[int] = []

    def hear(message: AtStake | Outcome) -> None:
        if isinstance(message, AtStake):
            at_stake[:] = message.tasks
        else:
            found[message.task] = message.value

    while waiting := tuple((n, one) for n, one in enumerate(tries) if n not in found):
        at_stake[:] = [waiting[0][0]]
        opening = Limits(Phase(f"opening device `{device_id}`", OPEN_S))
        try:
            run_job(job, (device_id, waiting, limit_s), returns=NoneType, limits=opening, on_task=hear)
        except MeasureError as error:
            for number in at_stake:
                found.setdefault(number, error)
    return [found[number] for number in range(len(tries))]
