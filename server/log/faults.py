"""The file with mistakes of our own: in the user's data folder, for them to report. Light until it has a record."""

from __future__ import annotations

import logging
from logging import LogRecord
from pathlib import Path

FILE_NAME = "faults.log"
MOST_BYTES = 500_000
_LOGGER = "model.faults"


def faults_file() -> Path:
    from profiler.store.database import data_folder  # noqa: PLC0415 - brings SQLite with it

    return data_folder() / FILE_NAME


class _FaultFile(logging.Handler):
    """Opened with the first record, for most processes never have one. Loses records where it cannot be written."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.baseFilename = ""
        self._file: logging.Handler | None = None
        self._is_lost = False

    def emit(self, record: LogRecord) -> None:
        if self._file is None and not self._is_lost:
            self._open()
        if self._file is not None:
            self._file.emit(record)

    def _open(self) -> None:
        from server.log.lines import JsonLines  # noqa: PLC0415
        from server.log.start import PrivateFile  # noqa: PLC0415

        path = faults_file()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = PrivateFile(path, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")
        except OSError:
            self._is_lost = True
            return
        self._file.setFormatter(JsonLines(with_source=False))
        self.baseFilename = str(path)


def keep_faults() -> None:
    """Keep internal errors of this process from now on."""
    logger = logging.getLogger(_LOGGER)
    if not any(isinstance(handler, _FaultFile) for handler in logger.handlers):
        logger.addHandler(_FaultFile())


def kept_faults() -> list[str]:
    """Return the records, oldest first; none where there are none, or they cannot be read."""
    try:
        return faults_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
