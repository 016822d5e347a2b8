"""`kernelcast dataset collect`: rows into the store, for as long as there is something to measure."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from model.device import Device
from profiler.corpus.collection.collect import Stop, collect
from profiler.corpus.collection.devices import DEFAULT_DEVICES, corpus_device, usable_processors
from profiler.corpus.collection.folder import work_folder
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.progress import Figures, OnFigures
from profiler.corpus.collection.store import CorpusStore, building
from profiler.corpus.kernel import CorpusDevice
from server.cli.device_choice import Devices
from server.cli.output import ANSWERED, INTERRUPTED, WrongCallError, warn
from server.cli.terminal import cancelled_by_ctrl_c, err, out, progress_bar
from server.text.format import format_duration_us

LINE_EVERY_S = 60.0  # where no terminal shows a bar


def run_collect(arguments: argparse.Namespace) -> int:
    """Collect until nothing is due, the time is up or Ctrl-C; what was measured is kept in any case."""
    deadline_s = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    folder = work_folder(arguments.workdir)
    wanted = _wanted(arguments.devices)
    here = () if arguments.cluster else Devices().here
    known = None if arguments.cluster else [device.id for device in here]
    plan = CollectPlan(
        tuple(corpus_device(name, known) for name in wanted),
        launches=arguments.launches,
        most_launches={name: most for name, most in wanted.items() if most is not None},
        chunk_kernels=arguments.chunk,
        builders=arguments.build_jobs or usable_processors(),
        side_by_side=arguments.side_by_side,
        bad_percent=arguments.disturbed_over,
    )
    if arguments.retry_failed:
        with _store(folder) as store:
            warn(f"{store.forget_failures()} cases that had failed are tried again")
    with cancelled_by_ctrl_c() as pressed, _shown() as on_figures:
        stop = Stop(pressed, deadline_s)
        figures = _collect(arguments.cluster, folder, plan, here, on_figures, stop)
    with _store(folder) as store:
        out().print(outcome_table(store, plan.devices))
    warn(f"{_words(figures)}; all of it is in {folder}")
    return INTERRUPTED if pressed.is_set() else ANSWERED


def _collect(
    where: str | None, folder: Path, plan: CollectPlan, here: Sequence[Device], on_figures: OnFigures, stop: Stop
) -> Figures:
    if where is None:
        used = {device.device_id for device in plan.devices}
        profiles = [device for device in here if device.id in used]
        return collect(folder, plan, profiles=profiles, on_figures=on_figures, cancel=stop)
    from profiler.corpus.cluster.cluster import open_cluster  # noqa: PLC0415 - Dask is an extra, and loads slowly

    with open_cluster(where, plan, stop) as workers:
        profiles = workers.profiles()
        return collect(folder, plan, profiles=profiles, on_figures=on_figures, cancel=stop, workplace=workers)


@contextmanager
def _store(folder: Path) -> Iterator[CorpusStore]:
    store = CorpusStore(folder)
    try:
        yield store
    finally:
        store.close()


def _wanted(text: str | None) -> dict[str, int | None]:
    """Parse `pocl:2,intel-1core`: device names, and how many launches of each kernel. Raises WrongCallError."""
    found: dict[str, int | None] = {}
    for part in text.split(",") if text else DEFAULT_DEVICES:
        name, colon, most = part.strip().partition(":")
        if not name or (colon and not (most.isdecimal() and int(most))):
            raise WrongCallError(f"`{part}` names no device; --devices is written like pocl:2,intel-1core")
        found[name] = int(most) if colon else None
    return found


@contextmanager
def _shown() -> Iterator[OnFigures]:
    """Show a progress bar on a terminal, else a line every minute for logs."""
    if err().is_terminal:
        with progress_bar("Collecting") as on_progress:
            yield lambda figures: on_progress(_share(figures), f"{_words(figures)}, {figures.doing}")
    else:
        yield _lines()


def _lines() -> Callable[[Figures], None]:
    next_s = time.monotonic()

    def tell(figures: Figures) -> None:
        nonlocal next_s
        if time.monotonic() >= next_s:
            next_s = time.monotonic() + LINE_EVERY_S
            warn(f"{_words(figures)}, {figures.doing}")

    return tell


def _share(figures: Figures) -> float:
    return figures.rows / figures.wanted_rows if figures.wanted_rows else 1.0


def _words(figures: Figures) -> str:
    parts = [f"{figures.rows:,} of {figures.wanted_rows:,} rows", f"{figures.kernels:,} kernels"]
    if figures.given_up:
        parts.append(f"{figures.given_up:,} given up")
    if figures.new_rows:
        parts.append(f"{figures.rows_per_s:.1f} rows/s")
    if figures.eta_s:
        parts.append(f"{format_duration_us(figures.eta_s * 1e6)} left")
    return ", ".join(parts)


def outcome_table(store: CorpusStore, devices: Sequence[CorpusDevice]) -> Table:
    """Return the table of all that is in the store, not of the last start alone."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Device", no_wrap=True)
    for heading in ("Rows", "Kernels", "Repeats", "Disturbed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Given up", overflow="fold")
    for device in devices:
        table.add_row(device.id, *_counts(store, device.id), _given_up(store, device.id))
    for device_id, name in {device.device_id: building(device) for device in devices}.items():
        table.add_row(f"builds for {device_id}", "", *_built(store, device_id), "", "", _given_up(store, name))
    return table


def _counts(store: CorpusStore, device: str) -> list[str]:
    query = "SELECT sum(repeat = 0), count(DISTINCT kernel_id), sum(repeat = 1), sum(is_bad) FROM rows WHERE device = ?"
    return [f"{count or 0:,}" for count in store.read(query, (device,))[0]]


def _built(store: CorpusStore, device_id: str) -> list[str]:
    return [f"{store.count('SELECT count(DISTINCT kernel_id) FROM builds WHERE device_id = ?', (device_id,)):,}"]


def _given_up(store: CorpusStore, device: str) -> str:
    query = "SELECT code, count(*) FROM failures WHERE device = ? AND is_quarantined GROUP BY code ORDER BY 2 DESC"
    return ", ".join(f"{count:,} {code}" for code, count in store.read(query, (device,)))
