"""The line through a kernel's measurements, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from server.text.format import format_count, format_duration_us, format_percent

if TYPE_CHECKING:
    from model.fit import Fit
    from model.prediction import Through

_SEVERAL = 3  # points from which on their distance from the line says something


def fit_sentence(line: Fit) -> str:
    """`4.1 µs + 1.27 x the analytical time, 3.2 % from its 4 measurements`."""
    formula = f"{format_duration_us(line.overhead_us)} + {line.factor:.3g} x the analytical time"
    if len(line.points) < _SEVERAL:
        return formula
    return f"{formula}, {format_percent(100 * line.median_error)} from its {len(line.points)} measurements (median)"


def through_words(through: Through) -> str:
    """`3 measurements of this kernel (64 k to 1 M work-items)`."""
    count = len(through.fit.points)
    measured = "one measurement" if count == 1 else f"{count} measurements"
    least, most = format_count(through.least_items), format_count(through.most_items)
    sizes = least if least == most else f"{least} to {most}"
    return f"{measured} of this kernel ({sizes} work-items)"


def fit_json(line: Fit) -> dict[str, Any]:
    """Return the line: t = overhead_us + factor x the analytical time without the launch floor."""
    return {
        "overhead_us": line.overhead_us,
        "factor": line.factor,
        "points": [{"work_us": p.work_us, "measured_us": p.measured_us} for p in line.points],
        "median_error_percent": 100 * line.median_error,
    }
