"""How far a collection is: for the terminal, and as a small file that anybody may watch."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from profiler.corpus.collection.store import RowKey

FILE_NAME = "progress.json"
WRITE_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Of all devices together. Rows without the repeats for the noise floor."""

    rows: int
    wanted_rows: int  # those that were given up are not among them
    kernels: int  # with a row at least
    given_up: int  # launches and kernels, by device
    new_rows: int  # since this start, repeats included
    built: int  # kernels, since this start, by platform
    elapsed_s: float
    rows_per_s: float  # since this start, builds and pauses included
    eta_s: float | None  # None: nothing measured yet
    doing: str
    at: str  # ISO 8601, UTC


OnFigures = Callable[[Figures], None]


class Progress:
    """Owns the counts, and the file they are written to. Safe in several threads."""

    def __init__(self, folder: Path, on_figures: OnFigures | None = None) -> None:
        self._path = folder / FILE_NAME
        self._on_figures = on_figures
        self._lock = threading.Lock()
        self._began_s = time.monotonic()
        self._next_s = 0.0
        self._kernels: set[str] = set()
        self._rows = self._wanted = self._given_up = self._new = self._new_firsts = self._built = 0
        self._doing = ""

    def start(self, *, rows: int, wanted_rows: int, kernels: set[str], given_up: int) -> None:
        """Begin with what the store holds already."""
        with self._lock:
            self._rows, self._wanted, self._kernels, self._given_up = rows, wanted_rows, kernels, given_up
        self.tell(at_once=True)

    def does(self, doing: str) -> None:
        self._doing = doing
        self.tell(at_once=True)

    def has_row(self, key: RowKey) -> None:
        with self._lock:
            self._new += 1
            if key.repeat == 0:
                self._rows += 1
                self._new_firsts += 1
                self._kernels.add(key.kernel_id)
        self.tell()

    def has_built(self) -> None:
        with self._lock:
            self._built += 1
        self.tell()

    def has_given_up(self) -> None:
        with self._lock:
            self._given_up += 1
        self.tell()

    def figures(self) -> Figures:
        elapsed_s = time.monotonic() - self._began_s
        left = max(0, self._wanted - self._rows)
        return Figures(
            rows=self._rows,
            wanted_rows=self._wanted,
            kernels=len(self._kernels),
            given_up=self._given_up,
            new_rows=self._new,
            built=self._built,
            elapsed_s=round(elapsed_s, 1),
            rows_per_s=round(self._new / elapsed_s, 3) if elapsed_s else 0.0,
            eta_s=round(left * elapsed_s / self._new_firsts) if self._new_firsts else None,
            doing=self._doing,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def tell(self, *, at_once: bool = False) -> None:
        """Write the file and tell who listens, but no more often than anybody reads it."""
        with self._lock:
            now_s = time.monotonic()
            if now_s < self._next_s and not at_once:
                return
            self._next_s = now_s + WRITE_EVERY_S
            figures = self.figures()
            part = self._path.with_suffix(".part")
            part.write_text(json.dumps(asdict(figures), indent=2) + "\n", "utf-8")
            os.replace(part, self._path)  # whoever reads it sees the old one or the new one, never half of it
        if self._on_figures is not None:
            self._on_figures(figures)
