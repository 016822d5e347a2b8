"""Answers of batches that are known from earlier calls: nothing is read, analysed or predicted for them again.

The key of an answer is a hash of the request, its file's content, the configuration, the device's profile, the state of
the store, the weights and this program's own code. Beside it stand the files in which its includes were looked for, and
hashes of what was found there, as in ccache's direct mode. An answer of which any of these is not certain is not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from cachetools import LRUCache

import model
import profiler
import server
from model.device import Device
from model.embedded.languages import language_of
from model.errors import KernelcastError
from model.launch.config_file import find_config
from model.learned.learned import weights_folder
from model.safe_read import can_be_opened
from profiler.store.database import data_folder, files_of_store, make_private
from server.analysis.configurations import Configurations
from server.cli.output import json_text
from server.cli.requests import Request

FILE_NAME = "answers.sqlite3"
MOST_ANSWERS = 50_000  # some 3 kB each; the oldest quarter goes when there are more
_LOCKED_S = 0.5  # after so long the cache is left out: an answer can be worked out in that time
_SETTLED_S = 2.0  # a file that changed later than that may change again without a sign: clocks of file systems tick
_FILES_KEPT = 4096

Opened = Sequence[tuple[str, bytes | None]]  # what includes were looked for in, and what was found there


class AnswerCache:
    """Knows answers to requests; one thread reads requests while another answers.

    `flags` are what answers depend on beside the requests. Where the disk fails, nothing is known, and nothing is lost
    but time.
    """

    def __init__(
        self, device_for: Callable[[str | None], Device], flags: Sequence[object], *, is_off: bool = False
    ) -> None:
        self._device_for = device_for
        self._store = files_of_store()
        self._call = "" if is_off else _fingerprint(flags)
        self._configurations = Configurations()
        self._devices: dict[str | None, str] = {}
        self._texts: LRUCache[tuple[str, int, int], str] = LRUCache(_FILES_KEPT)
        self._waiting: list[tuple[str, str, bytes]] = []
        self._database = _opened() if self._call else None
        self._lock = Lock()

    def known(self, request: Request) -> str | None:
        """Return the answer, as it is to be written."""
        key = self.key(request)
        if self._database is None or key is None:
            return None
        with self._lock:
            try:
                found = self._database.execute("SELECT files, answer FROM answers WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error:
                return None
            if found is None or any(self._content(name) != content for name, content in json.loads(found[0])):
                return None
        return f'{{"id": {json.dumps(request.id)}, {zlib.decompress(found[1]).decode()}'

    def keep(self, key: str | None, request: Request, answer: dict[str, Any], opened: Opened | None) -> None:
        """Keep an answer, unless it is an error, or it is not known what it rests on (`opened` is None).

        `key` is the request's before anything was read for it. Where it is another one now, or the store changed since
        this process began, the answer may rest on either state: then it is not kept.
        """
        if self._database is None or key is None or opened is None or "error" in answer:
            return
        if files_of_store() != self._store or self.key(request) != key:
            return
        files = [(name, None if data is None else _sha256(data)) for name, data in opened]
        rest = json_text({name: value for name, value in answer.items() if name != "id"})[1:]
        self._waiting.append((key, json.dumps(files), zlib.compress(rest.encode(), level=1)))

    def write(self) -> None:
        """Put what is to be kept on the disk."""
        if self._database is None or not self._waiting:
            return
        with self._lock, contextlib.suppress(sqlite3.Error), self._database:
            self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", self._waiting)
            (number,) = self._database.execute("SELECT count(*) FROM answers").fetchone()
            if number > MOST_ANSWERS:
                oldest = "SELECT rowid FROM answers ORDER BY rowid LIMIT ?"
                self._database.execute(
                    f"DELETE FROM answers WHERE rowid IN ({oldest})", (number - MOST_ANSWERS * 3 // 4,)
                )
        self._waiting.clear()

    def key(self, request: Request) -> str | None:
        """Return what an answer is kept under; None where it is not to be kept."""
        if self._database is None:
            return None
        with self._lock:
            return self._key(request)

    def _key(self, request: Request) -> str | None:
        if language_of(request.file, "") is not None:
            return None  # a host's file: its programs rest on more than it
        try:
            place = find_config(request.file)
            config = self._configurations.read(place) if place is not None else None
            device = self._device(request.device or (config.device_id if config is not None else None))
        except KernelcastError:
            return None
        content = self._content(str(request.file))
        if content is None:
            return None
        configured = (str(place), self._content(str(place))) if place is not None else ()
        said = (self._call, files_of_store(), device, content, configured, repr(replace(request, id=None)))
        return _sha256(repr(said).encode())

    def _device(self, wanted: str | None) -> str:
        if wanted not in self._devices:
            self._devices[wanted] = _sha256(repr(self._device_for(wanted)).encode())
        return self._devices[wanted]

    def _content(self, name: str) -> str | None:
        """Return what tells the content of a file; None where there is none to be read."""
        if not can_be_opened(name):
            return None
        try:
            stat = os.stat(name)
            known = name, stat.st_mtime_ns, stat.st_size
            content = self._texts.get(known) or _sha256(Path(name).read_bytes())
        except OSError:
            return None
        if abs(time.time() - stat.st_mtime) > _SETTLED_S:
            self._texts[known] = content
        return content


def _opened() -> sqlite3.Connection | None:
    path = data_folder() / FILE_NAME
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(path)
        try:
            return _prepared(path)
        except sqlite3.OperationalError:  # locked, or a disk that is full
            return None
        except sqlite3.DatabaseError:  # no database: nothing in it can be missed
            path.unlink()
            make_private(path)
            return _prepared(path)
    except (OSError, sqlite3.Error):
        return None


def _prepared(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_LOCKED_S, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = OFF")  # what a crash of the machine costs is a cache
    database.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, files TEXT, answer BLOB)")
    return database


def _fingerprint(flags: Sequence[object]) -> str:
    """Return what stands for this program, its weights and the call; "" where that cannot be told.

    The program's files are among it with their times and sizes: in a checkout they change, and the version does not.
    """
    weights = weights_folder()
    try:
        files = [file for package in (model, profiler, server) for file in _folder_of(package).rglob("*.py")]
        files += weights.iterdir() if weights is not None else ()
        states = sorted((str(file), stat.st_mtime_ns, stat.st_size) for file in files if (stat := file.stat()))
        return _sha256(json.dumps([version("kernelcast"), *map(str, flags), os.getcwd(), states]).encode())
    except OSError:  # a folder that was deleted, or a file that is being replaced
        return ""


def _folder_of(package: ModuleType) -> Path:
    return Path(str(package.__file__)).parent


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
