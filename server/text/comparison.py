"""Prediction and measurement of a launch, one above the other, so that their figures compare at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.text.format import format_duration_us, format_interval, format_percent, missed_factor
from server.text.hint import basis_name, basis_text, error_percent, percent_spread_text
from server.text.layout import LABEL_WIDTH, in_columns, labelled
from server.text.learned import CORRECTED, is_by_the_model, novelty_words
from server.text.measured import circumstances, through_words
from server.text.recorded import program_time
from server.text.versions import interval_words, since_words

if TYPE_CHECKING:
    from model.prediction import Prediction
    from profiler.measurement import Measurement
    from server.launch_view import LaunchView

_NOTES_SHOWN = 2
_HEAD = (" " * LABEL_WIDTH, "time", "80 % range", "from")


def compared(view: LaunchView) -> tuple[str, ...]:
    """Return a headed row for each of the two; nothing where neither is known."""
    prediction, measured = view.forecast.prediction, view.measured or view.stale
    rows = [_HEAD]
    if prediction is not None:
        rows.append(_predicted(prediction, beside_measured=view.measured is not None))
        rows += _analytic(prediction, beside_measured=view.measured is not None)
    if measured is not None:
        figures = format_duration_us(measured.median_us), format_interval(measured.p10_us, measured.p90_us)
        when = f"{measured.measured_at[:16].replace('T', ' ')} UTC"
        rows.append(("Measured", *figures, f"{measured.repeats} runs, {when}"))
    recording = view.forecast.recorded
    if recording is not None and (whence := program_time(recording)):
        rows.append(("In the program", format_duration_us(recording.own_us or 0.0), "", whence))
    if len(rows) == 1:
        return ()
    notes = []
    if prediction is not None and prediction.novelty is not None and is_by_the_model(prediction):
        notes.append(("Model", novelty_words(prediction.novelty)))
    if prediction is not None and _is_own(prediction, beside_measured=view.measured is not None):
        notes += [("Corrected", CORRECTED)] if prediction.is_corrected else []
    if view.stale:
        notes.append(("", f"measured before the kernel or its launch changed ({view.stale.launch})"))
    elif prediction is not None and measured is not None:
        notes.append(("Error", error_words(prediction, measured)))
    if view.measured is not None:
        notes += [("Run", said)] if (said := circumstances(view.measured)) else []
        notes += [("" if place else "But", note) for place, note in enumerate(view.measured.notes[:_NOTES_SHOWN])]
    return (*in_columns(rows), *labelled(notes))


def _predicted(prediction: Prediction, *, beside_measured: bool) -> tuple[str, str, str, str]:
    """Return the prediction's row; beside a measurement it is the model's own, without measurements."""
    through, relative, q = prediction.through, prediction.relative, prediction.runtime_us
    whence = basis_text(prediction)
    if (through is not None or relative is not None) and beside_measured:
        q, whence = prediction.own_us, basis_name(prediction.own.basis)
    elif through is not None:
        whence = ", ".join(filter(None, (through_words(through), percent_spread_text(q))))
    elif relative is not None:
        whence = f"{since_words(relative)} (80 %: {interval_words(relative.ratio)})"
    return "Predicted", format_duration_us(q.p50), format_interval(q.p10, q.p90), whence


def _is_own(prediction: Prediction, *, beside_measured: bool) -> bool:
    """Return whether the row shows what the model says without measurements of this kernel."""
    return (prediction.through is None and prediction.relative is None) or beside_measured


def _analytic(prediction: Prediction, *, beside_measured: bool) -> list[tuple[str, str, str, str]]:
    """Return the row of the analytical model, beside what was learned beyond it."""
    if prediction.analytic_us is None or not _is_own(prediction, beside_measured=beside_measured):
        return []
    if not (is_by_the_model(prediction) or prediction.is_corrected):
        return []
    return [("Analytical", format_duration_us(prediction.analytic_us), "", "analytical model alone, nothing learned")]


def error_words(prediction: Prediction, measurement: Measurement) -> str:
    """Return `the prediction is 23 % too low; repeatability ±1.8 %`; the second bounds what the first can mean."""
    missed = miss_words(prediction, measurement)
    return f"the prediction is {missed}; repeatability ±{format_percent(measurement.batch_spread_percent)}"


def miss_words(prediction: Prediction, measurement: Measurement) -> str:
    """Return `23 % too low`, `3.1x too high`."""
    return missed_factor(error_percent(prediction, measurement) / 100 + 1)
