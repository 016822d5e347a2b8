"""What a command writes, and how it ends: answers on stdout, everything else on stderr, and its exit status."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence

ANSWERED, SOME_FAILED, WRONG_CALL = 0, 1, 2
NO_GPU = 3  # of `kernelcast campaign`: nothing went wrong, and nothing can be measured
INTERRUPTED = 130  # 128 + SIGINT, as shells count
NOBODY_READS = 141  # 128 + SIGPIPE


class WrongCallError(Exception):
    """The call itself was wrong; the text says what would be right."""


def warn(message: str) -> None:
    print(f"kernelcast: {message}", file=sys.stderr, flush=True)


def write_json(answer: Mapping[str, object] | Sequence[object], *, indent: int | None = None) -> None:
    """Write one JSON text and a line end to stdout, unbuffered: the reader of a batch may wait for it."""
    write_text(json_text(answer, indent=indent))


def write_text(text: str) -> None:
    print(text, flush=True)


def json_text(answer: Mapping[str, object] | Sequence[object], *, indent: int | None = None) -> str:
    # ASCII alone, so that no locale can spoil it.
    try:
        return json.dumps(answer, indent=indent, allow_nan=False)
    except (TypeError, ValueError):  # JSON knows no infinity
        return json.dumps(_finite(answer), indent=indent, allow_nan=False)


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {key: _finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_finite(inner) for inner in value]
    return value
