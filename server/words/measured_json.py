"""A measurement as JSON: the same keys from the command line and from the editor's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from profiler.measurement import Measurement


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
