"""Messages made wrong: in their structure, in what they hold, and as bytes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

_DEEP, _WILD = "@deep@", "@wild@"
_DEPTHS = (30, 150, 400, 5000, 100_000)
_WILD_NUMBERS = ("NaN", "-Infinity", "1e999", "-1e999", "9" * 30, "9" * 5000, "-0.0", "1.5", "1e308")
_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, -(2**70), 1.5, "", "\ud800", "\udc00a", "\x00", "x" * 5000, [], {}, [[]], [None],
    {"": None}, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": 1, "method": "exit"}, _DEEP, _WILD, "file://[", "file:",
    "file:///" + "n" * 5000, "file:///a%00b.cl",
)  # fmt: skip


def spoilt(chance: random.Random, message: dict[str, Any]) -> dict[str, Any]:
    """Changes the message, in one place or a few."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        holder, key = _place(chance, message)
        chance.choice(_WAYS)(chance, holder, key)
    return message


def _place(chance: random.Random, root: dict[str, Any]) -> tuple[Any, Any]:
    """A member of an object or of an array; deep ones as likely as others."""
    places: list[tuple[Any, Any]] = []
    todo: list[Any] = [root]
    while todo:
        holder = todo.pop()
        items = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        places += [(holder, key) for key, _ in items]
        todo += [value for _, value in items if isinstance(value, dict | list)]
    return chance.choice(places) if places else (root, "params")


def _odd(chance: random.Random) -> Any:
    """A copy: what is spoilt further must not change what others get."""
    return copy.deepcopy(chance.choice(_ODD))


def _missing(_: random.Random, holder: Any, key: Any) -> None:
    if isinstance(holder, dict):
        holder.pop(key, None)
    elif key < len(holder):
        del holder[key]


def _other(chance: random.Random, holder: Any, key: Any) -> None:
    holder[key] = _odd(chance)


def _extra(chance: random.Random, holder: Any, _: Any) -> None:
    if isinstance(holder, dict):
        holder[chance.choice(("extra", "id", "error", "result", "method", "type_name", "class", "uri", "kind"))] = _odd(
            chance
        )
    else:
        holder.append(_odd(chance))


def _wrapped(chance: random.Random, holder: Any, key: Any) -> None:
    value = holder.get(key) if isinstance(holder, dict) else holder[key]
    holder[key] = [value] if chance.random() < 0.5 else {"value": value}


def _as_text(_: random.Random, holder: Any, key: Any) -> None:
    value = holder.get(key) if isinstance(holder, dict) else holder[key]
    holder[key] = str(value)


_WAYS: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    _missing,
    _other,
    _other,
    _other,
    _extra,
    _wrapped,
    _as_text,
)


def as_bytes(chance: random.Random, message: Any) -> bytes:
    """With what JSON libraries cannot write put in; now and then not escaped, in another encoding, or cut off."""
    text = json.dumps(message, ensure_ascii=chance.random() < 0.8)
    depth = chance.choice(_DEPTHS)
    opening, closing = chance.choice((("[", "]"), ('{"a":', "}")))
    text = text.replace(f'"{_DEEP}"', opening * depth + "0" + closing * depth)
    text = text.replace(f'"{_WILD}"', chance.choice(_WILD_NUMBERS))
    return text.encode("utf-8", "surrogatepass")


def torn(chance: random.Random, body: bytes) -> bytes:
    """No JSON any more, or hardly."""
    at = chance.randrange(len(body) + 1)
    return chance.choice(
        (body[:at], body[at:], body[:at] + b"\xff" + body[at:], b"", b"null", b"[]", b"[" + body + b"]",
         b"[" + body + b"," + body + b"]", b'"' + body + b'"', body.decode("utf-8", "replace").encode("utf-16"),
         b"\xef\xbb\xbf" + body, b"  " + body + b"\r\n\r\n", body + body, b"{" * 100_000, b"0" * 100_000, b"\x00" * 9)
    )  # fmt: skip


BROKEN_HEADERS: tuple[bytes, ...] = (
    b"Content-Length: -1\r\n\r\n{}", b"Content-Length: abc\r\n\r\n{}", b"Content-Length: 1e3\r\n\r\n{}",
    b"Content-Length\r\n\r\n{}", b"Content-Type: a\r\n\r\n{}", b"Content-Length: 99999999999999999999\r\n\r\n{}",
    b"Content-Length: 999999999999\r\n\r\n{}", b"Content-Length: 50\r\n\r\n{}", b"x" * 200_000, b"\x00" * 20 + b"\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"Content-Length: 2\r\nno header\r\n\r\n{}", b"Content-Length: 2\r\n",
    b"{\"jsonrpc\": \"2.0\"}\r\n\r\n", b"Content-Length: \xd9\xa3\r\n\r\n{}", b"Content-Length: 0x2\r\n\r\n{}",
)  # fmt: skip


def framed(chance: random.Random, body: bytes) -> bytes:
    """With headers as clients write them."""
    name = chance.choice((b"Content-Length", b"Content-Length", b"content-length", b"CONTENT-LENGTH"))
    kind = chance.choice((b"", b"", b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n", b"X-Own: \xff\r\n"))
    length = name + chance.choice((b": ", b":", b":  ")) + str(len(body)).encode() + b"\r\n"
    return chance.choice((length + kind, kind + length)) + b"\r\n" + body
