"""Keep the last prediction until a new one is known, so that hints do not vanish or jump while one types.

Kernels that cannot be read for a moment keep their last forecast (`carry_over`): a half-written parameter or an open
comment hides a kernel, often those behind it too. Advice on a kernel that is broken for a moment stays where it was for
the same reason: there is none on code that could only be read in part.

The last answer of a launch stays until it is answered anew (`hold_answers`): each keystroke makes another kernel of the
one that it lies in, of which the learned model knows nothing for a moment, and of which no work-items were run. Hints
would jump to what the analytical model says, or to what is assumed, and back again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from server.documents import Document, Edit
from server.launch_view import Slot
from server.positions import source_offsets, source_range
from server.snapshot import Analysis, slots
from server.text.learned import is_by_the_model

if TYPE_CHECKING:
    from model.forecast import Forecast
    from model.opencl.kernel import Kernel, SourceRange
    from model.prediction import Prediction

Span = tuple[int, int]


def carry_over(before: Analysis | None, now: Analysis) -> Analysis:
    """Return `now` with the hidden kernels of `before`, as long as all that was edited since lies inside kernels.

    An edit elsewhere - a kernel deleted, commented out, moved - means what it says.
    """
    if before is None or before.document.opening != now.document.opening or before.device.id != now.device.id:
        return now
    now = _with_last_advice(before, now)
    edits = now.document.edits[-(now.document.serial - before.document.serial) :]
    lost = Counter(k.name for k in before.forecast.kernels) - Counter(k.name for k in now.forecast.kernels)
    if not lost or now.document.serial == before.document.serial or not _all_inside(before, edits):
        return now
    hidden = _hidden(before, now, lost)
    kernels = sorted((*now.forecast.kernels, *hidden.values()), key=lambda kernel: kernel.range)
    kept = [
        replace(_advised(f, f, before, now), kernel=hidden[f.kernel.range])
        for f in before.forecast.forecasts
        if f.kernel.range in hidden
    ]
    forecasts = sorted((*now.forecast.forecasts, *kept), key=lambda forecast: forecast.kernel.range)
    return replace(now, forecast=replace(now.forecast, kernels=tuple(kernels), forecasts=tuple(forecasts)))


def _hidden(before: Analysis, now: Analysis, lost: Counter[str]) -> dict[SourceRange, Kernel]:
    """Return the kernels of `before` that `now` does not see, where they stand now, by their former range.

    `lost` says how many of each name: `#ifdef`s, or the programs of a host file, may have several of one name.
    """
    seen = {(kernel.name, kernel.name_range) for kernel in now.forecast.kernels}
    found: dict[SourceRange, Kernel] = {}
    for kernel in before.forecast.kernels:
        if lost[kernel.name]:
            moved = _moved(kernel, before, now)
            if (moved.name, moved.name_range) not in seen and _is_still_there(moved, now.document):
                found[kernel.range] = moved
                lost[kernel.name] -= 1
    return found


def _with_last_advice(before: Analysis, now: Analysis) -> Analysis:
    if not any(kernel.has_errors for kernel in now.forecast.kernels):
        return now
    last = {(slot.kernel, slot.launch): f for _, own in slots(before.forecast) for slot, f in own}
    kept = {
        id(f): _advised(f, last[slot.kernel, slot.launch], before, now)
        for kernel, own in slots(now.forecast)
        if kernel.has_errors
        for slot, f in own
        if (slot.kernel, slot.launch) in last
    }
    forecasts = tuple(kept.get(id(f), f) for f in now.forecast.forecasts)
    return replace(now, forecast=replace(now.forecast, forecasts=forecasts))


def _advised(forecast: Forecast, last: Forecast, before: Analysis, now: Analysis) -> Forecast:
    """Return `forecast` with the advice of `last`, moved to the present lines."""
    if forecast.prediction is None or last.prediction is None or not last.prediction.candidate_advice:
        return forecast
    advice = tuple(replace(a, line=_line(a.line, before, now)) for a in last.prediction.candidate_advice)
    return replace(forecast, prediction=replace(forecast.prediction, candidate_advice=advice))


def _line(line: int | None, before: Analysis, now: Analysis) -> int | None:
    starts = before.document.text.feed_starts
    if line is None or line >= len(starts):
        return None
    # The end of its text stays on its line, whether something is typed before it or behind.
    end = starts[line + 1] if line + 1 < len(starts) else len(before.document.text.value)
    text = before.document.text.value[starts[line] : end]
    at = now.document.moved(starts[line] + len(text.rstrip()), before.document.serial)
    return now.document.text.feed_starts.line_at(at)


def _all_inside(before: Analysis, edits: Sequence[Edit]) -> bool:
    spans: list[Span] = [source_offsets(before.document.text, kernel.range) for kernel in before.forecast.kernels]
    for edit in edits:
        if not any(start < edit.start and edit.end <= end for start, end in spans):
            return False
        spans = [(edit.moved(start), edit.moved(end)) for start, end in spans]
    return True


def _moved(kernel: Kernel, before: Analysis, now: Analysis) -> Kernel:
    def place(where: SourceRange) -> SourceRange:
        start, end = source_offsets(before.document.text, where)
        since = before.document.serial
        return source_range(now.document.text, now.document.moved(start, since), now.document.moved(end, since))

    return replace(
        kernel,
        name_range=place(kernel.name_range),
        signature_range=place(kernel.signature_range),
        range=place(kernel.range),
        has_errors=True,
    )


def _is_still_there(kernel: Kernel, document: Document) -> bool:
    start, end = source_offsets(document.text, kernel.name_range)
    return document.text.value[start:end] == kernel.name


def hold_answers(before: Analysis | None, now: Analysis) -> Analysis:
    """Return `now` with the answers of `before` where there is none yet for the same document, device and launch."""
    if before is None or not (now.unanswered or now.unanswered_versions or now.unsampled):
        return now
    if before.document.opening != now.document.opening or before.device.id != now.device.id:
        return now
    shown = {slot: f.prediction for _, own in slots(before.forecast) for slot, f in own}
    held = {}
    for _, own in slots(now.forecast):
        for slot, forecast in own:
            prediction = forecast.prediction
            kept = _held(slot, shown, prediction, now) if prediction is not None else None
            kept = _held_relative(slot, shown, forecast, kept, now)
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


def _held_relative(
    slot: Slot, shown: Mapping[Slot, Prediction | None], forecast: Forecast, kept: Prediction | None, now: Analysis
) -> Prediction | None:
    """Return the prediction with the last one's ratio to a measured version, until that is known anew."""
    last, prediction, launch = shown.get(slot), kept or forecast.prediction, forecast.launch
    if last is None or last.relative is None or prediction is None or launch is None:
        return kept
    if (forecast.kernel.fingerprint, launch.key) not in now.unanswered_versions:
        return kept
    return replace(prediction, relative=last.relative)


def _rests_on_a_sample(prediction: Prediction) -> bool:
    sample = prediction.work.sample
    return prediction.is_held or (sample is not None and sample.stopped is None)
