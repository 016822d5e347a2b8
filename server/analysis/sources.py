"""Knowledge of launches beside their source: measurements, compiled facts, recordings and the learned model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.compiled import CompiledFacts
from model.device import Device
from model.forecast import Forecast
from model.launch.launch import Launch
from model.launch.recorded import RecordedLaunch
from model.learned.asking import no_lessons
from model.learned.lessons import packed
from model.learned.question import Answer, Question
from model.measured import Sample
from model.opencl.kernel import Kernel
from model.throughput.cpu_code import CodeOf, not_compiled
from profiler.measurement import Measurement
from profiler.store import StoredMeasurement, kernel_id


@dataclass(frozen=True, slots=True)
class MeasuredLaunch:
    """A measurement with all sizes and arguments of its launch; None where they were not kept.

    `question` is what the learned model was asked of it, packed; empty where it was not, or was read elsewhere.
    `document` is the URI of the open document with the kernel; empty if it is not known.
    """

    measurement: Measurement
    launch: Launch | None
    question: bytes = b""
    document: str = ""


def stored(measurement: Measurement, forecast: Forecast, path: Path | None) -> StoredMeasurement:
    """Return what the store keeps of a measured forecast of a kernel in the file `path`."""
    predicted_us = forecast.prediction.own_us.p50 if forecast.prediction is not None else None
    question = packed(forecast.question) if forecast.question is not None else b""
    return StoredMeasurement(measurement, predicted_us, kernel_id(path, measurement.kernel), forecast.launch, question)


# Each question with the device that it is about; None where there is no answer, or none yet.
Ask = Callable[[Sequence[tuple[Question, Device]]], Sequence[Answer | None]]
RunsOf = Callable[
    [str, str], Sequence[MeasuredLaunch]
]  # by the kernel's fingerprint and the device's id, the newest first
# By file, the kernel's name and device: what was measured of it, however it looked then, the newest first.
VersionsOf = Callable[[Path | None, str, Device], Sequence[MeasuredLaunch]]
RecordedIn = Callable[[Path | None, Collection[str]], Mapping[str, tuple[RecordedLaunch, ...]]]  # by file and kernels
CompiledOf = Callable[[Kernel, Launch, Device], CompiledFacts | None]


def nothing_measured(_fingerprint: str, _device_id: str) -> Sequence[MeasuredLaunch]:
    return ()


def no_versions(_path: Path | None, _kernel: str, _device: Device) -> Sequence[MeasuredLaunch]:
    return ()


def nothing_recorded(_path: Path | None, _kernels: Collection[str]) -> Mapping[str, tuple[RecordedLaunch, ...]]:
    return {}


def nothing_compiled(_kernel: Kernel, _launch: Launch, _device: Device) -> CompiledFacts | None:
    return None


@dataclass(frozen=True, slots=True)
class Sources:
    """The functions by which a command, an analysis or a report looks up what predictions depend on.

    `ask` is the learned model, None where it is not to be asked. `compiled_of` is what its input tells of the code,
    `code_of` what the analytical model prices. `is_taught`: whether measurements correct answers on a device.
    `recorded` are launches of real programs; `versions_of` are measured versions of a kernel, which an edited one is
    compared with.
    """

    ask: Ask | None = None
    runs_of: RunsOf = nothing_measured
    versions_of: VersionsOf = no_versions
    compiled_of: CompiledOf = nothing_compiled
    code_of: CodeOf = not_compiled
    is_taught: Callable[[Device], bool] = no_lessons
    recorded: RecordedIn = nothing_recorded


def samples_of(
    runs: Iterable[MeasuredLaunch], launch: Launch, device: Device, known: Mapping[str, Launch] | None = None
) -> tuple[Sample, ...]:
    """Return the samples for `launch`: runs under the same build options and driver.

    `known` are launches by their keys.
    """
    found = ((run.measurement, run.launch or (known or {}).get(run.measurement.launch_key)) for run in runs)
    return tuple(
        Sample(was, m.median_us, noise_of(m))
        for m, was in found
        if was is not None and was.options == launch.options and m.driver == device.driver
    )


def noise_of(m: Measurement) -> float:
    """Return half of the median's 95 % interval, as a part of the median."""
    low, high = m.ci95_us
    return (high - low) / 2 / m.median_us if m.median_us > 0 else 0.0
