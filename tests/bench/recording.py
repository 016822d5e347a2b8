"""What the OpenCL layer costs a program in C that launches a small kernel 10,000 times, in pairs of runs."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from profiler.recording.layer import layer_library
from tests.profiler.recording.layer.programs import bundled_loader, compile_launcher, loader_environment

LAUNCHES, PAIRS = 10_000, 15
MOST = 1.03  # wanted at most, for a kernel of some ten microseconds and more


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one run: wall clock, processor time of all threads, and that of the thread that enqueues."""

    wall_s: float
    processor_s: float
    thread_s: float


def run(program: Path, items: int, profiled: bool, env: Mapping[str, str]) -> Times:
    words = [str(program), "seconds", str(LAUNCHES), "profiled" if profiled else "plain", str(items)]
    out = subprocess.run(words, env=env, check=True, capture_output=True, text=True, timeout=300).stdout
    return Times(*map(float, out.split()))


def pairs(program: Path, items: int, profiled: bool, env: Mapping[str, str]) -> list[tuple[Times, Times]]:
    """Without and with the layer; which of both comes first alternates."""
    found = []
    for number in range(PAIRS):
        with tempfile.TemporaryDirectory() as folder:
            under = {**env, "OPENCL_LAYERS": str(layer_library()), "KERNELCAST_RECORD_DIR": folder}
            order = (env, under) if number % 2 == 0 else (under, env)
            first, second = (run(program, items, profiled, each) for each in order)
            found.append((first, second) if number % 2 == 0 else (second, first))
    return found


def report_recording(console: Console) -> None:
    loader = bundled_loader()
    if loader is None:
        console.print("PyOpenCL brings no ICD loader here: nothing is recorded.")
        return
    table = Table(
        "Items", "Events", "a launch", "clock: p25", "p50", "p75", "processor: p25", "p50", "p75", "added",
        title=f"{LAUNCHES:,} launches under the OpenCL layer, by {PAIRS} pairs; at most {MOST} wanted from 10 us on",
        title_justify="left",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        program = compile_launcher(loader, Path(folder) / "launcher", "-O2")
        for items in (4096, 65536, 262144):
            for profiled in (False, True):
                found = pairs(program, items, profiled, loader_environment(loader))
                by_clock = statistics.quantiles([after.wall_s / before.wall_s for before, after in found], n=4)
                by_processor = statistics.quantiles([b.processor_s / a.processor_s for a, b in found], n=4)
                # The least of each: processor time is only ever added to, by caches that others have emptied.
                added_s = min(after.thread_s for _, after in found) - min(before.thread_s for before, _ in found)
                table.add_row(
                    f"{items:,}",
                    "timed" if profiled else "-",
                    f"{1e6 / LAUNCHES * statistics.median(before.wall_s for before, _ in found):.1f} us",
                    *(f"{ratio:.3f}" for ratio in (*by_clock, *by_processor)),
                    f"{1e9 / LAUNCHES * added_s:.0f} ns",
                )
    console.print(table)
