"""What Kernelcast says of measured launches: for the device as its driver reports it, and as it was calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError
from model.learned.asking import covers, question_about
from model.learned.learned import LearnedModel, UnusableModel, load_model
from model.observing import Observer
from model.opencl.normalise import normalised_tokens
from model.opencl.program import read_program
from model.prediction import Prediction
from model.predictor import LateInputs, Predictor
from model.work.analyse import analyse
from profiler.corpus.collection.devices import usable_processors
from profiler.corpus.facts.pool import parallel_map
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.corpus.origins.launching import time_limit

LIMIT_S = 60  # of processor time, for all launches of a kernel
FEWEST_FOR_A_POOL = 16  # kernels; below, the processes would take longer to start


@dataclass(frozen=True, slots=True)
class Estimate:
    """The prediction of one launch on one device: as users see it, and by the analytical model alone."""

    runtime_us: float
    analytic_us: float
    host_us: float | None  # what the host waits; None where its cost is not known


@dataclass(frozen=True, slots=True)
class Predicted:
    """What is predicted before and after the calibration of a device; `after` is None without one."""

    before: Estimate
    after: Estimate | None


Key = tuple[str, str]  # kernel id, launch key


def predict_all(
    kernels: Sequence[CorpusKernel], before: Device, after: Device | None, on_done: Callable[[int], None]
) -> tuple[dict[Key, Predicted], list[str]]:
    """Return the predictions of all launches of `kernels`, and a sentence for each kernel without. Not in a thread."""
    work = partial(_predict_kernel, before=before, after=after)
    processes = usable_processors() if len(kernels) >= FEWEST_FOR_A_POOL else 1
    outcomes: Iterator[_Outcome] = (
        parallel_map(work, kernels, processes, lambda _: None, "predicted") if processes > 1 else map(work, kernels)
    )
    found: dict[Key, Predicted] = {}
    lost: list[str] = []
    for number, outcome in enumerate(outcomes, 1):
        found.update(outcome.predicted)
        lost += [outcome.failure] if outcome.failure else []
        on_done(number)
    return found, lost


@dataclass(frozen=True, slots=True)
class _Outcome:
    predicted: dict[Key, Predicted]
    failure: str = ""


def _predict_kernel(kernel: CorpusKernel, *, before: Device, after: Device | None) -> _Outcome:
    found: dict[Key, Predicted] = {}
    try:
        with time_limit(LIMIT_S):
            for launch in kernel.launches:
                first, *then = _estimates(kernel, launch, [before, *([after] if after else [])])
                found[kernel.id, launch.launch.key] = Predicted(first, then[0] if then else None)
    except (KernelcastError, RecursionError) as error:
        return _Outcome(found, f"{kernel.reference}: {error or type(error).__name__}")
    return _Outcome(found)


def _estimates(kernel: CorpusKernel, of: CorpusLaunch, devices: Sequence[Device]) -> list[Estimate]:
    """Return one for each device. Raises KernelcastError."""
    options = kernel.options.merged(of.launch.options)
    launch = replace(of.launch, options=options)
    program = read_program(kernel.source, Path(kernel.path) if kernel.path else None, options)
    read = program.kernel(kernel.name)
    work = analyse(program, read)
    predictor, observer = Predictor(), Observer(runs=True)
    observer.note_analysis(program, work)
    found = []
    for device in devices:
        analytic, _ = observer.predicted(predictor, program, read, work, launch, device)
        shown: Prediction = analytic
        model = _model() if covers(device) else None
        if model is not None:
            tokens = normalised_tokens(program, kernel.name)
            question = question_about(analytic, work, launch, device, tokens)
            late = LateInputs(question, model.answer([question])[0])
            shown = predictor.with_late_inputs(analytic, work, launch, device, late)
        host = shown.host_runtime_us
        found.append(Estimate(shown.runtime_us.p50, analytic.runtime_us.p50, host.p50 if host else None))
    return found


@cache
def _model() -> LearnedModel | None:
    try:
        return load_model()
    except UnusableModel:
        return None  # then users see the analytical model, too
