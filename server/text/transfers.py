"""What a device's calibration found of transfers and calls, in words."""

from __future__ import annotations

from collections.abc import Iterator

from model.device_curves import HostSide
from server.text.format import format_count, format_duration_us, format_mem_bytes

_WORDS = {"write": "writing to the device", "read": "reading from the device", "copy": "copying on the device"}


def transfer_rates(side: HostSide | None) -> Iterator[tuple[str, str]]:
    """Yield names and figures: the cost of enqueueing, and the largest transfer of each kind; nothing if unknown."""
    if side is None:
        return
    yield "enqueueing a command", format_duration_us(side.enqueue_us)
    for kind, words in _WORDS.items():
        for is_pinned, memory in ((False, ""), (True, ", pinned")):
            points = [point for point in side.transfers if point.kind == kind and point.is_pinned is is_pinned]
            if points:
                last = max(points, key=lambda point: point.size_bytes)
                rate = format_count(1e6 * last.size_bytes / last.transfer_us, "B/s")
                yield f"{words}, {format_mem_bytes(last.size_bytes)}{memory}", rate
