"""Circumstances of a measurement, in few words: the launch's own cost, what was checked, what disturbed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from server.text.format import format_duration_us

if TYPE_CHECKING:
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
