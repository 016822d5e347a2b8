"""One row of the demo's table for each launch: what was predicted, what was measured, or why there is no figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from model.device import Device
from model.engine import Engine, Forecast
from model.errors import KernelcastError
from model.launch.launch import Launch
from model.learned.learned import LearnedModel, load_model
from model.observing import Observer
from model.prediction import Prediction
from profiler.measure import measure
from profiler.measurement import Measurement, MeasureRequest
from server.analysis.questions import answered


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
    engine = Engine(asks=model is not None, observer=Observer(runs=True))
    found: list[tuple[Path, Forecast | Row]] = []
    for file in files:
        forecast = engine.forecast(file.read_text(encoding="utf-8"), file, device)
        problems = (*forecast.problems, *forecast.annotation_problems)
        found.extend((file, Row(file.name, failure=f"{problem.code}: {problem.message}")) for problem in problems)
        found.extend((file, _answered(one, model)) for one in forecast.forecasts)
    return found


def _answered(forecast: Forecast, model: LearnedModel | None) -> Forecast:
    if model is None or forecast.question is None:
        return forecast
    (answer,) = model.answer([forecast.question])
    return answered(forecast, answer)


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
