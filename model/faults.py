"""Mistakes of our own: each costs one answer, is logged with where it came from, and becomes words to report."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from model.errors import KernelcastError

# Whoever runs the process decides where records go; a handler that writes to a file is named to the user.
logger = logging.getLogger("model.faults")
_MOST_KNOWN = 200
_Result = TypeVar("_Result")
_logged: set[tuple[str, str]] = set()  # a kernel that fails does so at every keystroke; one record is enough


class InternalError(KernelcastError):
    """An exception that nobody foresaw, in place of one answer."""

    code = "internal"


def internal_error(error: Exception, doing: str, *, line: int | None = None) -> InternalError:
    """Log `error`, once for each place that it comes from, and say what to report.

    `doing` quotes nothing of the user's: "predicting a launch".
    """
    frames = traceback.extract_tb(error.__traceback__)
    at = frames[-1] if frames else None
    place = f"{'/'.join(PurePath(at.filename).parts[-3:])}:{at.lineno}, {at.name}" if at else "an unknown place"
    key = (type(error).__name__, place)
    if key not in _logged and len(_logged) < _MOST_KNOWN:
        _logged.add(key)
        logger.error("%s failed", doing, exc_info=error)
    log = _log_file()
    kept = f"the record in {log} says more" if log else "`kernelcast doctor` says with what"
    said = (
        f"{doing} failed by a mistake of Kernelcast's own ({type(error).__name__} at {place}); please report it: {kept}"
    )
    return InternalError(said, line=line)


def contained(doing: str, work: Callable[[], _Result]) -> _Result | KernelcastError:
    """Return what `work` gives, or the named failure in its place."""
    try:
        return work()
    except KernelcastError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a mistake of ours costs one answer, and is logged
        return internal_error(error, doing)


def _log_file() -> str:
    """Return the file that a record of ours ends up in; empty where there is none."""
    at: logging.Logger | None = logger
    while at is not None:
        for handler in at.handlers:
            name = getattr(handler, "baseFilename", "")
            if name:
                return str(name)
        at = at.parent if at.propagate else None
    return ""
