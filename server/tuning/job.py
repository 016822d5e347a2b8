"""The whole search for an editor, in a process of its own: it may load the learned model, and be ended at any moment.

Nothing is kept or written here: a search that is cancelled leaves the buffer and the store unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from model.errors import LaunchError
from model.launch.config import load_config
from model.launch.launch import Launch, Origin
from model.launch.tuning import NO_TUNING
from profiler.measure import MeasureLimits
from profiler.measurement import Measurement
from profiler.store import StoredMeasurement
from server.analysis.sources import nothing_measured
from server.analysis.store_cache import StoreCache
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.requests import Request
from server.device_work.orders import TuneOrder, TuneOutcome
from server.tuning.result import outcome_sentence, tuned_json
from server.tuning.search import search
from server.tuning.trial import MOST_MEASURED, Tuned, kept, measured
from server.tuning.writing import in_config, in_source

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

PREDICTING = 0.1  # share of the progress


def run(order: TuneOrder, reporter: Reporter) -> TuneOutcome:
    """Search, measure and compare. Raises KernelcastError."""
    reporter.progress(0.0, "predicting candidates")
    sources = replace(sources_of(StoreCache(), analytic_only=False), runs_of=nothing_measured)
    forecaster = Forecaster(lambda _wanted: order.device, sources, texts={order.path: order.text}, options_win=False)
    request = Request(order.path, order.kernel, options=order.options, device=order.device.id)
    found = forecaster.forecast(request)
    own = [each for each in found.forecasts if each.kernel.range == order.kernel_range]
    if order.number >= len(own):
        raise LaunchError("its launch has changed; try again")
    space = search(forecaster, request, found, own[order.number], NO_TUNING)
    if not space.candidates:
        raise LaunchError("there is nothing else to try: no candidate fits this kernel and device")
    reporter.progress(PREDICTING, f"{len(space.candidates)} candidates, measuring the best")
    tuned = measured(
        space,
        most=MOST_MEASURED,
        budget_s=order.budget_s,
        limits=MeasureLimits(first_run_s=order.time_limit_s),
        on_progress=lambda fraction, text: reporter.progress(PREDICTING + (1 - PREDICTING) * fraction, text),
    )
    return _outcome(order, tuned)


def _outcome(order: TuneOrder, tuned: Tuned) -> TuneOutcome:
    winner, base = tuned.winner, tuned.tried[tuned.baseline]
    plain = TuneOutcome(
        tuned_json(tuned, str(order.path)),
        outcome_sentence(tuned),
        winner is not None,
        base.version.measurement if base.version is not None else None,
        tuple(map(_measurement, kept(tuned))),
    )
    if winner is None:
        return plain
    file, text = order.path, order.text
    try:
        config = load_config(order.path.parent) if tuned.search.baseline.launch.origin is Origin.CONFIG else None
        if config is None:
            made = in_source(text, tuned.search.baseline, winner.candidate)
        else:
            made = in_config(config, order.path, tuned.search.baseline, winner.candidate, order.number)
            file, text = config.path, config.text
    except LaunchError as error:
        return replace(plain, problem=error.message)
    return replace(plain, file=file, file_text=text, replacements=tuple(made))


def _measurement(entry: StoredMeasurement) -> tuple[Measurement, Launch, bytes, float | None]:
    assert entry.launch is not None
    return entry.measurement, entry.launch, entry.question, entry.predicted_us
