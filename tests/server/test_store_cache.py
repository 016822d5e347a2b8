"""What earlier sessions measured is used as far as it can be read, and what cannot be is named."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from model.launch.recorded import RecordedLaunch
from profiler.measurement import Measurement
from profiler.store import FILE_NAME, Store, database
from profiler.store.database import State, files_of_store
from server.analysis.store_cache import FRESH_S, StoreCache
from server.device_work.work import DeviceWork
from server.features import lifecycle
from tests.recordings import recorded

MEASURED = Measurement(
    kernel="scale", kernel_fingerprint="f", launch_key="l", launch="64 / 8", device_id="pocl", device_name="A CPU",
    driver="3.1", median_us=10.0, p10_us=9.0, p90_us=12.0, ci95_us=(9.9, 10.1), repeats=20, batches=6,
    batch_spread_percent=1.5, local_size=(8,), load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path))
    return Store.open(tmp_path / FILE_NAME)


def test_one_unreadable_measurement_costs_a_kernel_no_other(store: Store) -> None:
    for key in ("l", "m"):
        store.add_measurement(replace(MEASURED, launch_key=key), path="/k.cl")
    with closing(sqlite3.connect(store.path)) as opened, opened:
        opened.execute("UPDATE measurements SET measurement = '{}' WHERE id = 2")
    memory = StoreCache()
    assert [run.measurement.launch_key for run in memory.runs("f", "pocl")] == ["l"]
    assert memory.last(Path("/k.cl"), "scale", "pocl") == MEASURED
    assert memory.profiles() == ()
    assert memory.problem.startswith("Measurement 2 of /k.cl::scale cannot be read")


def test_a_store_that_cannot_be_used_is_told_of_until_it_can(store: Store) -> None:
    assert (StoreCache().runs("f", "pocl"), StoreCache().problem) == ((), "")
    store.path.write_bytes(b"this is no database" * 100)
    memory = StoreCache()
    assert memory.runs("f", "pocl") == ()
    assert memory.problem.startswith("Measurements are not remembered: ")


@pytest.mark.device
def test_devices_are_found_without_a_store(store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as opened, opened:
        opened.execute("DROP TABLE profiles")
    assert DeviceWork().discover(threading.Event())


class Clock:
    """Stands still until it is set."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one with each look into the store."""
    found: list[str] = []
    really_open = Store.open

    def counted(*arguments: Any, **named: Any) -> Store:
        found.append("open")
        return really_open(*arguments, **named)

    monkeypatch.setattr(Store, "open", counted)
    return found


def test_an_edit_costs_no_look_into_the_store(store: Store, looks: list[str]) -> None:
    store.add_measurement(MEASURED, path="/k.cl")
    os.utime(store.path, (0, 0))
    clock = Clock()
    memory = StoreCache(clock)

    def look(fingerprint: str) -> int:
        memory.profiles()
        memory.runs(fingerprint, "pocl")
        memory.last(Path("/k.cl"), "scale", "pocl")
        memory.last(Path("/k.cl"), "another", "pocl")
        return len(looks)

    first = look("f")
    assert [look(f"f{edit}") for edit in range(100)] == [first] * 100
    clock.now_s += 10 * FRESH_S
    assert look("edited later") == first, "nothing was measured meanwhile"


def test_what_others_measure_is_noticed_soon(store: Store) -> None:
    clock = Clock()
    memory = StoreCache(clock)
    assert memory.runs("f", "pocl") == ()
    store.add_measurement(MEASURED, path="/k.cl")
    clock.now_s += FRESH_S
    assert [run.measurement for run in memory.runs("f", "pocl")] == [MEASURED]
    assert memory.last(Path("/k.cl"), "scale", "pocl") == MEASURED
    store.add_measurement(replace(MEASURED, launch_key="m"), path="/k.cl")
    clock.now_s += FRESH_S
    assert len(memory.runs("f", "pocl")) == 2


def test_a_store_that_works_again_is_used_again(store: Store) -> None:
    content = store.path.read_bytes()
    store.path.write_bytes(b"this is no database" * 100)
    clock = Clock()
    memory = StoreCache(clock)
    assert memory.profiles() == ()
    assert memory.problem
    store.path.write_bytes(content)
    assert memory.problem, "not asked again at once"
    clock.now_s += FRESH_S
    assert memory.profiles() == ()
    assert memory.problem == ""


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[RecordedLaunch, ...]]:
    """What is recorded of kernels in the project /work, by name."""
    kept: dict[str, tuple[RecordedLaunch, ...]] = {}

    def found(store: Store, project: Path, names: Collection[str]) -> dict[str, tuple[RecordedLaunch, ...]]:
        del store
        return {name: kept[name] for name in names if name in kept and project == Path("/work")}

    monkeypatch.setattr("server.analysis.store_cache.recorded_launches", found)
    monkeypatch.setattr("server.analysis.store_cache.project_of", lambda _folder: Path("/work"))
    return kept


def test_recordings_are_read_once_for_all_kernels_until_there_are_others(
    store: Store, looks: list[str], recordings: dict[str, tuple[RecordedLaunch, ...]]
) -> None:
    clock = Clock()
    memory = StoreCache(clock)
    recordings["scale"] = (recorded("scale", 64),)
    names = ["scale", *(f"k{number}" for number in range(100))]
    first = memory.recorded(Path("/work/k.cl"), names)
    assert first["scale"] == recordings["scale"]
    assert first["k7"] == ()
    count = len(looks)
    for _ in range(50):
        assert memory.recorded(Path("/work/k.cl"), names)["scale"] is first["scale"]
    assert len(looks) == count
    recordings["scale"] = (recorded("scale", 128),)
    store.add_measurement(MEASURED, path="/k.cl")  # any change of the store's files
    clock.now_s += FRESH_S
    assert memory.recorded(Path("/work/k.cl"), names)["scale"] == recordings["scale"]
    assert memory.recorded(None, names) == {}


def test_recordings_that_cannot_be_read_are_told_of_and_asked_for_again(
    store: Store, recordings: dict[str, tuple[RecordedLaunch, ...]]
) -> None:
    content = store.path.read_bytes()
    store.path.write_bytes(b"this is no database" * 100)
    clock = Clock()
    memory = StoreCache(clock)
    recordings["scale"] = (recorded("scale", 64),)
    assert memory.recorded(Path("/work/k.cl"), ["scale"]) == {"scale": ()}
    assert memory.problem
    store.path.write_bytes(content)
    clock.now_s += FRESH_S
    assert memory.recorded(Path("/work/k.cl"), ["scale"]) == {"scale": recordings["scale"]}


@pytest.mark.asyncio
async def test_writes_of_other_processes_are_news_and_those_of_the_server_are_not(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "LOOK_AGAIN_S", 0.01)
    looks = 0
    writing = threading.Lock()  # a look into the middle of a transaction sees a change of unknown origin

    def counted() -> State:
        nonlocal looks
        looks += 1
        with writing:
            return files_of_store()

    monkeypatch.setattr(database, "files_of_store", counted)
    server = SimpleNamespace(needed=asyncio.Event(), leaving=asyncio.Event(), news=0)

    def read_store_anew() -> None:
        server.news += 1

    server.read_store_anew = read_store_anew
    server.needed.set()
    watching = asyncio.create_task(lifecycle.show_store_news(server))  # type: ignore[arg-type]
    async with asyncio.timeout(60):

        async def look_twice() -> None:
            after = looks + 2
            while looks < after:
                await asyncio.sleep(0)

        await look_twice()
        with writing:
            store.add_measurement(MEASURED, path="/k.cl")
            StoreCache().runs("f", "pocl")
        await look_twice()
        assert server.news == 0
        with writing, closing(sqlite3.connect(store.path)) as other, other:
            other.execute("DELETE FROM measurements")
        while not server.news:
            await asyncio.sleep(0)
        await look_twice()
        assert server.news == 1
        server.leaving.set()
        await watching
