"""The store's questions and answers. Each is one transaction of its own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path

from cattrs import BaseValidationError

from model.device import Device
from model.device_catalog import device_from_json, device_to_json
from model.launch.launch import Launch
from model.learned.lessons import MOST_LESSONS, Lesson
from profiler.measurement import Measurement
from profiler.store.as_json import launch_from_json, launch_to_json, measurement_from_json, measurement_to_json
from profiler.store.database import BUSY_TIMEOUT_S, FILE_NAME, connection, data_folder, prepare
from profiler.store.entry import CORPUS, StoredMeasurement, corpus_family, kernel_id


class Store:
    """Owns one database file. Each call opens its own connection, so one store serves any thread."""

    def __init__(self, path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._unreadable: dict[int, str] = {}  # rows of measurements, and whose they are
        self._unreadable_profiles: set[str] = set()  # ids of devices

    @classmethod
    def open(cls, path: Path | str | None = None, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store:
        """Return the store at `path`, or the user's own; made or migrated if need be. Raises StoreError.

        `busy_timeout_s`: for how long each call waits while another process holds a lock.
        """
        store = cls(Path(path) if path is not None else data_folder() / FILE_NAME, busy_timeout_s)
        prepare(store.path, busy_timeout_s)
        return store

    @property
    def left_out(self) -> str:
        """What this store was asked for and could not read, in sentences; "" if it read it all."""
        return ". ".join([*self._measurements_left_out(), *self._profiles_left_out()])

    def _measurements_left_out(self) -> Iterator[str]:
        if self._unreadable:
            number, kernel = min(self._unreadable.items())
            others = len(self._unreadable) - 1
            who = f"Measurement {number} of {kernel}" + (f" and {others} more" if others else "")
            are = "are" if others else "is"
            yield f"{who} cannot be read by this version and {are} left out ({self.path})"

    def _profiles_left_out(self) -> Iterator[str]:
        for device_id in sorted(self._unreadable_profiles):
            yield (
                f"The calibration of {device_id} cannot be read by this version and is left out; "
                f"`kernelcast calibrate --device {device_id}` makes a new one"
            )

    def save_profile(self, device: Device) -> None:
        """Keep a calibrated profile; it replaces an earlier one of the same device, driver and chip."""
        with self._connection() as database:
            database.execute(
                "INSERT OR REPLACE INTO profiles (device_id, driver, name, measured_at, profile)"
                " VALUES (?, ?, ?, ?, ?)",
                (device.id, device.driver, device.name, device.measured_at, device_to_json(device)),
            )

    def profiles(self) -> tuple[Device, ...]:
        """Return all calibrated profiles, the newest last."""
        found = []
        query = f"SELECT device_id, profile FROM profiles ORDER BY {_IS_OF_FUTURE} DESC, measured_at"
        with self._connection() as database:
            for device_id, text in database.execute(query):
                try:
                    found.append(device_from_json(text))
                except _UNREADABLE:
                    self._unreadable_profiles.add(device_id)
        return tuple(found)

    def add_measurement(
        self,
        measurement: Measurement,
        predicted_us: float | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        launch: Launch | None = None,
    ) -> None:
        """Keep a measurement of `launch`; `predicted_us` is the p50 that was shown then, `path` the kernel's file."""
        self.add(StoredMeasurement(measurement, predicted_us, kernel_id(path, measurement.kernel), launch))

    def add(self, *entries: StoredMeasurement) -> None:
        """Keep all of them, or none if that fails."""
        with self._connection() as database:
            database.executemany(_INSERT, map(_row, entries))

    def ask_anew(self, entry: StoredMeasurement, question: bytes) -> None:
        """Keep another question for a launch that was measured: the device's profile has changed since."""
        where = "fingerprint = ? AND device_id = ? AND driver = ? AND measured_at = ? AND launch = ?"
        measured, launch = entry.measurement, launch_to_json(entry.launch) if entry.launch else ""
        values = (measured.kernel_fingerprint, measured.device_id, measured.driver, measured.measured_at, launch)
        with self._connection() as database:
            database.execute(
                f"UPDATE measurements SET question = ? WHERE {where} AND question IS NOT ?",
                (question, *values, question),
            )

    def add_unknown(self, entries: Iterable[StoredMeasurement]) -> int:
        """Keep those that are not here yet, and tell how many; all or none, as `add`."""
        added = 0
        with self._connection() as database:
            database.execute("BEGIN IMMEDIATE")  # nobody may add one of them between the look and the write
            for entry in entries:
                if not self._is_known(database, entry):
                    database.execute(_INSERT, _row(entry))
                    added += 1
        return added

    def latest_for_kernel(
        self, path: str | os.PathLike[str] | None, kernel_name: str, device_id: str
    ) -> StoredMeasurement | None:
        """Return the newest measurement of the kernel of that name in that file, whatever it looked like then.

        Stale if its `kernel_fingerprint` or `launch_key` differ from today's.
        """
        where, values = "kernel_id = ? AND device_id = ?", (kernel_id(path, kernel_name), device_id)
        return next(iter(self._found(where, values, 1)), None)

    def versions(
        self, path: str | os.PathLike[str] | None, kernel_name: str, device_id: str, driver: str, *, most: int = 20
    ) -> tuple[StoredMeasurement, ...]:
        """Return what was measured on a device of the kernel of that name in that file, however it looked.

        The newest first, each with its model input; those without one are left out.
        """
        where = "kernel_id = ? AND device_id = ? AND driver = ? AND question IS NOT NULL"
        return self._found(where, (kernel_id(path, kernel_name), device_id, driver), most, has_questions=True)

    def history(
        self, path: str | os.PathLike[str] | None, kernel_name: str, *, most: int = 100
    ) -> tuple[StoredMeasurement, ...]:
        """Return all that was measured of the kernel of that name in that file, on any device, the newest first.

        No more than `most`; below 0: all.
        """
        return self._found("kernel_id = ?", (kernel_id(path, kernel_name),), most)

    def history_of_file(self, path: str | os.PathLike[str], *, most: int = 100) -> tuple[StoredMeasurement, ...]:
        """As `history`, of all kernels that this file ever had."""
        prefix = kernel_id(path, "")
        return self._found("substr(kernel_id, 1, ?) = ?", (len(prefix), prefix), most)

    def measurements_of(
        self,
        kernel_fingerprint: str,
        device_id: str,
        driver: str | None = None,
        *,
        options: str | None = None,
        newest_only: bool = False,
    ) -> tuple[StoredMeasurement, ...]:
        """Return all launches of exactly this kernel on a device, the newest first.

        Those of one driver and one set of build options if these are given (`Measurement.options`). `newest_only`: each
        launch once.
        """
        where, values = "fingerprint = ? AND device_id = ?", [kernel_fingerprint, device_id]
        for column, wanted in (("driver", driver), ("options", options)):
            if wanted is not None:
                where += f" AND {column} = ?"
                values.append(wanted)
        return self._found(where, tuple(values), is_each_launch_once=newest_only)

    def everything(self) -> tuple[StoredMeasurement, ...]:
        """Return all measurements, the oldest first."""
        return self._found("1", ())[::-1]

    def lessons(self, device_id: str, driver: str, most: int = MOST_LESSONS) -> tuple[Lesson, ...]:
        """Return the measurements on a device that have a model input, each launch of a kernel once.

        The newest of the user's kernels come first, then those of the corpus: neither crowd the other out. Behind them
        come launches of which all measurements were disturbed, beyond `most`.
        """
        with self._connection() as database:
            own, corpus = (
                _lessons(
                    database, device_id, driver, most, f"{prefix} substr(kernel_id, 1, {len(CORPUS)}) = '{CORPUS}'"
                )
                for prefix in ("NOT", "")
            )
        half = most // 2
        disturbed = (each for each in (*own, *corpus) if each.is_disturbed)
        own, corpus = ([each for each in some if not each.is_disturbed] for some in (own, corpus))
        return (*(*own[:half], *corpus, *own[half:])[:most], *disturbed)

    def compiled(
        self, kernel_fingerprint: str, options: str, local_size: tuple[int, ...] | None, device_id: str, driver: str
    ) -> str | None:
        """Return what `keep_compiled` was given for exactly this."""
        key = (kernel_fingerprint, options, _sizes(local_size), device_id, driver)
        query = (
            "SELECT facts FROM compiled_facts"
            " WHERE fingerprint = ? AND options = ? AND local_size = ? AND device_id = ? AND driver = ?"
        )
        with self._connection() as database:
            row = database.execute(query, key).fetchone()
            return str(row[0]) if row else None

    def measured_kernels(self, device_id: str) -> frozenset[tuple[str, str]]:
        """Fingerprint and `kernel_id` of every kernel that was measured on this device."""
        query = "SELECT DISTINCT fingerprint, kernel_id FROM measurements WHERE device_id = ?"
        with self._connection() as database:
            return frozenset(
                (str(fingerprint), str(kernel)) for fingerprint, kernel in database.execute(query, (device_id,))
            )

    def compiled_kernels(self, device_id: str, driver: str) -> frozenset[str]:
        """Return the fingerprints of all kernels of which something is kept, for this device and driver."""
        query = "SELECT DISTINCT fingerprint FROM compiled_facts WHERE device_id = ? AND driver = ?"
        with self._connection() as database:
            return frozenset(str(row[0]) for row in database.execute(query, (device_id, driver)))

    def keep_compiled(
        self,
        kernel_fingerprint: str,
        options: str,
        local_size: tuple[int, ...] | None,
        device_id: str,
        driver: str,
        facts: str,
    ) -> None:
        """Keep what a driver's compiler made of a kernel, as JSON; it replaces what was kept of the same before."""
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        key = (kernel_fingerprint, options, _sizes(local_size), device_id, driver)
        with self._connection() as database:
            database.execute(
                "INSERT OR REPLACE INTO compiled_facts VALUES (?, ?, ?, ?, ?, ?, ?)", (*key, made_at, facts)
            )

    def _found(
        self,
        where: str,
        values: tuple[str | int, ...],
        most: int = -1,
        *,
        is_each_launch_once: bool = False,
        has_questions: bool = False,
    ) -> tuple[StoredMeasurement, ...]:
        """Return the newest first, `most` of them (below 0: all), with model inputs only if `has_questions`.

        Those that cannot be read make room for older ones.
        """
        question = "question" if has_questions else "NULL"
        with self._connection() as database:
            rows = database.execute(
                f"SELECT {_READ}, {question} FROM measurements WHERE {where} {_NEWEST_FIRST}", values
            )
            readable = self._readable(rows, is_each_launch_once=is_each_launch_once)
            return tuple(readable if most < 0 else islice(readable, most))

    def _readable(self, rows: Iterable[_Read], *, is_each_launch_once: bool = False) -> Iterator[StoredMeasurement]:
        """One that cannot be read must not take the others with it."""
        launches: set[str] = set()
        for row in rows:
            number, launch_key, _, _, kernel, _, _ = row
            if is_each_launch_once and launch_key in launches:
                continue
            try:
                found = _stored(row)
            except _UNREADABLE:
                self._unreadable[number] = kernel
                continue
            launches.add(launch_key)
            yield found

    def _is_known(self, database: sqlite3.Connection, entry: StoredMeasurement) -> bool:
        """Return the JSON of one that an older version wrote lacks newer fields, so not the texts are compared."""
        m = entry.measurement
        rows = database.execute(
            f"SELECT {_READ}, NULL FROM measurements"
            " WHERE fingerprint = ? AND launch_key = ? AND device_id = ? AND measured_at = ? AND kernel_id = ?",
            (m.kernel_fingerprint, m.launch_key, m.device_id, m.measured_at, entry.kernel_id),
        )
        return any(found.measurement == m for found in self._readable(rows))

    def _connection(self) -> AbstractContextManager[sqlite3.Connection]:
        return connection(self.path, self._busy_timeout_s)


_UNREADABLE = (ValueError, TypeError, BaseValidationError)  # of what was damaged, or written by a later version
_READ = "id, launch_key, measurement, predicted_us, kernel_id, launch"
_Read = tuple[int, str, str, float | None, str, str, bytes | None]
# What is dated later than now was measured while the clock was wrong. When that was nobody knows; sorted by its date it
# would hide for years all that is measured from now on.
_IS_OF_FUTURE = "measured_at > strftime('%Y-%m-%dT%H:%M:%S', 'now', '+1 minute')"
# Imported ones may be older than those that came before them.
_NEWEST_FIRST = f"ORDER BY {_IS_OF_FUTURE}, measured_at DESC, id DESC"
_INSERT = """INSERT INTO measurements
    (kernel_id, fingerprint, launch_key, device_id, measured_at, predicted_us, measurement,
     driver, options, device_name, launch, question) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def _lessons(database: sqlite3.Connection, device_id: str, driver: str, most: int, where: str) -> list[Lesson]:
    """Return `most` that are undisturbed, the newest first, and launches that are known by disturbed ones alone."""
    queries = (  # as `_NEWEST_FIRST`, with no need to sort all that was ever measured
        "SELECT question, json_extract(measurement, '$.median_us'), kernel_id,"
        " fingerprint || ' ' || launch_key, json_extract(measurement, '$.is_disturbed') FROM measurements"
        " WHERE device_id = ? AND driver = ? AND question IS NOT NULL AND json_valid(measurement)"
        f" AND {where} AND {when} ORDER BY measured_at DESC, id DESC"
        for when in (f"NOT {_IS_OF_FUTURE}", _IS_OF_FUTURE)
    )
    found: dict[bytes, Lesson] = {}
    disturbed: dict[str, Lesson] = {}
    settled: set[str] = set()  # launches with an undisturbed one
    for question, median_us, kernel, launch, is_disturbed in chain.from_iterable(
        database.execute(query, (device_id, driver)) for query in queries
    ):
        if not (isinstance(question, bytes) and isinstance(median_us, float | int)):
            continue
        family = corpus_family(str(kernel))
        # A user's own measurement counts as it is: nothing times it again, and its note tells of the others.
        lesson = Lesson(question, float(median_us), family, bool(is_disturbed and family))
        if lesson.is_disturbed:
            disturbed.setdefault(launch, lesson)
        else:
            found.setdefault(question, lesson)
            settled.add(launch)
        if len(found) == most:
            break
    return [*found.values(), *(lesson for launch, lesson in disturbed.items() if launch not in settled)]


def _row(entry: StoredMeasurement) -> tuple[str | float | bytes | None, ...]:
    m = entry.measurement
    launch = launch_to_json(entry.launch) if entry.launch else ""
    return (
        entry.kernel_id, m.kernel_fingerprint, m.launch_key, m.device_id, m.measured_at, entry.predicted_us,
        measurement_to_json(m), m.driver, m.options, m.device_name, launch, entry.question or None,
    )  # fmt: skip


def _stored(row: _Read) -> StoredMeasurement:
    _, _, measurement, predicted_us, kernel, launch, question = row
    of = launch_from_json(launch) if launch else None
    return StoredMeasurement(measurement_from_json(measurement), predicted_us, kernel, of, question or b"")


def _sizes(local_size: tuple[int, ...] | None) -> str:
    return "x".join(map(str, local_size or ()))
