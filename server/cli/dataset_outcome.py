"""The result of a collection by device, shown at the end of `kernelcast dataset collect`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from profiler.corpus.collection.store import CorpusStore, building
from profiler.corpus.kernel import CorpusDevice


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
