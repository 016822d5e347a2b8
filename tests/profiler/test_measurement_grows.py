"""What an earlier version stored can still be read."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from profiler.store import Store
from tests.profiler.test_store import measurement

SINCE = ("wall_us", "launch_overhead_us", "options", "checked", "settled", "disturbed_batches", "outliers")
SINCE += ("drift_percent", "other_load_percent", "notes", "has_longer_buffers", "kernelcast_version")


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


def test_what_another_version_proved_is_proved_anew() -> None:
    own = replace(measurement(), checked="guard pages", kernelcast_version=version("kernelcast"))
    assert own.proof == "guard pages"
    assert replace(own, kernelcast_version="0.0.1").proof == ""
    assert replace(own, kernelcast_version="").proof == ""  # from before the version was kept
