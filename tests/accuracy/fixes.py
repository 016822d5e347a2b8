"""The track record of each advice code: its fixes, applied to kernels of the corpus and measured before and after.

For each kernel of the generator: predict every fix, then measure the kernel and its edited versions in turns, in one
process, and compare all outputs. Rows go to a file of JSON lines, where a run that was stopped goes on; the table is
made of all rows there. `--all` also measures a sample of fixes that are predicted to gain nothing.

    .venv/bin/python tests/accuracy/fixes.py --device pocl --minutes 30
    .venv/bin/python tests/accuracy/fixes.py --device pocl --table
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from model.advice.situation import LEAST_GAIN
from model.launch.annotation import write_annotation
from model.opencl.program import read_program
from profiler.corpus.generate import kernels
from profiler.corpus.kernel import CorpusKernel
from profiler.devices import discover, find_device
from profiler.measure import MeasureLimits
from profiler.measurement import MeasureRequest
from profiler.side_by_side import measure_side_by_side
from profiler.turns import Stopping
from server.analysis.fix_gains import FileContext, FixPredictor, PredictedFix, best_of
from server.analysis.store_cache import StoreCache
from server.cli.learned import sources_of
from server.text.fixes import ULPS

HERE = Path(__file__).resolve().parent
FASTEST_US, SLOWEST_US = 30.0, 100_000.0  # predicted; shorter launches are mostly what it costs to launch them
MOST_AT_ONCE = 8  # versions beside the original
LIMITS = MeasureLimits(open_s=60.0, build_s=60.0, first_run_s=20.0)
Row = dict[str, Any]


def main() -> int:
    arguments = _arguments()
    path = arguments.out / f"fixes-{arguments.device}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if not arguments.table:
        done = {row["kernel"] for row in rows}
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as out:
            for row in _measured(arguments, done):
                out.write(json.dumps(row) + "\n")
                out.flush()
                rows.append(row)
    print(table(rows))
    return 1 if any(row.get("wrong") and row["shown"] for row in rows) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="pocl", help="id of a device of this machine")
    parser.add_argument("--minutes", type=float, default=30.0, help="for all of it")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 1 << 30), metavar=("FIRST", "END"))
    parser.add_argument("--budget-s", type=float, default=0.5, help="seconds of timed runs for each version")
    parser.add_argument("--all", type=float, default=0.0, metavar="SHARE", help="of the fixes that gain nothing")
    parser.add_argument("--codes", nargs="*", default=[], metavar="CODE", help="only kernels with fixes of these")
    parser.add_argument("--analytic-only", action="store_true", help="by the analytical model alone")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the rows")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    return parser.parse_args()


def _measured(arguments: argparse.Namespace, done: set[str]) -> Iterator[Row]:
    until = time.monotonic() + 60 * arguments.minutes
    device = find_device(discover(), arguments.device)
    sources = sources_of(StoreCache(), analytic_only=arguments.analytic_only, ignore_measurements=True)
    predictor = FixPredictor(sources)
    draw = random.Random(1)
    for kernel in kernels(seeds=range(*arguments.seeds)):
        if time.monotonic() > until:
            return
        if kernel.reference in done:
            continue
        text = annotated(kernel)
        found = predictor.all_fixes(FileContext(text, None, device), kernel.name, kernel.launches[0].launch)
        if arguments.codes:
            found = tuple(each for each in found if each.fix.code in arguments.codes)
        if not found or not FASTEST_US < found[0].before_us < SLOWEST_US:
            continue
        shown = list(best_of(each for each in found if each.gain >= LEAST_GAIN))[:MOST_AT_ONCE]
        others = [each for each in best_of(found) if each.gain < LEAST_GAIN and draw.random() < arguments.all]
        wanted = [*shown, *others[: MOST_AT_ONCE - len(shown)]]
        if wanted:
            yield from _rows(kernel.reference, text, wanted, len(shown), device.id, arguments.budget_s)


def annotated(kernel: CorpusKernel) -> str:
    """Return the kernel's source with its first launch written above it."""
    program = read_program(kernel.source, options=kernel.options)
    found = program.by_name[kernel.name]
    lines = kernel.source.split("\n")
    at = found.range.start_line
    return "\n".join([*lines[:at], write_annotation(kernel.launches[0].launch, found), *lines[at:]])


def _rows(
    reference: str, text: str, wanted: Sequence[PredictedFix], shown: int, device: str, budget_s: float
) -> Iterator[Row]:
    before = wanted[0].before
    versions = [(text, before), *((each.text, each.after) for each in wanted)]
    requests = [MeasureRequest(t, None, f.kernel, f.launch, device) for t, f in versions if f.launch is not None]
    load = os.getloadavg()[0]
    side = measure_side_by_side(
        requests, budget_s=budget_s * len(requests), stopping=Stopping(drops_slower=False), limits=LIMITS
    )
    for number, each in enumerate(wanted, 1):
        version, ratio = side.versions[number], side.ratio(number)
        error = side.versions[0].error or version.error
        row: Row = {
            "kernel": reference,
            "code": str(each.fix.code),
            "title": each.fix.title,
            "shown": number <= shown,
            "exact": each.fix.is_exact,
            "predicted": each.speed_up,
            "before_us": side.versions[0].median_us,
            "load": load,
        }
        if error is not None or ratio is None:
            yield {**row, "error": f"{error.code}: {error.message}" if error else "too few runs"}
            continue
        difference = version.difference
        within = difference is not None and difference.within(ULPS)
        is_wrong = side.is_repeatable and not within
        yield {
            **row,
            "measured": 1 / ratio.ratio,
            "ci95": [1 / ratio.high, 1 / ratio.low],
            "equal": version.equal,
            "max_ulps": version.max_ulps,
            "relative": difference.max_relative if difference else None,
            # An exact fix that changes anything is wrong; one that gives up precision is taken back by its user.
            "wrong": is_wrong and each.fix.is_exact,
            "beyond": is_wrong,
            "example": difference.example if difference and is_wrong else "",
        }


def table(rows: Sequence[Row]) -> str:
    """Return the track record by code, of the fixes that are shown, then of the others."""
    head = (
        "Code", "Predicted to gain 5 %", "n", "Faster by 5 %", "Median gain", "Median predicted gain", "Error factor",
        "Results beyond 4 ulps", "Wrong",
    )  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"| --- | --- |{' ---: |' * (len(head) - 2)}"]
    groups: dict[tuple[bool, str], list[Row]] = defaultdict(list)
    for row in rows:
        if "measured" in row:
            groups[not row["shown"], row["code"]].append(row)
    for (hidden, code), own in sorted(groups.items()):
        faster = [row for row in own if row["measured"] >= 1 / (1 - LEAST_GAIN)]
        off = median(abs(math.log(row["predicted"] / row["measured"])) for row in own)
        beyond = sum(1 for row in own if row["beyond"])
        wrong = sum(1 for row in own if row["wrong"])
        lines.append(
            f"| `{code}` | {'no' if hidden else 'yes'} | {len(own)} | {100 * len(faster) / len(own):.0f} % "
            f"| {median(row['measured'] for row in own):.2f}x | {median(row['predicted'] for row in own):.2f}x "
            f"| {math.exp(off):.2f} | {beyond} | {wrong} |"
        )
    kernels_of = len({row["kernel"] for row in rows})
    errors = sum("error" in row for row in rows)
    loads = [row["load"] for row in rows]
    lines.append("")
    lines.append(
        f"{kernels_of} kernels, {len(rows)} edits, {errors} that could not be measured; load of the machine "
        f"{min(loads, default=0):.1f} to {max(loads, default=0):.1f}, median {median(loads or [0]):.1f}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
