"""What `kernelcast tune` shows: candidates by rank, and one line on what came of it."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from server.cli.tables import table_of
from server.cli.terminal import err, listed, out
from server.text.format import factor_words, format_duration_us, format_spread, format_things, shown_name
from server.tuning.result import changes_text, outcome_sentence, results_text
from server.tuning.trial import Tried, Tuned

_PREDICTED_SHOWN = 20  # candidates that were not measured


def show(file: Path, tuned: Tuned) -> None:
    """Print the table and the outcome; reasons why launches were left out go to stderr."""
    device, kernel = tuned.search.found.device, tuned.search.baseline.forecast.kernel
    head = Text.assemble(
        (f"{file}: {kernel.name}", "bold"), f" on {shown_name(device.name)}; tuned: {tuned.search.tuning}"
    )
    out().print(head)
    out().print(_measured(tuned) if tuned.was_measured else _predicted(tuned))
    out().print(outcome_sentence(tuned))
    for name in tuned.search.unused:
        err().print(listed([f"`{name}` is not mentioned in the kernel's source: its values make no difference"]))
    reasons = tuned.search.left_out
    if reasons:
        counts = (f"{format_things(count, 'candidate')} left out: {why}" for why, count in sorted(reasons.items()))
        err().print(listed(counts))
    failed = {one.error.message for one in tuned.tried if one.error is not None and one.error.code != "cancelled"}
    if failed:
        err().print(listed(sorted(failed)))


def _measured(tuned: Tuned) -> Table:
    shown = [each for each in tuned.tried if each.version is not None]
    is_imported = any(one.candidate.imported_us is not None for one in shown)
    table = table_of(
        "#", "Launch", ">Predicted", *_imported_head(is_imported), ">Measured", ">±95 %", ">Gain", "Results"
    )
    for rank, one in enumerate(shown):
        cells = (_predicted_cell(one), *_imported_cell(one, is_imported), *_times(one), results_text(one))
        table.add_row(str(rank + 1), changes_text(one), *cells)
    return table


def _imported_head(is_imported: bool) -> tuple[str, ...]:
    return (">Imported",) if is_imported else ()


def _imported_cell(one: Tried, is_imported: bool) -> tuple[str, ...]:
    time_us = one.candidate.imported_us
    return (format_duration_us(time_us) if time_us is not None else "-",) if is_imported else ()


def _times(one: Tried) -> tuple[str, str, str]:
    version = one.version
    if version is None or version.median_us is None or version.ci95_us is None:
        return "-", "", ""
    gain = _gain_words(1 / one.ratio.ratio) if one.ratio is not None else ""
    spread = format_spread(version.ci95_us[0], version.median_us, version.ci95_us[1])
    return format_duration_us(version.median_us), "dropped" if version.is_dropped else spread, gain


def _predicted(tuned: Tuned) -> Table:
    is_imported = any(one.candidate.imported_us is not None for one in tuned.tried)
    table = table_of("#", "Launch", ">Predicted", *_imported_head(is_imported), ">Gain")
    base = tuned.tried[tuned.baseline]
    for rank, one in enumerate(tuned.tried):
        if rank >= _PREDICTED_SHOWN and one is not base:
            continue
        cells = (_predicted_cell(one), *_imported_cell(one, is_imported), _gain(one, base) if one is not base else "")
        table.add_row(str(rank + 1), changes_text(one), *cells)
    return table


def _gain(one: Tried, base: Tried) -> str:
    """Return the gain by times of one kind, or nothing."""
    was_us, now_us = base.candidate.imported_us, one.candidate.imported_us
    if now_us is None:
        was_us, now_us = base.candidate.predicted_us, one.candidate.predicted_us
    return _gain_words(was_us / now_us) if was_us is not None else ""


def _gain_words(factor: float) -> str:
    """Return `1.08x`, or `2,100x` where hundredths say nothing."""
    return f"{factor:.2f}x" if factor < 100 else f"{factor_words(factor)}x"


def _predicted_cell(one: Tried) -> str:
    return format_duration_us(one.candidate.predicted_us)
