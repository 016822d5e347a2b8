"""From an analysed launch to the question that the learned model is asked; the same in training and in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model.account import Times
from model.analytic.launch_times import launch_times
from model.assumptions import assumptions_of, doubt_of
from model.compiled import CompiledFacts
from model.device import Device, DeviceType
from model.launch.launch import Launch
from model.learned.device_facts import device_facts
from model.learned.launch_facts import launch_facts
from model.learned.question import Question, analytic_facts
from model.opencl.normalise import identity
from model.prediction import Prediction, Quantiles
from model.predictor import own_margins
from model.work.work import Work
from model.work.work_counts import WorkCounts


def covers(device: Device) -> bool:
    """Whether the model was trained on devices of this type; for the others the analytical model answers alone."""
    return device.type is DeviceType.CPU


def no_lessons(_device: Device) -> bool:
    """Return False: no measurements correct the analytical model on any device."""
    return False


def question_of(
    work: Work,
    counts: WorkCounts,
    launch: Launch,
    device: Device,
    tokens: Sequence[str],
    compiled: CompiledFacts | None = None,
    times: Times | None = None,
) -> Question:
    """Return the model input of a launch.

    `counts` are `work.count(launch)`, `times` the analytical model's on `device`: if given, they are not computed
    again. `tokens` are the kernel's normalised ones (`model.opencl.normalise`).
    """
    times = times or launch_times(counts, device)
    facts = launch_facts(work, counts, launch)
    return Question(
        kernel=identity(tokens),
        tokens=tuple(tokens),
        launch_facts=facts,
        analytic_facts=analytic_facts(times),
        device_facts=device_facts(device),
        compiled_facts=_of_code(compiled, facts) if compiled is not None else None,
        total_us=times.total_us,
        least_us=times.floor_us,
        doubt=doubt_of(assumptions_of(work, counts, launch)),
        device_id=device.id,
        analytic_alone=None if covers(device) else _analytic_quantiles(times, device),
    )


def _analytic_quantiles(times: Times, device: Device) -> Quantiles:
    middle_us, margins = times.bounded_us, own_margins(device)
    return Quantiles(middle_us * margins.below, middle_us, middle_us * margins.above)


def with_compiled(question: Question, compiled: CompiledFacts | None) -> Question:
    """Return the model input with what the compiler made of the kernel."""
    if compiled is None:
        return question
    return replace(question, compiled_facts=_of_code(compiled, question.launch_facts))


def _of_code(compiled: CompiledFacts, launch: tuple[float, ...]) -> tuple[float, ...]:
    # Needs numpy, which takes time to load: most questions are made without.
    from model.learned.compiled_facts import compiled_facts, kernel_code  # noqa: PLC0415

    return compiled_facts(kernel_code(compiled), launch)


def question_about(
    prediction: Prediction, work: Work, launch: Launch, device: Device, tokens: Sequence[str]
) -> Question:
    """Return the question about a launch that the analytical model made `prediction` of, without its code."""
    return question_of(work, prediction.work, launch, device, tokens, times=prediction.analytic_times)
