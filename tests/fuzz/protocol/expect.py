"""Which answers a message must get, by the specifications of JSON-RPC and the protocol, from its bytes alone."""

from __future__ import annotations

import json
from typing import Any

Key = tuple[str, Any]
NOBODY: Key = ("null", None)
_DEEPEST = 100  # what the server takes


def key_of(msg_id: Any) -> Key | None:
    """Of an id as it stands in a message, None for what cannot be one: 1, "1" and true are three things."""
    if isinstance(msg_id, bool) or not isinstance(msg_id, int | str):
        return None
    return (type(msg_id).__name__, msg_id)


def answers_to(body: bytes) -> Key | None:
    """The id under which exactly one answer must come, NOBODY for an error without an id, None for no answer."""
    try:
        message = json.loads(body.decode())
    except (ValueError, RecursionError):
        return NOBODY
    if not isinstance(message, dict):
        return NOBODY
    key = key_of(message.get("id"))
    if "method" not in message:
        is_answer = "result" in message or "error" in message
        return None if is_answer else key or NOBODY
    if "id" in message:
        return key or NOBODY
    is_fine = message.get("jsonrpc") == "2.0" and isinstance(message["method"], str) and _depth(message) <= _DEEPEST
    return None if is_fine else NOBODY


def _depth(value: Any) -> int:
    """Arrays and objects inside each other."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return depth
