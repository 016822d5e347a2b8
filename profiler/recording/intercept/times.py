"""Read the table of device times that the Intercept Layer writes when a program ends."""

from __future__ import annotations

import re

_BEGIN = "Device Performance Timing Results for "
_ROW = re.compile(r"^\s*(?P<name>\w+)[^,]*,\s*(?P<calls>\d+),\s*\d+,\s*[\d.]+%,\s*(?P<mean_ns>\d+),\s*\d+,\s*\d+$")


def device_times(text: str) -> dict[str, tuple[int, float]]:
    """Return calls and mean time [us] of each kernel, by its name without the sizes that may follow it."""
    found: dict[str, tuple[int, float]] = {}
    _, _, table = text.partition(_BEGIN)
    for line in table.splitlines():
        row = _ROW.match(line)
        if row is not None:
            calls, mean_us = int(row["calls"]), int(row["mean_ns"]) * 1e-3
            known_calls, known_us = found.get(row["name"], (0, 0.0))
            total = known_calls + calls
            found[row["name"]] = (total, (known_calls * known_us + calls * mean_us) / total)
    return found
