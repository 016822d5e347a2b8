"""Store recordings: save, list and forget them, and look them up by project and kernel."""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from cattrs import BaseValidationError

from model.errors import LaunchError
from model.launch.recorded import RecordedLaunch
from model.opencl.project_files import project_folder
from model.program.command import CommandSequence
from profiler.recording.commands import UNREADABLE, pack_commands, unpack_commands
from profiler.recording.recorded_entry import RecordedEntry, entry_from_plain, entry_to_plain, recorded_launch
from profiler.recording.sources import Sources
from profiler.store import BUSY_TIMEOUT_S, Store
from profiler.store.database import connection

_UNREADABLE = (ValueError, TypeError, KeyError, BaseValidationError, LaunchError)


@dataclass(frozen=True, slots=True)
class Recording:
    """One run of a program. `id` is 0 before it is kept; `notes` are sentences on what could not be recorded."""

    project: Path
    command: tuple[str, ...]
    cwd: str
    recorded_at: float  # unix seconds
    status: int
    launches: tuple[RecordedEntry, ...]
    notes: tuple[str, ...] = ()
    id: int = 0


def project_of(folder: Path) -> Path:
    """Return the folder of the project that `folder` is in; `folder` itself if it is in none."""
    folder = folder.resolve()
    return project_folder(folder) or folder


def sources_of(store: Store) -> Sources:
    """Return the sources of this store's recordings."""
    return Sources(store.path.parent)


def save(store: Store, recording: Recording, commands: CommandSequence | None = None) -> Recording:
    """Save a recording, with its commands if they are known.

    It replaces an earlier one of the same command in the same project. Raises StoreError.
    """
    project, command = str(recording.project), json.dumps(recording.command)
    with _connected(store) as database:
        database.execute("BEGIN IMMEDIATE")
        earlier = database.execute(
            "SELECT id FROM recordings WHERE project = ? AND command = ? AND cwd = ?", (project, command, recording.cwd)
        )
        replaced = _delete(database, [number for (number,) in earlier])
        number = database.execute(
            "INSERT INTO recordings (project, command, cwd, recorded_at, status, notes) VALUES (?, ?, ?, ?, ?, ?)",
            (project, command, recording.cwd, recording.recorded_at, recording.status, json.dumps(recording.notes)),
        ).lastrowid
        database.executemany(
            "INSERT INTO recorded_launches (recording, kernel, source, launch) VALUES (?, ?, ?, ?)",
            [(number, each.kernel, each.source, json.dumps(entry_to_plain(each))) for each in recording.launches],
        )
        if commands is not None and commands.commands:
            database.execute("INSERT INTO recorded_commands VALUES (?, ?)", (number, pack_commands(commands)))
        unused = replaced - _sources(database)
    sources_of(store).forget(unused)
    return replace(recording, id=number or 0)


def recordings(store: Store, project: Path | None = None, *, number: int | None = None) -> tuple[Recording, ...]:
    """Return the recordings of a project, or of all, the newest first. Raises StoreError."""
    where, values = _where(project, number)
    query = f"SELECT id, project, command, cwd, recorded_at, status, notes FROM recordings WHERE {where}"
    with _connected(store) as database:
        rows = database.execute(f"{query} ORDER BY recorded_at DESC, id DESC", values).fetchall()
        return tuple(found for row in rows if (found := _recording(database, row)) is not None)


def recorded_commands(store: Store, number: int) -> CommandSequence | None:
    """Return the commands of a recording; None if it has none that can be read. Raises StoreError."""
    with _connected(store) as database:
        row = database.execute("SELECT commands FROM recorded_commands WHERE recording = ?", (number,)).fetchone()
    try:
        return None if row is None else unpack_commands(row[0])
    except UNREADABLE:  # damaged, or of a later version
        return None


def forget(store: Store, project: Path | None = None, *, number: int | None = None) -> int:
    """Forget the recordings of a project, or one, or all, with sources that no other has; return their number."""
    where, values = _where(project, number)
    with _connected(store) as database:
        database.execute("BEGIN IMMEDIATE")
        numbers = [number for (number,) in database.execute(f"SELECT id FROM recordings WHERE {where}", values)]
        unused = _delete(database, numbers) - _sources(database)
    sources_of(store).forget(unused)
    return len(numbers)


def recorded_launches(
    store: Store, project: Path, kernel_names: Collection[str]
) -> Mapping[str, tuple[RecordedLaunch, ...]]:
    """Return the launches of these kernels that were recorded in a project, those with the most time first.

    Among equal ones the newest is returned. Kernels without a recording are missing. Raises StoreError.
    """
    wanted = sorted(set(kernel_names))
    found: dict[str, dict[RecordedEntry, tuple[RecordedEntry, float, str]]] = {}
    query = (
        "SELECT recorded_at, command, launch FROM recorded_launches JOIN recordings ON recordings.id = recording"
        " WHERE project = ? AND kernel IN (SELECT value FROM json_each(?))"
        " ORDER BY recorded_at DESC, recordings.id DESC"
    )
    with _connected(store) as database:
        rows = database.execute(query, (str(project), json.dumps(wanted))).fetchall()
    for recorded_at, command, text in rows:
        entry = _entry(text)
        if entry is not None:
            shown = shlex.join(_words(command))
            found.setdefault(entry.kernel, {}).setdefault(entry.identity, (entry, recorded_at, shown))
    sources = sources_of(store)
    return {name: _by_time(each.values(), sources) for name, each in sorted(found.items())}


def _by_time(entries: Iterable[tuple[RecordedEntry, float, str]], sources: Sources) -> tuple[RecordedLaunch, ...]:
    launches = []
    for entry, recorded_at, command in sorted(entries, key=lambda each: each[0].weight, reverse=True):
        try:
            source = str(sources.path(entry.source)) if entry.source else ""
            launches.append(recorded_launch(entry, recorded_at, command, source))
        except LaunchError:  # damaged, or of a later version
            continue
    return tuple(launches)


def _where(project: Path | None, number: int | None) -> tuple[str, tuple[str | int, ...]]:
    if number is not None:
        return "id = ?", (number,)
    return ("1", ()) if project is None else ("project = ?", (str(project),))


def _recording(database: sqlite3.Connection, row: tuple[int, str, str, str, float, int, str]) -> Recording | None:
    number, project, command, cwd, recorded_at, status, notes = row
    launches = database.execute("SELECT launch FROM recorded_launches WHERE recording = ? ORDER BY id", (number,))
    entries = tuple(_readable(text for (text,) in launches))
    return Recording(Path(project), _words(command), cwd, recorded_at, status, entries, _words(notes), number)


def _readable(texts: Iterable[str]) -> Iterator[RecordedEntry]:
    yield from (entry for text in texts if (entry := _entry(text)) is not None)


def _entry(text: str) -> RecordedEntry | None:
    try:
        return entry_from_plain(json.loads(text))
    except _UNREADABLE:  # a damaged entry must not hide the others
        return None


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, json.loads(text)))
    except _UNREADABLE:
        return ()


def _delete(database: sqlite3.Connection, numbers: Sequence[int]) -> set[str]:
    """Delete these recordings and return the keys of their sources."""
    sources = {key for number in numbers for key in _sources(database, number)}
    for number in numbers:
        database.execute("DELETE FROM recorded_launches WHERE recording = ?", (number,))
        database.execute("DELETE FROM recorded_commands WHERE recording = ?", (number,))
        database.execute("DELETE FROM recordings WHERE id = ?", (number,))
    return sources


def _sources(database: sqlite3.Connection, number: int | None = None) -> set[str]:
    """Return the keys of the sources that a recording has, or that any has."""
    query = "SELECT DISTINCT source FROM recorded_launches WHERE source <> '' AND (?1 IS NULL OR recording = ?1)"
    return {key for (key,) in database.execute(query, (number,))}


def _connected(store: Store) -> AbstractContextManager[sqlite3.Connection]:
    return connection(store.path, BUSY_TIMEOUT_S)
