"""hashcat's benchmark logs -> rows: for each mode the launch that it chose and the time of one kernel, by its events.

Logs of `hashcat -b --benchmark-all -O -w 4` (version 6.2.6+813, CUDA) from its5Q/hashcat-benchmarks. A line says the
speed, the kernel's time and the launch: `Accel` words a work-item slot, times the compute units and `Thr` make the
work-items; `Loops` candidates or rounds each; `Vec` candidates at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from profiler.corpus.public.hashcat import FAMILY, ITERATED_FAMILY, ITERATED_MODES, MODES
from profiler.corpus.public.row import PublicRow, settings

HASH_SOURCE = "its5Q/hashcat-benchmarks (CC0)"
_DEVICE = re.compile(r"^\* Device #1: (.+), \d+/\d+ MB, (\d+)MCU", re.MULTILINE)
_MODE = re.compile(r"^\* Hash-Mode (\d+) \(.*\)(?: \[Iterations: (\d+)\])?\s*$")
_SPEED = re.compile(
    r"^Speed\.#1\.*:\s*([\d.]+) ([kMGT]?)H/s \(([\d.]+)ms\) @ Accel:(\d+) Loops:(\d+) Thr:(\d+) Vec:(\d+)"
)
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
# Candidates a second times the kernel's time must be what a launch tries: else something else is timed.
_LEAST_SHARE, _MOST_SHARE = 0.9, 1.03
_LEAST_FULL = 0.97  # mean over greatest rounds of a launch, where the last launch of a hash has fewer


def hash_rows(folder: Path) -> Iterator[PublicRow]:
    """Rows of all logs below `folder`; of two logs of one device the first counts."""
    seen = set()
    for path in sorted(folder.rglob("*.txt")):
        rows = list(rows_of_log(path.read_text("utf-8", errors="replace")))
        if rows and rows[0].device not in seen:
            seen.add(rows[0].device)
            yield from rows


def rows_of_log(text: str) -> Iterator[PublicRow]:
    """Rows of the first device of one log: modes that are known and whose speed and time agree with the launch."""
    device = _DEVICE.search(text)
    if device is None:
        return
    mode, iterations = -1, 0
    for line in text.splitlines():
        if found := _MODE.match(line):
            mode, iterations = int(found[1]), int(found[2] or 0)
        elif (found := _SPEED.match(line)) and mode in (*MODES, *ITERATED_MODES):
            rate_per_s, runtime_us = float(found[1]) * _UNITS[found[2]], 1e3 * float(found[3])
            accel, loops, group, vector = (int(each) for each in found.groups()[3:])
            items = accel * int(device[2]) * group
            row = _row(mode, iterations, items, loops, group, vector, rate_per_s, runtime_us)
            if row is not None:
                yield PublicRow(row[0], device[1], settings(row[1]), (), runtime_us, None, HASH_SOURCE)


def _row(
    mode: int, iterations: int, items: int, loops: int, group: int, vector: int, rate_per_s: float, runtime_us: float
) -> tuple[str, dict[str, object]] | None:
    """Family and settings; None where speed and time do not fit the launch."""
    is_iterated = mode in ITERATED_MODES
    rounds = float(loops)
    if is_iterated:
        loops = min(loops, iterations)
        rounds = iterations / math.ceil(iterations / loops)  # the mean over a hash's launches
        rate_per_s *= iterations
    share = rate_per_s * 1e-6 * runtime_us / (items * rounds)
    if not _LEAST_SHARE < share < _MOST_SHARE or rounds < _LEAST_FULL * loops:
        return None
    said: dict[str, object] = {"mode": mode, "items": items, "loops": loops, "group": group, "vector": vector}
    return (ITERATED_FAMILY if is_iterated else FAMILY), said
