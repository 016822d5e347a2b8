"""`kernelcast measure`: run kernels on a device and time them, at one size or at several."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from model.device import Device
from model.errors import KernelcastError, LaunchError, UnknownDevice
from model.forecast import Forecast, Problem
from model.launch.launch import Launch
from model.sizes_to_measure import SizeChoice, sizes_as_wanted, sizes_to_measure
from profiler.measurement import Cancelled
from server.analysis.sources import no_versions, nothing_measured
from server.analysis.store_cache import StoreCache
from server.cli import tables
from server.cli.answers import (
    Answer,
    error_answer,
    forecast_error_answer,
    measurement_answer,
    prediction_answer,
)
from server.cli.batches import answer_batch, one_by_one
from server.cli.cross_validation import Left, left_out
from server.cli.device_choice import Devices
from server.cli.flags import SizesWanted
from server.cli.forecasts import Forecaster, Found
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.requests import Request, requests_of
from server.cli.runs import Runs
from server.text.measured import fit_json


def run(arguments: argparse.Namespace) -> int:
    """Measure the launches of the files, or of the batch, one after the other."""
    if arguments.batch is None and not arguments.files:
        raise WrongCallError("no FILE and no --batch: say what to measure")
    if arguments.batch is not None and arguments.sizes is not None:
        raise WrongCallError("either --sizes or --batch, not both: a batch says each size itself")
    devices = Devices()
    if arguments.device:
        try:
            devices.to_run_on(arguments.device)
        except UnknownDevice as error:
            raise WrongCallError(error.message) from None
    sources = sources_of(
        StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=arguments.ignore_recordings
    )
    sources = replace(sources, runs_of=nothing_measured, versions_of=no_versions)
    forecaster = Forecaster(devices.to_run_on, sources)
    runs = Runs(devices, arguments.budget_s, arguments.repeat)
    command = _Measure(forecaster, runs, arguments.sizes)
    if arguments.batch is not None:
        return answer_batch(arguments, one_by_one(command.answer))
    is_json = arguments.format == "json"
    return max((command.as_json if is_json else command.as_text)(request) for request in requests_of(arguments))


class _Measure:
    """`sizes` is None where each launch is measured as it is."""

    def __init__(self, forecaster: Forecaster, runs: Runs, sizes: SizesWanted | None) -> None:
        self._forecaster = forecaster
        self._runs = runs
        self._sizes = sizes

    def answer(self, request: Request) -> Answer:
        """Return one line of a batch. Raises `KernelcastError`."""
        found, forecast = self._forecaster.forecast_one(request)
        (measured,) = _until_interrupted([Left(self._runs.outcome(request, found, forecast))])
        return _answer(request, found, measured)

    def as_json(self, request: Request) -> int:
        status = ANSWERED
        try:
            found = self._found(request)
        except KernelcastError as error:
            write_json(error_answer(request, error))
            return SOME_FAILED
        for measured in self._measured(request, found):
            answer = _answer(request, found, measured)
            status = SOME_FAILED if "error" in answer else status
            write_json(answer)
        return status

    def as_text(self, request: Request) -> int:
        try:
            found = self._found(request)
        except KernelcastError as error:
            tables.complain(request.file, error)
            return SOME_FAILED
        tables.show_problems(request.file, found)
        measured: list[Left] = []
        try:
            for each in self._measured(request, found):
                measured += [each]
        finally:  # an interrupt takes away what was not measured yet, and nothing else
            if measured:
                tables.show_measurements(request.file, found, measured)
        return SOME_FAILED if any(each.outcome.measurement is None for each in measured) else ANSWERED

    def _found(self, request: Request) -> Found:
        return self._forecaster.forecast(request, self._sizes.launches if self._sizes else ())

    def _measured(self, request: Request, found: Found) -> Iterator[Left]:
        if self._sizes is None:
            for forecast in found.forecasts:
                yield from _until_interrupted([Left(self._runs.outcome(request, found, forecast))])
            return
        for forecasts in self._groups(request, found, self._sizes):
            yield from _until_interrupted(left_out(self._runs.outcomes(request, found, forecasts), found.device))

    def _groups(self, request: Request, found: Found, sizes: SizesWanted) -> Iterator[tuple[Forecast, ...]]:
        """Yield groups of launches that one line may be fitted to.

        A group holds the launches written out for a kernel, or one launch at several sizes.
        """
        if sizes.launches:
            kernels = dict.fromkeys(forecast.kernel.range for forecast in found.forecasts)
            yield from (tuple(f for f in found.forecasts if f.kernel.range == each) for each in kernels)
            return
        for forecast in found.forecasts:
            made = at_sizes(forecast, sizes, found.device, partial(self._forecaster.at, found, forecast))
            if made.problem:
                warn(f"{request.file}: {forecast.kernel.name}: {made.problem}")
            yield made.forecasts


def _until_interrupted(measured: Sequence[Left]) -> Iterator[Left]:
    """Yield what was measured. Raises `KeyboardInterrupt` at the first that was cancelled."""
    for each in measured:
        if isinstance(each.outcome.error, Cancelled):
            raise KeyboardInterrupt
        yield each


def _answer(request: Request, found: Found, measured: Left) -> Answer:
    outcome = measured.outcome
    forecast = outcome.forecast
    if outcome.measurement is not None:
        answer = measurement_answer(request, found, forecast, outcome.measurement)
        return {**answer, "fit": _fit(measured)} if measured.line is not None else answer
    if outcome.error is not None and forecast.launch is not None:
        return forecast_error_answer(request, forecast, outcome.error)
    return prediction_answer(request, found, forecast)


def _fit(measured: Left) -> Answer | None:
    """Return the line through all sizes, and what the others alone would have said of this one."""
    assert measured.line is not None
    return {
        **fit_json(measured.line),
        "left_out_us": measured.left_out_us,
        "left_out_error_percent": measured.left_out_percent,
    }


@dataclass(frozen=True, slots=True)
class Sizes:
    """One launch at several sizes, each with the model's own prediction; `problem` says why there are no others."""

    forecasts: tuple[Forecast, ...]
    problem: str = ""


def at_sizes(
    forecast: Forecast, wanted: SizesWanted, device: Device, at: Callable[[Sequence[Launch]], tuple[Forecast, ...]]
) -> Sizes:
    """Return the launch of a forecast at the sizes that are wanted, each predicted by `at`.

    Where it cannot be scaled, it stands alone; where the device can hold no size, there is a problem in its place.
    """
    if forecast.launch is None or forecast.work is None or forecast.spec is None or wanted.launches:
        return Sizes((forecast,))
    try:
        choice = _choice(forecast, wanted, device)
    except LaunchError as error:
        return Sizes((replace(forecast, launch=None, problem=Problem(error.code, error.message)),))
    return Sizes(at(choice.launches), choice.problem)


def _choice(forecast: Forecast, wanted: SizesWanted, device: Device) -> SizeChoice:
    assert forecast.launch is not None
    assert forecast.work is not None
    assert forecast.spec is not None
    what = (forecast.kernel, forecast.work, forecast.spec, forecast.launch, device)
    if not wanted.factors and not wanted.work_items:
        return sizes_to_measure(*what)
    return sizes_as_wanted(*what, factors=wanted.factors, work_items=wanted.work_items)
