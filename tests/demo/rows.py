"""One row of the demo's table for each launch: what was predicted, what was measured, or why there is no figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.device import Device
from model.engine import Engine
from model.errors import KernelcastError
from model.forecast import Forecast
from model.launch.launch import Launch
from model.learned.learned import load_model
from model.learned.question import Answer, Question
from model.observing import Observer
from model.prediction import Prediction
from profiler.measure import measure
from profiler.measurement import Measurement, MeasureRequest
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.sources import Sources


@dataclass(frozen=True, slots=True)
class Row:
    """`failure` says why `prediction` or `measurement` is missing."""

    kernel: str
    launch: Launch | None = None
    prediction: Prediction | None = None
    measurement: Measurement | None = None
    failure: str | None = None

    @property
    def error(self) -> float | None:
        """Relative error of the predicted median; above 0 where it was too slow. None unless both are known."""
        if self.prediction is None or self.measurement is None:
            return None
        return self.prediction.runtime_us.p50 / self.measurement.median_us - 1

    @property
    def is_within_2x(self) -> bool:
        return self.error is not None and -0.5 <= self.error <= 1

    @property
    def is_in_interval(self) -> bool:
        """Whether the measured median lies between the predicted p10 and p90."""
        if self.prediction is None or self.measurement is None:
            return False
        return self.prediction.runtime_us.p10 <= self.measurement.median_us <= self.prediction.runtime_us.p90


def predicted(files: list[Path], device: Device) -> list[tuple[Path, Forecast | Row]]:
    """Every launch of every kernel in `files`, in order; in place of what cannot be read, the row that says so.

    By the learned model, as everywhere, but for what was measured before: nothing is known of that here.
    """
    model = load_model()

    def ask(asked: Sequence[tuple[Question, Device]]) -> Sequence[Answer]:
        return model.answer([question for question, _ in asked]) if model is not None else ()

    engine, composer = Engine(asks=model is not None, observer=Observer(runs=True)), Composer()
    found: list[tuple[Path, Forecast | Row]] = []
    for file in files:
        forecast = engine.forecast(file.read_text(encoding="utf-8"), file, device)
        problems = (*forecast.problems, *forecast.annotation_problems)
        found.extend((file, Row(file.name, failure=f"{problem.code}: {problem.message}")) for problem in problems)
        (shown,) = composer.composed([ForecastGroup(forecast.forecasts, device)], Sources(ask))
        found.extend((file, one) for one in shown)
    return found


def measured(found: list[tuple[Path, Forecast | Row]], device: Device, budget_s: float) -> Iterator[Row]:
    """The finished rows, one after the other: `budget_s` of timed runs for each."""
    for file, forecast in found:
        yield forecast if isinstance(forecast, Row) else _measured(file, forecast, device, budget_s)


def _measured(file: Path, forecast: Forecast, device: Device, budget_s: float) -> Row:
    name, problem = forecast.kernel.name, forecast.problem
    if forecast.launch is None or forecast.prediction is None:
        return Row(name, forecast.launch, failure=f"{problem.code}: {problem.message}" if problem else "no prediction")
    request = MeasureRequest(
        source=file.read_text(encoding="utf-8"),
        path=str(file),
        kernel=forecast.kernel,
        launch=forecast.launch,
        device_id=device.id,
        budget_s=budget_s,
    )
    try:
        measurement = measure(request)
    except KernelcastError as error:
        return Row(name, forecast.launch, forecast.prediction, failure=f"{error.code}: {error.message}")
    return Row(name, forecast.launch, forecast.prediction, measurement)
