"""Which buffers' contents flow where: a static over-approximation, by token.

`=x` is something read from buffer `x`, `&x` an address in it, `$3` whatever variable 3 may hold, `*$3` what lies where
variable 3 may point to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from model.sampling.values import NO_TAINT

Tokens = frozenset[str]


def read_through(pointer: Tokens) -> Tokens:
    """Return the tokens of what is read where a pointer with these tokens leads."""
    if not pointer:
        return NO_TAINT
    return frozenset(_read(token) for token in pointer)


def _read(token: str) -> str:
    if token.startswith("&"):
        return "=" + token[1:]
    if token.startswith("$"):
        return "*" + token
    return token


class Flows:
    """What was assigned to what, all over a program."""

    def __init__(self) -> None:
        self._into: dict[str, set[str]] = defaultdict(set)

    def assigned(self, target: str, value: Tokens) -> None:
        """`target` is a token of what is set: `$3`, `=x` or `*$3`."""
        if value:
            self._into[target] |= value

    def buffers(self, tokens: Iterable[str]) -> frozenset[str]:
        """Return the names of all that contents may come from."""
        into = self._with_pointers_followed()
        found: set[str] = set()
        seen: set[str] = set()
        stack = list(tokens)
        while stack:
            token = stack.pop()
            if token in seen:
                continue
            seen.add(token)
            if token.startswith("="):
                found.add(token[1:])
            if token.startswith("*"):
                stack.extend(read_through(frozenset(self._reached(token[1:]))))
            stack.extend(into.get(token, ()))
        return frozenset(found)

    def _reached(self, token: str) -> set[str]:
        seen: set[str] = set()
        stack = [token]
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                stack.extend(self._into.get(at, ()))
        return {t for t in seen if not t.startswith("$")}

    def _with_pointers_followed(self) -> dict[str, set[str]]:
        """Return the flows into each name; a write through a pointer flows into all that it may point to."""
        into = {target: set(tokens) for target, tokens in self._into.items()}
        for target, tokens in self._into.items():
            if target.startswith("*"):
                for place in read_through(frozenset(self._reached(target[1:]))):
                    into.setdefault(place, set()).update(tokens)
        return into
