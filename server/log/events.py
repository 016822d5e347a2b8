"""Events: a name and facts, so that a log can be searched and counted. Documents go by file name and a hash."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from urllib.parse import unquote

EVENTS = logging.getLogger("kernelcast.events")


def event(name: str, *, level: int = logging.INFO, source: Mapping[str, str] | None = None, **facts: object) -> None:
    """Write one down. What is in `source` may quote the user's code, and is left out unless that is asked for."""
    if EVENTS.isEnabledFor(level):
        EVENTS.log(level, name, extra={"facts": facts, "source": source or {}})


def document_name(uri: str) -> str:
    """Return a name that tells documents apart and does not reveal their folders."""
    digest = hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{unquote(uri.rpartition('/')[2])}#{digest}"


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def native_output(process: str, text: str, *, level: int = logging.WARNING) -> None:
    """Log what a child process, or a driver in it, wrote to its stderr; compilers quote the code they complain of."""
    if text:
        event(
            "native output",
            level=level,
            source={"text": text},
            process=process,
            lines=text.count("\n") + 1,
            characters=len(text),
        )
