"""Format records as lines: JSON for files, words for a terminal, without quotes of the user's code.

Libraries put whole messages, and so whole documents, into their complaints; and an exception's own text may be a piece
of code. Of the former the wording is kept, of the latter its type and where it came from.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

_OURS = ("kernelcast", "server", "profiler", "model")
_MOST_CHARACTERS = 4000  # of one text
_FRAMES = 12
# Would begin another line, or be obeyed by a terminal.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] in _OURS


def content(record: logging.LogRecord, *, with_source: bool) -> dict[str, Any]:
    """Return the record as plain data."""
    told: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "pid": record.process,
        "logger": record.name,
        "event": _wording(record, with_source=with_source),
    }
    told |= getattr(record, "facts", {})
    if with_source:
        told |= getattr(record, "source", {})
    if record.exc_info and record.exc_info[1] is not None:
        told |= _failure(record.exc_info[1], with_source=with_source)
    return told


def _wording(record: logging.LogRecord, *, with_source: bool) -> str:
    if with_source or is_ours(record):
        return _cut(record.getMessage())
    arguments = record.args if isinstance(record.args, tuple) else (record.args,)
    kinds = [type(each).__name__ for each in arguments if isinstance(each, BaseException)]
    return " ".join([str(record.msg), *kinds])


def _failure(error: BaseException, *, with_source: bool) -> dict[str, Any]:
    if with_source:
        return {"traceback": _cut("".join(traceback.format_exception(error)))}
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}" for frame in frames]
    return {"failure": type(error).__name__, "at": places}


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


class JsonLines(logging.Formatter):
    """One object a line; no text in it can begin another."""

    def __init__(self, *, with_source: bool) -> None:
        super().__init__()
        self._with_source = with_source

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(content(record, with_source=self._with_source), default=str)


class Words(logging.Formatter):
    """Formats a record for a terminal: level, logger and event, then the facts."""

    def __init__(self, *, with_source: bool) -> None:
        super().__init__()
        self._with_source = with_source

    def format(self, record: logging.LogRecord) -> str:
        told = content(record, with_source=self._with_source)
        head = f"{record.levelname} {told.pop('logger')}: {told.pop('event')}"
        facts = {name: each for name, each in told.items() if name not in ("time", "level", "pid")}
        line = " ".join([head, *(f"{name}={json.dumps(each, default=str)}" for name, each in facts.items())])
        return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), line)
