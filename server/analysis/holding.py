"""The learned model's last answer of a launch stays shown until it has answered anew.

Each keystroke makes another kernel of the one that it lies in, of which the model knows nothing for a moment. Hints
would jump to what the laws say and back again.
"""

from __future__ import annotations

from dataclasses import replace

from model.learned.blend import with_own
from server.snapshot import Analysis, slots
from server.words.learned import is_by_the_model


def hold_answers(before: Analysis | None, now: Analysis) -> Analysis:
    """`now` with the answers of `before` where the model has yet to answer: same document, device and launch."""
    if not now.unanswered or before is None:
        return now
    if before.document.opening != now.document.opening or before.device.id != now.device.id:
        return now
    shown = {slot: f.prediction for _, own in slots(before.forecast) for slot, f in own}
    held = {}
    for _, own in slots(now.forecast):
        for slot, forecast in own:
            last, prediction = shown.get(slot), forecast.prediction
            if slot in now.unanswered and last is not None and prediction is not None and is_by_the_model(last):
                basis = last.through.own_basis if last.through else last.basis
                kept = with_own(prediction, last.own_us, basis, last.novelty)
                held[id(forecast)] = replace(forecast, prediction=kept)
    forecasts = tuple(held.get(id(forecast), forecast) for forecast in now.forecast.forecasts)
    return replace(now, forecast=replace(now.forecast, forecasts=forecasts))
