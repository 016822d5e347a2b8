"""`kernelcast measure`: what kernels cost, by running them in a process of their own."""

from __future__ import annotations

import argparse

from model.engine import Forecast, Problem
from model.errors import KernelcastError, UnknownDevice
from profiler.measure import measure
from profiler.measurement import Measurement, MeasureRequest
from profiler.store import StoreError
from server.cli import tables
from server.cli.answers import (
    Answer,
    error_answer,
    forecast_error_answer,
    measurement_answer,
    prediction_answer,
)
from server.cli.batches import answer_batch
from server.cli.device_choice import Devices
from server.cli.forecasts import Forecaster, Found, UnansweredError
from server.cli.requests import Request, requests_of
from server.cli.status import ANSWERED, SOME_FAILED, WrongCallError
from server.cli.streams import warn, write_json
from server.cli.terminal import progress_bar


def run(arguments: argparse.Namespace) -> int:
    """Measure the launches of the files, or of the batch, one after the other."""
    if arguments.batch is None and not arguments.files:
        raise WrongCallError("no FILE and no --batch: say what to measure")
    devices = Devices()
    if arguments.device:
        try:
            devices.to_run_on(arguments.device)
        except UnknownDevice as error:
            raise WrongCallError(error.message) from None
    run_one = _Runs(devices, arguments.budget_s, arguments.repeat)
    if arguments.batch is not None:
        return answer_batch(arguments, run_one.answer)
    is_json = arguments.format == "json"
    return max((run_one.as_json if is_json else run_one.as_text)(request) for request in requests_of(arguments))


class _Runs:
    """Measures, and keeps what it measured for editors to show."""

    def __init__(self, devices: Devices, budget_s: float, repeats: int | None) -> None:
        self._devices = devices
        self._forecaster = Forecaster(devices.to_run_on)
        self._budget_s = budget_s
        self._repeats = repeats

    def answer(self, request: Request) -> Answer:
        """One line of a batch. Raises `KernelcastError`."""
        found, forecast = self._forecaster.forecast_one(request)
        return self._measured_answer(request, found, forecast)

    def as_json(self, request: Request) -> int:
        status = ANSWERED
        try:
            found = self._forecaster.forecast(request)
        except KernelcastError as error:
            write_json(error_answer(request, error))
            return SOME_FAILED
        for forecast in found.forecasts:
            answer = self._measured_answer(request, found, forecast)
            status = SOME_FAILED if "error" in answer else status
            write_json(answer)
        return status

    def as_text(self, request: Request) -> int:
        try:
            found = self._forecaster.forecast(request)
        except KernelcastError as error:
            tables.complain(request.file, error)
            return SOME_FAILED
        tables.show_problems(request.file, found)
        outcomes = [self._outcome(request, found, forecast) for forecast in found.forecasts]
        tables.show_measurements(request.file, found.device, outcomes)
        return SOME_FAILED if any(outcome.measurement is None for outcome in outcomes) else ANSWERED

    def _measured_answer(self, request: Request, found: Found, forecast: Forecast) -> Answer:
        outcome = self._outcome(request, found, forecast)
        if outcome.measurement is not None:
            return measurement_answer(request, found, forecast, outcome.measurement)
        if outcome.error is not None and forecast.launch is not None:
            return forecast_error_answer(request, forecast, outcome.error)
        return prediction_answer(request, found, forecast)

    def _outcome(self, request: Request, found: Found, forecast: Forecast) -> tables.Outcome:
        if forecast.launch is None:
            problem = forecast.problem or Problem("launch", "no launch is known")
            return tables.Outcome(forecast, error=UnansweredError(problem))
        order = MeasureRequest(
            source=found.text,
            path=str(request.file.absolute()),
            kernel=forecast.kernel,
            launch=forecast.launch,
            device_id=found.device.id,
            budget_s=self._budget_s,
            repeats=self._repeats,
        )
        try:
            with progress_bar(forecast.kernel.name) as on_progress:
                measured = measure(order, on_progress=on_progress)
        except KernelcastError as error:
            return tables.Outcome(forecast, error=error)
        self._keep(request, forecast, measured)
        return tables.Outcome(forecast, measured)

    def _keep(self, request: Request, forecast: Forecast, measured: Measurement) -> None:
        predicted_us = forecast.prediction.runtime_us.p50 if forecast.prediction else None
        try:
            if self._devices.store is not None:
                self._devices.store.add_measurement(measured, predicted_us, path=request.file)
        except StoreError as error:
            warn(f"the measurement is not kept: {error.message}")
