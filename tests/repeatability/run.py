"""`make repeatability`: measure the project's own kernels twice, ten minutes apart, and compare.

Each measurement has a process of its own. Says how far the second median lies from the first, how often the first
interval holds it, and what else the machine was doing. On a quiet machine (others use less than 5 % of it) the exit
status is 1 if the median difference is 3 % or more, or if less than 90 % are covered; on a busy one nothing is judged.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from model.errors import KernelcastError
from profiler.devices import discover, find_device
from profiler.measure import measure
from profiler.measurement import MeasureError, Measurement, MeasureRequest
from tests.repeatability.kernels import requests
from tests.repeatability.pairs import Pair, as_json, figures
from tests.repeatability.report import print_report

HERE = Path(__file__).resolve().parent


class Passes:
    """Owns what was measured so far: of each launch, when and what."""

    def __init__(self, orders: list[MeasureRequest], apart_s: float) -> None:
        self._orders = orders
        self._apart_s = apart_s
        self.measured: dict[int, list[tuple[float, Measurement]]] = defaultdict(list)
        self.failures: dict[str, str] = {}

    def run(self, progress: Progress) -> None:
        """Measure every launch once more, each no sooner than is due."""
        task = progress.add_task("", total=len(self._orders))
        for at, order in enumerate(self._orders):
            name = order.kernel.name
            progress.update(task, description=name, completed=at)
            if name in self.failures:
                continue
            if self.measured[at]:
                began, _ = self.measured[at][-1]
                time.sleep(max(0.0, began + self._apart_s - time.monotonic()))
            began = time.monotonic()
            try:
                self.measured[at].append((began, measure(order)))
            except MeasureError as error:
                self.failures[name] = f"{error.code}: {error.message}"
        progress.remove_task(task)

    @property
    def pairs(self) -> list[Pair]:
        return [
            Pair(first, second, (later - earlier) / 60)
            for found in self.measured.values()
            for (earlier, first), (later, second) in pairwise(found)
        ]


def main() -> int:
    arguments = _arguments()
    console = Console() if sys.stdout.isatty() else Console(width=150)
    try:
        device = find_device(discover(), arguments.device)
    except KernelcastError as error:
        console.print(f"[red]{arguments.device}:[/] {error.message}")
        return 1
    passes = Passes(requests(device, arguments.kernels, arguments.budget_s), 60 * arguments.minutes)
    columns = (BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for _ in range(arguments.passes):
            passes.run(progress)
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept = arguments.out / f"{device.id}.json"
    kept.write_text(json.dumps(as_json(passes.pairs, passes.failures), indent=1), encoding="utf-8")
    if not passes.pairs:
        console.print(f"[red]nothing was measured twice:[/] {passes.failures}")
        return 1
    found = figures(passes.pairs)
    print_report(console, device, passes.pairs, passes.failures)
    console.print(f"kept in {kept}")
    return 1 if passes.failures or (found.is_quiet and not found.meets_the_bar) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="pocl", help="id of the device, see `kernelcast devices`")
    parser.add_argument("--minutes", type=float, default=10.0, help="from a launch's measurement to its next one")
    parser.add_argument("--passes", type=int, default=2, help="how often each launch is measured")
    parser.add_argument("--kernels", type=int, default=40, help="how many of our own kernels")
    parser.add_argument("--budget-s", type=float, default=5.0, help="seconds of timed runs for each measurement")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the JSON file")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
