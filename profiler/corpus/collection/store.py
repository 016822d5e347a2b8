"""What a collection knows and has found, in one SQLite file; each finished row is there for good as soon as it is."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model.compiled import CompiledFacts, facts_to_json
from model.errors import KernelcastError
from profiler.corpus.collection.as_json import kernel_from_json, kernel_to_json, timing_from_json, timing_to_json
from profiler.corpus.collection.order import KernelEntry
from profiler.corpus.collection.schema import FILE_NAME, failures_named, open_database, transaction
from profiler.corpus.kernel import CorpusDevice, CorpusKernel, CorpusLaunch, RowTiming, Vary
from profiler.store.as_json import launch_from_json, launch_to_json

MOST_TRIES = 2  # of what crashed or hung; then it is quarantined
# The same kernel fails in the same way again: these are not tried twice.
LASTING = frozenset(
    {
        "build_failed",
        "out_of_bounds",
        "needs_annotation",
        "source",
        "no_kernel",
        "launch",
        "analysis",
        "refused",
        "worker_killed",
    }
)
ENDING = frozenset({"crashed", "timed_out"})
MOST_ENDING_LAUNCHES = 2  # quarantined ones, after which the kernel's others are not run on this device either
ALL_LAUNCHES = ""  # in place of a launch's key
_ROW = "(device, kernel_id, launch_key, repeat) = (?, ?, ?, ?)"
FLOOR_SHARE = 0.02  # of the rows, measured again


@dataclass(frozen=True, slots=True)
class RowKey:
    """Of one row. `repeat` 1: measured again in another process, for the noise floor."""

    device: str  # CorpusDevice.id
    kernel_id: str
    launch_key: str
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A finished row. `attempts`: how often it was measured, of which the least disturbed was kept."""

    key: RowKey
    timing: RowTiming
    is_bad: bool
    attempts: int
    note: str
    stint: int


@dataclass(frozen=True, slots=True)
class Stint:
    """One start of a collection: on what machine, by which version. `devices` is JSON."""

    number: int
    began_at: str
    kernelcast_version: str
    host: str
    processors: int
    devices: str


@dataclass(frozen=True, slots=True)
class FailedCase:
    """What could not be had, and whether it is given up. `device` is `build:DEVICE_ID` for what did not build."""

    device: str
    kernel_id: str
    launch_key: str  # `ALL_LAUNCHES`: of the whole kernel
    code: str
    message: str
    tries: int
    is_quarantined: bool


class CorpusStore:
    """Owns the connection. Safe in several threads, and beside readers in other processes. Raises StoreError."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self.database = open_database(self.path)
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            self.database.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, committed at the end."""
        with self._lock, failures_named(self.path), transaction(self.database):
            yield self.database

    def read(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        with self._lock, failures_named(self.path):
            return self.database.execute(query, values).fetchall()

    def count(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> int:
        """Return the one number that a query answers with."""
        return int(self.read(query, values)[0][0])

    # What there is to measure

    def add_kernels(self, kernels: Iterable[CorpusKernel], *, at_once: int = 200) -> int:
        """Those that are not known yet, by their ids, with their launches. How many there were."""
        added = 0
        waiting: list[CorpusKernel] = []
        for kernel in kernels:
            waiting.append(kernel)
            if len(waiting) >= at_once:
                added += self._add(waiting)
                waiting.clear()
        return added + self._add(waiting)

    def _add(self, kernels: Sequence[CorpusKernel]) -> int:
        added = 0
        with self.writing() as database:
            for kernel in kernels:
                values = (kernel.id, kernel.origin, kernel.family, kernel_to_json(kernel))
                done = database.execute(
                    "INSERT OR IGNORE INTO kernels (id, origin, family, kernel) VALUES (?, ?, ?, ?)", values
                )
                if not done.rowcount:
                    continue
                added += 1
                database.executemany(
                    "INSERT OR IGNORE INTO launches VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [_launch_values(kernel.id, place, each) for place, each in enumerate(kernel.launches)],
                )
        return added

    def entries(self) -> list[KernelEntry]:
        """Of all kernels, in the order in which they came."""
        return [KernelEntry(*row) for row in self.read("SELECT id, origin, family FROM kernels ORDER BY number")]

    def kernels(self, ids: Sequence[str]) -> dict[str, CorpusKernel]:
        """With all their launches."""
        found = {}
        for kernel_id in ids:
            for (text,) in self.read("SELECT kernel FROM kernels WHERE id = ?", (kernel_id,)):
                found[kernel_id] = replace(kernel_from_json(text), launches=tuple(self._launches(kernel_id)))
        return found

    def all_kernels(self) -> Iterator[CorpusKernel]:
        """With all their launches, in the order in which they came, a few in memory at a time."""
        ids = [entry.id for entry in self.entries()]
        for at in range(0, len(ids), 100):
            yield from self.kernels(ids[at : at + 100]).values()

    def _launches(self, kernel_id: str) -> Iterator[CorpusLaunch]:
        query = "SELECT launch, vary, data, checked FROM launches WHERE kernel_id = ? ORDER BY place"
        for launch, vary, data, checked in self.read(query, (kernel_id,)):
            yield CorpusLaunch(launch_from_json(launch), Vary(vary), data, checked)

    # What came of it

    def begin_stint(self, stint: Stint) -> int:
        """Its number."""
        values = (stint.began_at, stint.kernelcast_version, stint.host, stint.processors, stint.devices)
        with self.writing() as database:
            done = database.execute(
                "INSERT INTO stints (began_at, kernelcast_version, host, processors, devices) VALUES (?, ?, ?, ?, ?)",
                values,
            )
        return int(done.lastrowid or 0)

    def stints(self) -> list[Stint]:
        return [Stint(*row) for row in self.read("SELECT * FROM stints ORDER BY number")]

    def save_build(
        self, device_id: str, kernel_id: str, facts: Mapping[str, CompiledFacts], checked: Mapping[str, str]
    ) -> None:
        """`facts` and `checked` by the launches' keys."""
        with self.writing() as database:
            database.executemany(
                "INSERT OR REPLACE INTO builds VALUES (?, ?, ?, ?)",
                [(device_id, kernel_id, key, facts_to_json(each)) for key, each in facts.items()],
            )
            database.executemany(
                "UPDATE launches SET checked = ? WHERE kernel_id = ? AND launch_key = ?",
                [(word, kernel_id, key) for key, word in checked.items() if word],
            )

    def save_row(
        self, key: RowKey, timing: RowTiming, *, is_bad: bool, stint: int, floor_share: float = FLOOR_SHARE
    ) -> bool:
        """Keep it, or the better of it and what is there already. Whether there is a row now that was not before."""
        where = (key.device, key.kernel_id, key.launch_key, key.repeat)
        with self.writing() as database:
            query = f"SELECT timing, attempts FROM rows WHERE {_ROW}"
            before = database.execute(query, where).fetchone()
            if before is None:
                values = (timing_to_json(timing), is_floor(key, floor_share), is_bad, 1, "", stint)
                database.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*where, *values))
            else:
                attempts = before[1] + 1
                note = f"measured {attempts} times because others disturbed it; the least disturbed is kept"
                database.execute(f"UPDATE rows SET attempts = ?, note = ? WHERE {_ROW}", (attempts, note, *where))
                if disturbance(timing) < disturbance(timing_from_json(before[0])):
                    better = (timing_to_json(timing), is_bad, stint, *where)
                    database.execute(f"UPDATE rows SET timing = ?, is_bad = ?, stint = ? WHERE {_ROW}", better)
        return before is None

    def save_failure(self, device: str, kernel_id: str, launch_key: str, error: KernelcastError) -> FailedCase:
        """Count a failed try.

        After the second, or at once if it is bound to fail again, the case is given up.
        """
        where = (device, kernel_id, launch_key)
        with self.writing() as database:
            query = "SELECT tries FROM failures WHERE (device, kernel_id, launch_key) = (?, ?, ?)"
            before = database.execute(query, where).fetchone()
            tries = 1 + (before[0] if before else 0)
            case = FailedCase(*where, error.code, error.message, tries, tries >= MOST_TRIES or error.code in LASTING)
            _put(database, case)
            ending = database.execute(
                "SELECT count(*) FROM failures WHERE device = ? AND kernel_id = ? AND launch_key != '' "
                f"AND is_quarantined AND code IN ({', '.join(map(repr, sorted(ENDING)))})",
                where[:2],
            ).fetchone()[0]
            if ending >= MOST_ENDING_LAUNCHES:
                _put(database, replace(case, launch_key=ALL_LAUNCHES, is_quarantined=True))
        return case

    def give_up_if_it_crashes(self, platform: CorpusDevice, devices: Collection[CorpusDevice], kernel_id: str) -> bool:
        """Give up the kernel on a platform where its launches crashed too often; return whether it was given up.

        `devices` are all of one platform.
        """
        marks = ", ".join("?" * len(devices))
        with self.writing() as database:
            tries = database.execute(
                f"SELECT sum(tries) FROM failures WHERE kernel_id = ? AND code = 'crashed' AND device IN ({marks})",
                (kernel_id, *(device.id for device in devices)),
            ).fetchone()[0]
            if (tries or 0) < MOST_TRIES:
                return False
            message = "its launches crashed again and again"
            _put(database, FailedCase(building(platform), kernel_id, ALL_LAUNCHES, "crashed", message, tries, True))
        return True

    def rows(self) -> Iterator[StoredRow]:
        """Yield all of them."""
        query = "SELECT device, kernel_id, launch_key, repeat, timing, is_bad, attempts, note, stint FROM rows"
        with self._lock, failures_named(self.path):
            for *key, timing, is_bad, attempts, note, stint in self.database.cursor().execute(query):
                yield StoredRow(RowKey(*key), timing_from_json(timing), bool(is_bad), attempts, note, stint)

    def failures(self) -> list[FailedCase]:
        query = (
            "SELECT device, kernel_id, launch_key, code, message, tries, is_quarantined FROM failures ORDER BY 1, 2, 3"
        )
        return [replace(FailedCase(*row), is_quarantined=bool(row[-1])) for row in self.read(query)]

    def forget_failures(self) -> int:
        """So that all is tried again. How many there were."""
        with self.writing() as database:
            return database.execute("DELETE FROM failures").rowcount

    def facts(self, device_id: str) -> Iterator[tuple[str, str, str]]:
        """(kernel id, launch key, CompiledFacts as JSON) of what was built for one OpenCL device."""
        query = "SELECT kernel_id, launch_key, facts FROM builds WHERE device_id = ?"
        with self._lock, failures_named(self.path):
            yield from self.database.cursor().execute(query, (device_id,))


def building(device: CorpusDevice) -> str:
    """Under what the failures of builds for it are kept."""
    return f"build:{device.device_id}"


def is_floor(key: RowKey, share: float = FLOOR_SHARE) -> bool:
    """Return whether the row is one of those that are measured again: the same on every machine."""
    number = zlib.crc32(f"{key.device} {key.kernel_id} {key.launch_key}".encode())
    return number % 10_000 < 10_000 * share


def disturbance(timing: RowTiming) -> tuple[bool, float]:
    """By what others did alone: to choose by the times would flatter."""
    return timing.is_disturbed, max(timing.other_load_percent or 0.0, timing.stolen_percent or 0.0)


def _launch_values(kernel_id: str, place: int, launch: CorpusLaunch) -> tuple[object, ...]:
    text = launch_to_json(launch.launch)
    return kernel_id, launch.launch.key, place, launch.vary.value, launch.data, launch.checked, text


def _put(database: sqlite3.Connection, case: FailedCase) -> None:
    values = (case.device, case.kernel_id, case.launch_key, case.code, case.message, case.tries, case.is_quarantined)
    database.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?)", values)
