"""What a measurement says beside its time, in few words: the launch's own cost, what was checked, what disturbed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from server.words.format import format_duration_us

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
