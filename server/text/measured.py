"""A measurement and the line through several, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from server.text.format import format_count, format_duration_us, format_percent

if TYPE_CHECKING:
    from model.fit import Fit
    from model.prediction import Through
    from profiler.measurement import Measurement

_CHECKED = {
    "guard pages": "nothing out of bounds (guard pages)",
    "oclgrind": "nothing out of bounds (Oclgrind)",
    "canaries": "no store out of bounds (padded buffers)",
}


def circumstances(m: Measurement) -> str:
    """`launch overhead 4.2 µs; nothing out of bounds (guard pages)`; empty where nothing is known."""
    said = []
    if m.launch_overhead_us is not None:
        said.append(f"launch overhead {format_duration_us(m.launch_overhead_us)}")
    if m.checked:
        said.append(_CHECKED.get(m.checked, f"bounds checked by {m.checked}"))
    return "; ".join(said)


def measured_json(m: Measurement) -> dict[str, Any]:
    """Return how long it took, how sure that is, and what was the matter while it ran."""
    return {
        "runtime_us": {"median": m.median_us, "p10": m.p10_us, "p90": m.p90_us, "ci95": list(m.ci95_us)},
        "repeats": m.repeats,
        "batches": m.batches,
        "batch_spread_percent": m.batch_spread_percent,
        "measured_at": m.measured_at,
        "wall_us": m.wall_us,
        "launch_overhead_us": m.launch_overhead_us,
        "checked": m.checked or None,
        "settled": m.settled,
        "disturbed_batches": m.disturbed_batches,
        "outliers": m.outliers,
        "drift_percent": m.drift_percent,
        "other_load_percent": m.other_load_percent,
        "notes": list(m.notes),
    }


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
