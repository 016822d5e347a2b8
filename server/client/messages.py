"""Parse JSON-RPC messages: requests, notifications, answers, and errors for all else.

pygls builds typed messages while it still parses; what it cannot build is logged and never answered, and any object
inside a message that has a `jsonrpc` of its own is taken for one. So the envelope is read here, and only then filled.
Loads nothing: the first message is read before the protocol's types are there.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

Id = int | str

PARSE_ERROR, INVALID_REQUEST = -32700, -32600  # JSON-RPC's own

# Far deeper than the protocol's own structures; beyond a few hundred levels Python cannot walk them.
MAX_DEPTH = 100
_TOLD_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Request:
    id: Id
    method: str
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """To a request of ours."""

    id: Id
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No message. `id` is the request's, None where it has none that can be used.

    What looks like an answer is not answered: two programs that do not understand each other would never end.
    """

    id: Id | None
    code: int
    message: str
    is_answer: bool = False


def read_message(body: bytes) -> Request | Notification | Answer | Unreadable:
    try:
        raw = json.loads(body.decode(), parse_constant=lambda _: None, parse_float=_finite)
    except RecursionError:
        return _unparsed("it is nested too deeply")
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        return _unparsed(str(error))
    if not isinstance(raw, dict):
        kind = "a batch, which this protocol does not have" if isinstance(raw, list) else "not an object"
        return Unreadable(None, INVALID_REQUEST, f"The message is {kind}.")
    return _enveloped(raw, body)


def _enveloped(raw: dict[str, Any], body: bytes) -> Request | Notification | Answer | Unreadable:
    has_id, found, method = "id" in raw, raw.get("id"), raw.get("method")
    # A boolean is an integer to Python alone.
    usable = isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool))
    msg_id: Id | None = found if usable else None
    wrong = ""
    if raw.get("jsonrpc") != "2.0":
        wrong = '`jsonrpc` must be "2.0"'
    elif has_id and msg_id is None and "method" in raw:
        wrong = "`id` must be an integer or a text"
    elif "method" in raw and not isinstance(method, str):
        wrong = "`method` must be a text"
    elif body.count(b"{") + body.count(b"[") > MAX_DEPTH and _is_deeper(raw, MAX_DEPTH):
        wrong = "it is nested too deeply"
    is_answer = "method" not in raw and ("result" in raw or "error" in raw)
    if is_answer and msg_id is None:
        wrong = wrong or "it answers nothing"
    if wrong:
        return Unreadable(msg_id, INVALID_REQUEST, f"The message cannot be used: {wrong}.", is_answer)
    if isinstance(method, str):
        return Notification(method, raw) if msg_id is None else Request(msg_id, method, raw)
    if msg_id is not None and is_answer:
        return Answer(msg_id, raw)
    return Unreadable(msg_id, INVALID_REQUEST, "The message is neither a request, a notification nor an answer.")


def _unparsed(reason: str) -> Unreadable:
    return Unreadable(None, PARSE_ERROR, f"The message is not JSON: {reason[:_TOLD_LENGTH]}.")


def _finite(digits: str) -> float | None:
    """Return null for a number that is too large, as JavaScript would have written it."""
    value = float(digits)
    return value if math.isfinite(value) else None


def _is_deeper(value: object, depth: int) -> bool:
    """Return whether a value is nested deeper than allowed, without recursion."""
    level = [value]
    for _ in range(depth):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        if not inner:
            return False
        level = inner
    return True
