"""What an earlier version stored can still be read."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from profiler.store import Store
from tests.profiler.test_store import measurement

SINCE = ("wall_us", "launch_overhead_us", "options", "checked", "settled", "disturbed_batches", "outliers")
SINCE += ("drift_percent", "other_load_percent", "notes")


def test_a_measurement_stored_before_the_wall_clock_was_kept_reads_back(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store.sqlite3")
    store.add_measurement(measurement(), path="k.cl")
    with sqlite3.connect(store.path) as database:
        (text,) = database.execute("SELECT measurement FROM measurements").fetchone()
        kept = {key: value for key, value in json.loads(text).items() if key not in SINCE}
        database.execute("UPDATE measurements SET measurement = ?", (json.dumps(kept),))
    database.close()
    (found,) = store.history("k.cl", "scale")
    assert found.measurement == measurement()
    assert found.measurement.wall_us is None
