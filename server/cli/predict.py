"""`kernelcast predict`: what kernels will cost, without running them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from model.errors import KernelcastError
from model.faults import contained
from model.forecast import Forecast
from model.prediction import Basis
from server.analysis.store_cache import StoreCache
from server.cli import tables
from server.cli.answer_cache import AnswerCache
from server.cli.answers import Answer, error_answer, prediction_answer
from server.cli.batch_processes import Workers
from server.cli.batches import answer_batch
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, write_json
from server.cli.requests import Request, requests_of


def run(arguments: argparse.Namespace) -> int:
    """Predict for the files, or for the batch."""
    devices = Devices()
    check_devices(devices.to_predict_for, arguments.device)
    sources = sources_of(
        StoreCache(),
        analytic_only=arguments.analytic_only,
        ignore_measurements=arguments.ignore_measurements,
        ignore_recordings=arguments.ignore_recordings,
    )
    forecaster = Forecaster(devices.to_predict_for, sources, measured_too=True)
    if arguments.batch is not None:
        has_store = devices.store is not None
        flags = (has_store, arguments.analytic_only, arguments.ignore_measurements, arguments.ignore_recordings)
        cache = AnswerCache(devices.to_predict_for, flags, is_off=arguments.no_cache)
        return answer_batch(arguments, partial(_each, forecaster, cache), partial(_others, arguments), cache.known)
    if not arguments.files:
        raise WrongCallError("no FILE and no --batch: say what to predict")
    is_json = arguments.format == "json"
    statuses = [(_as_json if is_json else _as_text)(forecaster, request) for request in requests_of(arguments)]
    return max(statuses)


def _each(
    forecaster: Forecaster, cache: AnswerCache, requests: Sequence[Request]
) -> Sequence[Answer | KernelcastError]:
    answers: list[Answer | KernelcastError] = []
    keys = [cache.key(request) for request in requests]
    for key, request, found in zip(keys, requests, forecaster.forecast_each(requests), strict=True):
        if isinstance(found, KernelcastError):
            answers.append(found)
            continue
        (forecast,) = found.forecasts
        answer = contained("writing an answer", partial(prediction_answer, request, found, forecast))
        answers.append(answer)
        if not isinstance(answer, KernelcastError) and _is_whole(forecast):
            cache.keep(key, request, answer, forecaster.opened(found))
    cache.write()  # now: a process that shares a batch is killed after its last answer
    return answers


def _is_whole(forecast: Forecast) -> bool:
    """Return whether the learned model answered, if it was asked: one that cannot be loaded may be mended."""
    return forecast.prediction is not None and (
        forecast.question is None or forecast.prediction.basis is not Basis.ANALYTIC
    )


def _others(arguments: argparse.Namespace, number: int) -> Workers:
    """Return worker processes that each answer as this call does."""
    call = ["predict", "--batch", "-", "--jobs", "1"]
    call += ["--device", arguments.device] if arguments.device else []
    call += ["--ignore-measurements"] if arguments.ignore_measurements else []
    call += ["--ignore-recordings"] if arguments.ignore_recordings else []
    call += ["--analytic-only"] if arguments.analytic_only else []
    call += ["--no-cache"] if arguments.no_cache else []
    return Workers(call, number)


def _as_json(forecaster: Forecaster, request: Request) -> int:
    try:
        found = forecaster.forecast(request)
    except KernelcastError as error:
        write_json(error_answer(request, error))
        return SOME_FAILED
    answers = [prediction_answer(request, found, forecast) for forecast in found.forecasts]
    for answer in answers:
        write_json(answer)
    return SOME_FAILED if any("error" in answer for answer in answers) else ANSWERED


def _as_text(forecaster: Forecaster, request: Request) -> int:
    try:
        found = forecaster.forecast(request)
    except KernelcastError as error:
        tables.complain(request.file, error)
        return SOME_FAILED
    tables.show_problems(request.file, found)
    tables.show_predictions(request.file, found)
    return SOME_FAILED if any(forecast.prediction is None for forecast in found.forecasts) else ANSWERED
