"""The pairs as a table, and what they say together in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from model.device import Device
from profiler.measurement import Measurement
from tests.repeatability.pairs import COVERED, DIFFERENCE_PERCENT, QUIET_PERCENT, Figures, Pair, figures


def print_report(console: Console, device: Device, pairs: Sequence[Pair], failures: dict[str, str]) -> None:
    table = Table("kernel", "launch", "first us", "its 95 % interval", "second us", "off", "covered", "others", "busy")
    for pair in pairs:
        first, second = pair.first, pair.second
        low, high = first.ci95_us
        others = " / ".join(
            "?" if one.other_load_percent is None else f"{one.other_load_percent:.0f} %" for one in (first, second)
        )
        table.add_row(
            first.kernel,
            first.launch,
            f"{first.median_us:.4g}",
            f"{low:.4g} to {high:.4g}",
            f"{second.median_us:.4g}",
            f"{pair.difference_percent:.1f} %",
            "yes" if pair.is_covered else "no",
            others,
            "yes" if any(is_busy(one) for one in (first, second)) else "",
        )
    console.print(table)
    for name, failure in failures.items():
        console.print(f"[red]{name}[/] was not measured: {failure}")
    console.print(in_words(device.name, figures(pairs)))


def is_busy(measured: Measurement) -> bool:
    """Whether it says that others disturbed too much of it."""
    return any(note.startswith("the machine was busy") for note in measured.notes)


def in_words(device_name: str, found: Figures) -> str:
    """The figures that the bars are about, and under what conditions they were had."""
    others = (
        "unknown"
        if found.median_other_load_percent is None
        else f"{found.median_other_load_percent:.1f} % in the median, {found.highest_other_load_percent:.0f} % at most"
    )
    verdict = "meets the bars" if found.meets_the_bar else "misses the bars"
    if not found.is_quiet:
        verdict = f"not judged: the machine was not quiet (others below {QUIET_PERCENT:g} %)"
    return (
        f"{device_name}: {found.pairs} pairs, at least {found.shortest_minutes:.1f} minutes apart\n"
        f"difference of the medians: {found.median_difference_percent:.2f} % in the median (bar: below "
        f"{DIFFERENCE_PERCENT:g} %), p90 {found.p90_difference_percent:.1f} %\n"
        f"the first interval holds the second median: {found.covered:.0%} (bar: {COVERED:.0%}); "
        f"it reaches {found.median_reach_percent:.1f} % to either side, in the median; "
        f"{found.p90_stretch:.2f} times that would hold {COVERED:.0%}\n"
        f"load average {found.median_load_average:.1f} in the median, {found.highest_load_average:.1f} at most; "
        f"processor time of others: {others}\n"
        f"disturbed batches repeated: {found.disturbed_batches}; intervals that did not get narrow enough: "
        f"{found.unsettled}; measurements with notes: {found.with_notes}\n"
        f"{verdict}"
    )
