"""How a client answers the server's requests: as it should, wrongly, twice, late, never."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from lsprotocol import types

from tests.fuzz.protocol.meta import Values
from tests.fuzz.protocol.script import packed
from tests.fuzz.protocol.spoil import as_bytes, framed, spoilt

_SETTINGS: tuple[Any, ...] = (
    {}, {"device": "generic-gpu"}, {"device": "nowhere"}, {"hints": {"enabled": False}},
    {"build": {"include": ["sub", "loop"]}}, {"build": {"defines": {"N": 1}}}, {"build": {"options": "-DN=4 -cl"}},
    {"measure": {"budgetS": -1, "timeLimitS": "long"}},
)  # fmt: skip

Manners = Callable[[dict[str, Any]], list[bytes]]


def polite(request: dict[str, Any]) -> list[bytes]:
    """Nothing is configured, everything is agreed to."""
    result: Any = None
    if request["method"] == types.WORKSPACE_CONFIGURATION:
        result = [None for _ in request["params"]["items"]]
    return [packed({"id": request["id"], "result": result})]


def by_chance(seed: str) -> Manners:
    chance = random.Random(seed)
    values = Values(chance, ["file:///k.cl"], [])
    kept: list[bytes] = []

    def answer(request: dict[str, Any]) -> list[bytes]:
        pick = chance.random()
        if pick < 0.55:
            made: dict[str, Any] = {"result": values.result(request["method"])}
            if request["method"] == types.WORKSPACE_CONFIGURATION and chance.random() < 0.7:
                made = {"result": [chance.choice(_SETTINGS) for _ in request["params"]["items"]]}
        elif pick < 0.75:
            return polite(request)
        else:
            made = {"error": {"code": chance.choice((-32601, -32800, 0)), "message": "no"}}
        message = {"jsonrpc": "2.0", "id": request["id"], **made}
        if 0.85 < pick < 0.93:
            message = spoilt(chance, message)
        sent = framed(chance, as_bytes(chance, message))
        if pick > 0.97:
            return [sent, sent]
        if pick > 0.93:  # not now, perhaps with a later one
            kept.append(sent)
            return []
        before = [kept.pop()] if kept and chance.random() < 0.3 else []
        return [sent, *before]

    return answer
