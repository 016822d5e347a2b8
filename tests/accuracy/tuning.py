"""How far what `kernelcast tune` finds is from the best there is, for kernels with 50 to 500 candidates each.

    .venv/bin/python tests/accuracy/tuning.py --store times.jsonl --devices pocl,intel-cpu --minutes 120
    .venv/bin/python tests/accuracy/tuning.py --store times.jsonl --table --design   # while the rule is worked on
    .venv/bin/python tests/accuracy/tuning.py --store times.jsonl --table --kernel-tuner VENV/bin/python

Every candidate of the kernels in `tuning/` is measured once on each device, in turns with the launch as it is, and the
fastest of them once more for longer, all in turns: of a hundred short measurements the least is mostly one that erred
to the low side. A run that was stopped goes on where it stopped. The search is then replayed from these times: the code
of `server.tuning` decides what to measure, and the store answers. Beside it stand a random choice of as many
candidates, and Kernel Tuner with as many evaluations, in its simulation mode and in an interpreter of its own.

The rule of what to measure is chosen on the kernels in `tuning/design/` alone; only the others are reported.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from tuning_replay import Subject, replayed

from model.errors import KernelcastError
from model.launch.tuning import NO_TUNING
from profiler.devices import find_device
from profiler.measure import MeasureLimits
from profiler.measurement import MeasureRequest
from profiler.side_by_side import measure_side_by_side
from profiler.turns import Stopping
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.requests import Request
from server.tuning.search import Candidate, Search, search

KERNELS = Path(__file__).resolve().parent / "tuning"
DESIGN = "design"
LIMITS = MeasureLimits(open_s=60.0, build_s=60.0, first_run_s=20.0)
# Candidates of these write other partial results, or round too much otherwise: that makes none of them wrong.
WRITE_OTHERS = frozenset(
    {
        "dot_in_groups",
        "highest_in_groups",
        "rows_times_vector",
        "running_sums",
        "strength_of_waves",
        "sums_of_columns",
    }
)
AT_ONCE = 25  # candidates in turns with the launch as it is: what is stopped costs no more than these
FINALISTS = 12  # of a kernel's candidates, measured once more
FINAL_BUDGETS = 4  # times the seconds of a first measurement
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A kernel whose candidates are measured, and whether the rule may be chosen on it."""

    file: Path
    kernel: str
    is_design: bool


def main() -> int:
    arguments = _arguments()
    console = Console(width=130)
    places = [one for one in _places() if not arguments.kernels or one.kernel in arguments.kernels]
    if arguments.design:
        places = [one for one in places if one.is_design]
    rows = _kept(arguments.store)
    try:
        if not arguments.table:
            until = time.monotonic() + 60 * arguments.minutes
            for device in arguments.devices:
                _measure(device, places, rows, arguments, until, console)
        for device in arguments.devices:
            subjects = [s for place in places if (s := _subject(device, place, rows, arguments)) is not None]
            console.print(f"[bold]{device}[/]", highlight=False)
            for is_design in (True, False):
                own = [one for one in subjects if one.is_design is is_design]
                if own:
                    console.print(replayed(own, arguments.kernel_tuner, arguments.each), highlight=False, markup=False)
    except KernelcastError as error:
        console.print(f"[red]{error.message}[/]", highlight=False)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="JSON lines with what was measured")
    parser.add_argument("--devices", type=lambda text: text.split(","), default=["pocl", "intel-cpu"])
    parser.add_argument("--minutes", type=float, default=60.0, help="of measuring, for all of it")
    parser.add_argument("--budget-s", type=float, default=0.2, help="seconds of timed runs for each candidate")
    parser.add_argument("--kernels", nargs="*", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--design", action="store_true", help="only the kernels that the rule may be chosen on")
    parser.add_argument("--analytic-only", action="store_true", help="predict by the analytical model alone")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("--each", action="store_true", help="a line for each kernel, too")
    parser.add_argument("--kernel-tuner", metavar="PYTHON", help="an interpreter that has kernel_tuner")
    return parser.parse_args()


def _places() -> Iterator[Place]:
    for file in sorted(KERNELS.rglob("*.cl")):
        for line in file.read_text("utf-8").splitlines():
            if line.startswith("__kernel void "):
                yield Place(file, line.removeprefix("__kernel void ").partition("(")[0], file.parent.name == DESIGN)


def _kept(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def space_of(device_id: str, place: Place, *, analytic_only: bool) -> Search:
    """Return the candidates of a kernel with today's predictions; nothing that was measured of it counts."""
    device = find_device(Devices().here, device_id)
    sources = sources_of(StoreCache(), analytic_only=analytic_only, ignore_measurements=True)
    forecaster = Forecaster(lambda _wanted: device, sources)
    request = Request(place.file, place.kernel, device=device_id)
    found = forecaster.forecast(request)
    return search(forecaster, request, found, found.forecasts[0], NO_TUNING)


def _measure(
    device: str, places: Sequence[Place], rows: list[Row], arguments: argparse.Namespace, until: float, console: Console
) -> None:
    """Measure what is missing, and add it to `rows` and to the store. A kernel that was edited is measured anew."""
    arguments.store.parent.mkdir(parents=True, exist_ok=True)
    with arguments.store.open("a", encoding="utf-8") as out:
        for place in places:
            if time.monotonic() > until:
                return
            space = space_of(device, place, analytic_only=True)
            source = _source(place)
            known = {_key(row) for row in rows}
            missing = [one for one in space.candidates if (device, place.kernel, source, _words(one)) not in known]
            began = time.monotonic()

            def keep(made: Sequence[Row]) -> None:
                out.writelines(json.dumps(row) + "\n" for row in made)
                out.flush()
                rows.extend(made)

            for at in range(0, len(missing), AT_ONCE):
                if time.monotonic() > until:
                    return
                chunk = missing[at : at + AT_ONCE]
                made = list(_rows(device, place, source, space, chunk, arguments.budget_s))
                keep(made)
                each_s = (time.monotonic() - began) / (at + len(chunk))
                failed = sum("error" in row for row in made)
                text = f"  {device} {place.kernel}: {at + len(chunk)} of {len(missing)}, {each_s:.2f} s each"
                console.print(
                    text + (f", {failed} failed: {made[-1].get('error', '')}" if failed else ""), markup=False
                )
            if finalists := _finalists(space, _of_place(device, place, rows)):
                budget_s = FINAL_BUDGETS * arguments.budget_s
                keep([{**row, "final": True} for row in _rows(device, place, source, space, finalists, budget_s)])


def _finalists(space: Search, own: Sequence[Row]) -> list[Candidate]:
    """Return the candidates that were the fastest, for a longer measurement; none if it is done."""
    if any("final" in row for row in own):
        return []
    ratios = {row["words"]: median(row["ratios"]) for row in own if row.get("ratios")}
    ranked = sorted((ratios[words], at) for at, one in enumerate(space.candidates) if (words := _words(one)) in ratios)
    return [space.candidates[at] for _, at in ranked[:FINALISTS]]


def _rows(
    device: str, place: Place, source: str, space: Search, chunk: Sequence[Candidate], budget_s: float
) -> Iterator[Row]:
    versions = [space.baseline, *chunk]
    requests = []
    for one in versions:
        text, kernel = one.forecast.compiled_from(space.found.text)
        requests.append(MeasureRequest(text, str(place.file), kernel, one.launch, device))
    load = os.getloadavg()[0]
    stopping = Stopping(drops_slower=False)
    side = measure_side_by_side(requests, budget_s=budget_s * len(requests), stopping=stopping, limits=LIMITS)
    base = side.versions[0]
    for number, one in enumerate(versions):
        version = side.versions[number]
        row: Row = {"device": device, "kernel": place.kernel, "source": source, "words": _words(one), "load": load}
        error = base.error or version.error
        if error is not None:
            yield {**row, "error": f"{error.code}: {error.message[:200]}"}
            continue
        pairs = zip(version.turns_us, base.turns_us, strict=False)
        within = version.difference.within(relative=1e-4) if version.difference is not None else None
        yield {**row, "us": version.median_us, "ratios": [own / other for own, other in pairs], "equal": within}


def _words(one: Candidate) -> str:
    return " ".join(one.change.words)


def _source(place: Place) -> str:
    return hashlib.sha256(place.file.read_bytes()).hexdigest()[:16]


def _of_place(device: str, place: Place, rows: Sequence[Row]) -> list[Row]:
    source = _source(place)
    return [row for row in rows if (row["device"], row["kernel"], row["source"]) == (device, place.kernel, source)]


def _key(row: Row) -> tuple[str, str, str, str]:
    return row["device"], row["kernel"], row["source"], row["words"]


def _subject(device: str, place: Place, rows: Sequence[Row], arguments: argparse.Namespace) -> Subject | None:
    """Return a kernel whose candidates were all measured; None if some are missing.

    A time is its ratio to that of the launch as it is, turn by turn: what slowed both down does not count.
    """
    own = _of_place(device, place, rows)
    if not own:
        return None
    space = space_of(device, place, analytic_only=arguments.analytic_only)
    by_words: dict[str, list[Row]] = defaultdict(list)
    for row in own:
        by_words[row["words"]].append(row)
    bases = [row["us"] for row in by_words[""] if "us" in row]
    if not bases or any(_words(one) not in by_words for one in space.candidates):
        return None
    ratios = []
    for one in space.candidates:
        row = by_words[_words(one)][-1]
        is_right = "ratios" in row and (row["equal"] is not False or place.kernel in WRITE_OTHERS)
        ratios.append(tuple(row["ratios"]) if is_right else ())
    wrong = sum(row.get("equal") is False for row in own)
    if wrong and place.kernel not in WRITE_OTHERS:
        print(f"{place.kernel}: {wrong} candidates write something else", file=sys.stderr)
    return Subject(place.kernel, place.is_design, space, median(bases), tuple(ratios))


if __name__ == "__main__":
    raise SystemExit(main())
