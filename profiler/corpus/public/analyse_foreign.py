"""Analyse the programs of others where they lie, and keep the numbers (`kept_facts`).

python -c 'from profiler.corpus.public.analyse_foreign import main; main(minutes=9)'

One program takes half a minute, all of them about an hour; what was done is kept, so that a later call goes on. Rows of
devices that had no profile are done again once they have one. After a change of the analysis or the analytical model
remove the file, or name the rows' families in `again`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

from model.analytic.launch_times import launch_times
from model.known_devices import find_builtin_by_name
from model.learned.gpu_facts import GPU_FACT_NAMES, gpu_facts
from model.learned.question import ANALYTIC_FACT_NAMES, analytic_facts
from profiler.corpus.public.facts import counted_launch
from profiler.corpus.public.kept_facts import (
    FILE,
    FOREIGN_FAMILIES,
    is_complete,
    launch_key,
    read_kept_facts,
    write_kept_facts,
)
from profiler.corpus.public.row import PublicRow
from profiler.corpus.public.table import read_rows

_WRITE_EVERY_S = 120.0


def main(minutes: float = math.inf, again: Sequence[str] = ()) -> None:
    """Print how many rows are still to be done. Raises Unreachable where the sources cannot be had."""
    print(f"{update(read_rows(), minutes=minutes, again=again)} rows are still to be analysed")


def update(
    rows: Sequence[PublicRow], *, minutes: float = math.inf, path: Path = FILE, again: Sequence[str] = ()
) -> int:
    """Analyse rows that have no facts yet, program by program, and return how many are left when time is over."""
    end = time.monotonic() + 60 * minutes
    kept = {key: facts for key, facts in read_kept_facts(path).items() if key[1] not in again}
    pending = [row for row in rows if row.family in FOREIGN_FAMILIES and _is_pending(row, kept.get(launch_key(row)))]
    pending.sort(key=lambda row: (row.family, _program(row), row.settings))
    written = time.monotonic()
    done = 0
    for row in pending:
        if time.monotonic() > end:
            break
        kept[launch_key(row)] = _facts(row)
        done += 1
        if time.monotonic() - written > _WRITE_EVERY_S:
            write_kept_facts(kept, path)
            written = time.monotonic()
    if done:
        write_kept_facts(kept, path)
    return len(pending) - done


def _is_pending(row: PublicRow, facts: tuple[float, ...] | None) -> bool:
    return facts is None or (not is_complete(facts) and find_builtin_by_name(row.device) is not None)


def _program(row: PublicRow) -> tuple[int, int, int]:
    """Return what decides the program's text: rows of one program come one after the other."""
    known = {name: int(value) for name, value in row.settings}
    return known["mode"], known["vector"], known["group"]


def _facts(row: PublicRow) -> tuple[float, ...]:
    """In the order of KEPT_NAMES."""
    counted, device = counted_launch(row), find_builtin_by_name(row.device)
    if device is None:
        return (*counted.facts, *(math.nan for _ in (*ANALYTIC_FACT_NAMES, *GPU_FACT_NAMES, "least_us")))
    times = launch_times(counted.counts, device)
    return (*counted.facts, *analytic_facts(times), *gpu_facts(counted.counts, device), times.floor_us)
