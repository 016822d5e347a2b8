"""The track record of each advice code: its fixes, applied to kernels of the corpus and measured before and after.

For each kernel: predict every fix, then measure the kernel and its edited versions in turns, in one process, and
compare all outputs. Edits that are predicted to gain enough to be shown are measured, of the others a sample
(`--below`), by which recall is known. Kernels come from the generator and, with `--packages FOLDER`, in turns with
kernels of real packages, whose sources are downloaded into that folder once. Rows go to a file of JSON lines, where a
run that was stopped goes on; the table is made of all rows there.

    .venv/bin/python tests/accuracy/fixes.py --device pocl --minutes 30 --kernels 1000
    .venv/bin/python tests/accuracy/fixes.py --packages /tmp/packages --kernels 0    # looks for sources only
    .venv/bin/python tests/accuracy/fixes.py --device pocl --table
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from fix_record import table

from model.device import Device
from model.errors import KernelcastError
from model.faults import contained
from model.launch.annotation import write_annotation
from model.opencl.program import read_program
from profiler.corpus.dataset.reading import launches_of, options_from, read_dataset
from profiler.corpus.facts.sources import SOURCE_COLUMNS, find_sources
from profiler.corpus.generate import kernels
from profiler.corpus.kernel import GENERATOR, CorpusKernel, CorpusLaunch
from profiler.corpus.origins.origin import OriginKind, read_origins
from profiler.devices import find_device
from profiler.measure import MeasureLimits
from profiler.measurement import MeasureRequest
from profiler.side_by_side import measure_side_by_side
from profiler.turns import Stopping
from server.analysis.fix_gains import FileContext, FixPredictor, PredictedFix, best_of
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices
from server.cli.learned import sources_of
from server.text.fixes import ULPS

HERE = Path(__file__).resolve().parent
DATASET = HERE.parents[1] / "profiler" / "corpus" / "data"
FASTEST_US, SLOWEST_US = 30.0, 50_000.0  # predicted; shorter launches are mostly what it costs to launch them
MOST_AT_ONCE = 8  # versions beside the original
LIMITS = MeasureLimits(open_s=60.0, build_s=60.0, first_run_s=10.0)
Row = dict[str, Any]


def main() -> int:
    arguments = _arguments()
    path = arguments.results or HERE / "results" / f"fixes-{arguments.device}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if not arguments.table:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as out:
            for own in _measured(arguments, {row["kernel"] for row in rows}):
                # All of a kernel at once: a run that is stopped leaves no kernel half done.
                out.write("".join(json.dumps(row) + "\n" for row in own))
                out.flush()
                rows += own
    print(table(rows))
    return 1 if any(row.get("wrong") for row in rows) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="pocl", help="id of a device of this machine")
    parser.add_argument("--minutes", type=float, default=30.0, help="for all of it")
    parser.add_argument("--kernels", type=int, default=1000, help="to look at, those of earlier runs included")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 1 << 30), metavar=("FIRST", "END"))
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help="also kernels of packages, kept there")
    parser.add_argument("--budget-s", type=float, default=0.4, help="seconds of timed runs for each version")
    parser.add_argument("--below", type=float, default=0.1, metavar="SHARE", help="of edits that gain less than 5 %%")
    parser.add_argument("--codes", nargs="*", default=[], metavar="CODE", help="only edits of these codes")
    parser.add_argument("--analytic-only", action="store_true", help="by the analytical model alone")
    parser.add_argument("--results", type=Path, metavar="FILE", help="the rows, where a stopped run goes on")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    return parser.parse_args()


def _measured(arguments: argparse.Namespace, done: set[str]) -> Iterator[list[Row]]:
    """Yield the rows of one kernel after the other."""
    device = find_device(Devices().here, arguments.device)
    if device.calibration is None:
        print(f"{device.id} is not calibrated: `kernelcast calibrate {device.id}` first", file=sys.stderr, flush=True)
    sources = sources_of(StoreCache(), analytic_only=arguments.analytic_only, ignore_measurements=True)
    predictor = FixPredictor(sources)
    count, measured = len(done), 0
    wanted = _kernels(arguments)
    began = time.monotonic()  # the first search for packages' sources takes long
    for kernel in wanted:
        minutes = (time.monotonic() - began) / 60
        if minutes > arguments.minutes or count >= arguments.kernels:
            return
        name = _name(kernel)
        if name in done:
            continue
        rows = _rows_of(kernel, name, device, predictor, arguments)
        count, measured = count + 1, measured + len(rows) - 1
        if count % 10 == 0:
            print(f"{minutes:.1f} minutes: {count} kernels, {measured} edits measured", file=sys.stderr, flush=True)
        yield rows


def _name(kernel: CorpusKernel) -> str:
    return kernel.reference if kernel.origin == GENERATOR else f"{kernel.origin}:{kernel.reference}"


def _kernels(arguments: argparse.Namespace) -> Iterator[CorpusKernel]:
    """Return kernels of the generator and of packages in turn."""
    made = kernels(seeds=range(*arguments.seeds))
    real = _package_kernels(arguments.packages) if arguments.packages else []
    return (each for pair in zip_longest(made, real) for each in pair if each is not None)


def _package_kernels(folder: Path) -> list[CorpusKernel]:
    """Return the dataset's kernels of packages, in an order that mixes these.

    Sources of those from PyPI and Debian are looked for; others count if they were restored there before.
    """
    dataset = read_dataset(DATASET)
    names = {one.name for one in read_origins() if one.kind in (OriginKind.PYPI, OriginKind.DEBIAN)}
    every = dataset.kernels.select([*SOURCE_COLUMNS, "group", "in_place"]).to_pylist()
    real = [row for row in every if row["origin"] != GENERATOR]

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    wanted = [row for row in real if row["origin"] in names]
    found = find_sources(wanted, folder, mirrors=None, processes=2, say=say)
    first = {}
    for kernel_id, _, launch in launches_of(dataset):
        first.setdefault(kernel_id, launch)
    known = [
        CorpusKernel(
            id=row["id"],
            origin=row["origin"],
            family=row["family"],
            group=row["group"],
            reference=row["reference"],
            name=row["name"],
            source=found[row["id"]],
            options=options_from(row["options"]),
            launches=(CorpusLaunch(first[row["id"]]),),
        )
        for row in real
        if row["id"] in found and row["id"] in first
    ]
    Random(1).shuffle(known)
    return known


def annotated(kernel: CorpusKernel) -> str:
    """Return the kernel's source with its first launch written above it."""
    program = read_program(kernel.source, options=kernel.options)
    found = program.by_name[kernel.name]
    lines = kernel.source.split("\n")
    at = found.range.start_line
    return "\n".join([*lines[:at], write_annotation(kernel.launches[0].launch, found), *lines[at:]])


def _rows_of(
    kernel: CorpusKernel, name: str, device: Device, predictor: FixPredictor, arguments: argparse.Namespace
) -> list[Row]:
    """Return a row for the kernel, and one for each edit that was measured."""
    looked_at: Row = {"kernel": name, "origin": kernel.origin, "candidates": 0}

    def predicted() -> tuple[PredictedFix, ...]:
        context = FileContext(annotated(kernel), None, device)
        return predictor.all_fixes(context, kernel.name, kernel.launches[0].launch)

    found = contained("predicting edits", predicted)
    if isinstance(found, KernelcastError):
        return [{**looked_at, "error": found.message}]
    found = tuple(each for each in found if not arguments.codes or each.fix.code in arguments.codes)
    looked_at["candidates"] = len(found)
    if not found or not FASTEST_US < found[0].before_us < SLOWEST_US:
        return [looked_at]
    shown = list(best_of(each for each in found if each.is_worth_it))[:MOST_AT_ONCE]
    taken = {(each.fix.code, each.fix.title) for each in shown}
    others = [
        each
        for each in best_of(each for each in found if not each.is_worth_it)
        if Random(f"{name} {each.fix.title}").random() < arguments.below
        and (each.fix.code, each.fix.title) not in taken
    ]
    wanted = [*shown, *others[: MOST_AT_ONCE - len(shown)]]
    if not wanted:
        return [looked_at]
    text = annotated(kernel)
    return [looked_at, *_edit_rows(name, text, wanted, len(shown), device.id, arguments)]


def _edit_rows(
    name: str, text: str, wanted: Sequence[PredictedFix], shown: int, device: str, arguments: argparse.Namespace
) -> Iterator[Row]:
    before = wanted[0].before
    versions = [(text, before), *((each.text, each.after) for each in wanted)]
    requests = [MeasureRequest(t, None, f.kernel, f.launch, device) for t, f in versions if f.launch is not None]
    load = os.getloadavg()[0]
    side = measure_side_by_side(
        requests,
        budget_s=arguments.budget_s * len(requests),
        stopping=Stopping(drops_slower=False),
        limits=LIMITS,
    )
    for number, each in enumerate(wanted, 1):
        version, ratio = side.versions[number], side.ratio(number)
        error = side.versions[0].error or version.error
        row: Row = {
            "kernel": name,
            "code": str(each.fix.code),
            "title": each.fix.title,
            "shown": number <= shown,
            "share": 1.0 if number <= shown else arguments.below,
            "exact": each.fix.is_exact,
            "promise": each.fix.promise,
            "predicted": each.speed_up,
            "analytic": _analytic(each),
            "before_us": side.versions[0].median_us,
            "predicted_us": each.before_us,
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


def _analytic(each: PredictedFix) -> float | None:
    """Return the speed-up that the analytical model alone predicts."""
    was, now = each.before.prediction, each.after.prediction
    if was is None or now is None or not was.analytic_us or not now.analytic_us:
        return None
    return was.analytic_us / now.analytic_us


if __name__ == "__main__":
    raise SystemExit(main())
