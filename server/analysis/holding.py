"""The last answer of a launch stays shown until it is answered anew.

Each keystroke makes another kernel of the one that it lies in, of which the learned model knows nothing for a moment,
and of which no work-items were run. Hints would jump to what the analytical model says, or to what is assumed, and
back again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from server.launch_view import Slot
from server.snapshot import Analysis, slots
from server.text.learned import is_by_the_model

if TYPE_CHECKING:
    from model.prediction import Prediction


def hold_answers(before: Analysis | None, now: Analysis) -> Analysis:
    """`now` with the answers of `before` where there is none yet: same document, device and launch."""
    if before is None or not (now.unanswered or now.unsampled):
        return now
    if before.document.opening != now.document.opening or before.device.id != now.device.id:
        return now
    shown = {slot: f.prediction for _, own in slots(before.forecast) for slot, f in own}
    held = {}
    for _, own in slots(now.forecast):
        for slot, forecast in own:
            prediction = forecast.prediction
            kept = _held(slot, shown, prediction, now) if prediction is not None else None
            if kept is not None:
                held[id(forecast)] = replace(forecast, prediction=kept)
    forecasts = tuple(held.get(id(forecast), forecast) for forecast in now.forecast.forecasts)
    return replace(now, forecast=replace(now.forecast, forecasts=forecasts))


def _held(
    slot: Slot, shown: Mapping[Slot, Prediction | None], prediction: Prediction, now: Analysis
) -> Prediction | None:
    last = shown.get(slot)
    if last is None:
        return None
    if slot in now.unsampled and prediction.work.sample is None and _rests_on_a_sample(last):
        return replace(prediction, learned=last.own, is_held=True)
    if slot in now.unanswered and (is_by_the_model(last) or last.own.by_lessons):
        return replace(prediction, learned=last.own)
    return None


def _rests_on_a_sample(prediction: Prediction) -> bool:
    sample = prediction.work.sample
    return prediction.is_held or (sample is not None and sample.stopped is None)
