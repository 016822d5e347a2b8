"""Measuring for the command line: one device process for the launches of a kernel, and everything kept."""

from __future__ import annotations

from collections.abc import Sequence

from model.embedded.placing import in_host
from model.errors import KernelcastError
from model.forecast import Forecast, Problem
from profiler.measure import measure_all
from profiler.measurement import MeasureError, Measurement, MeasureRequest
from profiler.store import StoredMeasurement, StoreError
from server.analysis.sources import stored
from server.cli.cross_validation import Outcome
from server.cli.device_choice import Devices
from server.cli.forecasts import Found, UnansweredError
from server.cli.output import warn
from server.cli.requests import Request
from server.cli.terminal import cancelled_by_ctrl_c, progress_bar
from server.device_work.verified_launches import with_proofs


class Runs:
    """Measures, and keeps what it measured for editors to show."""

    def __init__(self, devices: Devices, budget_s: float, repeats: int | None) -> None:
        self._devices = devices
        self._budget_s = budget_s
        self._repeats = repeats

    def outcome(self, request: Request, found: Found, forecast: Forecast) -> Outcome:
        (outcome,) = self.outcomes(request, found, [forecast])
        return outcome

    def outcomes(self, request: Request, found: Found, forecasts: Sequence[Forecast]) -> list[Outcome]:
        """Return one for each forecast; those of launches that are not known are errors.

        After Ctrl-C what was measured until then is kept, and the outcomes of the others are `Cancelled`.
        """
        known = [forecast for forecast in forecasts if forecast.launch is not None]
        measured = dict(zip(map(id, known), self._measured(request, found, known), strict=True))
        return [_outcome(forecast, measured.get(id(forecast))) for forecast in forecasts]

    def _measured(
        self, request: Request, found: Found, forecasts: Sequence[Forecast]
    ) -> Sequence[Measurement | MeasureError]:
        orders = [
            MeasureRequest(
                source=source,
                path=str(request.file.absolute()),
                kernel=kernel,
                launch=forecast.launch,
                device_id=found.device.id,
                budget_s=self._budget_s,
                repeats=self._repeats,
            )
            for forecast in forecasts
            if forecast.launch is not None
            for source, kernel in (forecast.compiled_from(found.text),)
        ]
        if not orders:
            return ()
        proved = with_proofs(orders, found.device.driver, self._devices.store)
        try:
            with cancelled_by_ctrl_c() as cancel, progress_bar(orders[0].kernel.name) as on_progress:
                outcomes = measure_all(proved, on_progress=on_progress, cancel=cancel)
        except MeasureError as error:
            return [error] * len(orders)
        self._keep(request, forecasts, outcomes)
        return outcomes

    def _keep(
        self, request: Request, forecasts: Sequence[Forecast], outcomes: Sequence[Measurement | MeasureError]
    ) -> None:
        pairs = zip(forecasts, outcomes, strict=True)
        keep(self._devices, [stored(m, f, request.file) for f, m in pairs if isinstance(m, Measurement)])


def keep(devices: Devices, entries: Sequence[StoredMeasurement]) -> None:
    """Put measurements into the store; where that fails, say so: they are shown all the same."""
    try:
        if devices.store is not None and entries:
            devices.store.add(*entries)
    except StoreError as error:
        what = "the measurement is" if len(entries) == 1 else f"the {len(entries)} measurements are"
        warn(f"{what} not kept: {error.message}")


def _outcome(forecast: Forecast, measured: Measurement | KernelcastError | None) -> Outcome:
    if isinstance(measured, Measurement):
        return Outcome(forecast, measured)
    problem = forecast.problem or Problem("launch", "no launch is known")
    return Outcome(forecast, error=in_host(measured, forecast.home) if measured else UnansweredError(problem))
