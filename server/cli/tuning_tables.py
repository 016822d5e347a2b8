"""What `kernelcast tune` shows: candidates by rank, and one line on what came of it."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from server.cli.tables import table_of
from server.cli.terminal import err, listed, out
from server.text.format import format_duration_us, format_spread, format_things
from server.tuning.result import changes_text, outcome_sentence, results_text
from server.tuning.trial import Tried, Tuned

_PREDICTED_SHOWN = 20  # candidates that were not measured


def show(file: Path, tuned: Tuned) -> None:
    """Print the table and the outcome; reasons why launches were left out go to stderr."""
    device, kernel = tuned.search.found.device, tuned.search.baseline.forecast.kernel
    head = Text.assemble((f"{file}: {kernel.name}", "bold"), f" on {device.name}; tuned: {tuned.search.tuning}")
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
    table = table_of("#", "Launch", ">Predicted", ">Measured", ">±95 %", ">Gain", "Results")
    for rank, one in enumerate(each for each in tuned.tried if each.version is not None):
        table.add_row(str(rank + 1), changes_text(one), _predicted_cell(one), *_times(one), results_text(one))
    return table


def _times(one: Tried) -> tuple[str, str, str]:
    version = one.version
    if version is None or version.median_us is None or version.ci95_us is None:
        return "-", "", ""
    gain = f"{1 / one.ratio.ratio:.2f}x" if one.ratio is not None else ""
    spread = format_spread(version.ci95_us[0], version.median_us, version.ci95_us[1])
    return format_duration_us(version.median_us), "dropped" if version.is_dropped else spread, gain


def _predicted(tuned: Tuned) -> Table:
    table = table_of("#", "Launch", ">Predicted", ">Gain")
    base = tuned.tried[tuned.baseline]
    for rank, one in enumerate(tuned.tried):
        if rank >= _PREDICTED_SHOWN and one is not base:
            continue
        gain = f"{base.candidate.predicted_us / one.candidate.predicted_us:.2f}x" if one is not base else ""
        table.add_row(str(rank + 1), changes_text(one), _predicted_cell(one), gain)
    return table


def _predicted_cell(one: Tried) -> str:
    return format_duration_us(one.candidate.predicted_us)
