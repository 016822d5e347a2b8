"""Start the log: to stderr, which editors keep, and to a file if the user names one."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from server.log.faults import keep_faults
from server.log.lines import JsonLines, Words, is_ours
from server.log.options import LogError, LogOptions

MOST_BYTES, KEPT_FILES = 5_000_000, 3


def start_log(options: LogOptions) -> None:
    """Start the log of this process. Raises `LogError`."""
    keep_faults()
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(Words(with_source=options.with_source))
    _add(stream, options.level or "warning", options)
    if options.file is not None:
        try:
            options.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept = PrivateFile(options.file, maxBytes=MOST_BYTES, backupCount=KEPT_FILES, encoding="utf-8")
        except OSError as error:
            raise LogError(f"the log cannot be written to {options.file}: {error.strerror or error}") from None
        kept.setFormatter(JsonLines(with_source=options.with_source))
        _add(kept, options.level or "info", options)


def _add(handler: logging.Handler, level: str, options: LogOptions) -> None:
    number = logging.getLevelNamesMapping()[level.upper()]
    handler.setLevel(number)
    handler.addFilter(lambda record: options.with_source or is_ours(record) or record.levelno >= logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    ours = logging.getLogger("kernelcast"), logging.getLogger("server")
    # Libraries' chatter would be put together only to be thrown away.
    for logger in (root, *ours) if options.with_source else ours:
        known = logger.level or logging.WARNING
        logger.setLevel(min(known, number))


class PrivateFile(RotatingFileHandler):
    """For its owner alone; somebody else's link is not followed. What cannot be written is lost, and that is said once.

    The standard handler says it each time, with the record whole, and so with what must not be logged.
    """

    _is_lost = False

    def _open(self) -> TextIOWrapper:
        # A pipe without a reader would be waited for, and what is no file must keep its permissions: /dev/null is
        # everybody's.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        number = os.open(self.baseFilename, flags, 0o600)
        if not stat.S_ISREG(os.fstat(number).st_mode):
            os.close(number)
            raise OSError("it is not a regular file")
        if sys.platform != "win32":
            os.fchmod(number, 0o600)
        return open(number, "a", encoding=self.encoding, errors="backslashreplace")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if self._is_lost or sys.stderr is None:
            return
        self._is_lost = True
        error = sys.exc_info()[1]
        with contextlib.suppress(OSError):
            print(f"the log can no longer be written to {self.baseFilename}: {error}", file=sys.stderr, flush=True)
