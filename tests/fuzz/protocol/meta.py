"""Messages of every method in the protocol, made from lsprotocol's types, which are its meta-model in Python."""

from __future__ import annotations

import enum
import functools
import random
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from cattrs import Converter
from lsprotocol import converters, types

METHODS = tuple(sorted(types.METHOD_TO_TYPES))
ANSWERED = tuple(method for method in METHODS if types.METHOD_TO_TYPES[method][1] is not None)
_DEEP = 5
_NUMBERS = (0, 0, 1, 2, 3, 7, 40, 1000, 2**31 - 1)
_WORDS = ("", "a", "kernelcast", "é😀", "\x00", "x" * 300, "\ud83d", "opencl", "1.0", "*.cl", "\n")


@functools.cache
def converter() -> Converter:
    """Resolves the types' forward references, too."""
    return converters.get_converter()


@functools.cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    """Names and types; what is a text with one value alone is a literal."""
    found = []
    for field in attrs.fields(kind):
        options = getattr(field.validator, "options", None)
        found.append((field.name, typing.Literal[tuple(options)] if options else field.type))
    return tuple(found)


class Values:
    """Values of the protocol's types by chance; documents and texts from those that the caller has."""

    def __init__(self, chance: random.Random, uris: Sequence[str], texts: Sequence[str]) -> None:
        converter()
        self._chance = chance
        self._uris = uris
        self._texts = texts

    def message(self, method: str) -> dict[str, Any]:
        """As JSON; requests have the id 0."""
        return self._json(types.METHOD_TO_TYPES[method][0])

    def result(self, method: str) -> Any:
        """What may answer a request."""
        kind = types.METHOD_TO_TYPES[method][1]
        return self._json(kind).get("result") if kind else None

    def anything(self, depth: int = 0) -> Any:
        """What the protocol leaves open."""
        pick = self._chance.randrange(6 if depth < 3 else 4)
        if pick == 4:
            return [self.anything(depth + 1) for _ in range(self._chance.randrange(3))]
        if pick == 5:
            return {self._chance.choice(_WORDS): self.anything(depth + 1) for _ in range(self._chance.randrange(3))}
        return (None, self._chance.random() < 0.5, self._chance.choice(_NUMBERS), self._chance.choice(_WORDS))[pick]

    def _json(self, kind: type) -> dict[str, Any]:
        made: dict[str, Any] = converter().unstructure(self._of(kind, "", 0), kind)
        return made

    def _of(self, kind: Any, name: str, depth: int) -> Any:
        if isinstance(kind, type) and attrs.has(kind):
            return kind(**{field: self._of(inner, field, depth + 1) for field, inner in _fields(kind)})
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._chance.choice(list(kind))
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Union:
            return self._one_of(arguments, name, depth)
        if origin is typing.Literal:
            return self._chance.choice(arguments)
        if origin is tuple:
            return tuple(self._of(each, name, depth + 1) for each in arguments)
        if origin is not None and issubclass(origin, Mapping):
            count = self._chance.randrange(3 if depth < _DEEP else 1)
            return {self._of(arguments[0], name, depth + 1): self._of(arguments[1], name, depth + 1)
                    for _ in range(count)}  # fmt: skip
        if origin is not None and issubclass(origin, Sequence):
            count = self._chance.randrange(4 if depth < _DEEP else 1)
            return [self._of(arguments[0], name, depth + 1) for _ in range(count)]
        return self._plain(kind, name)

    def _one_of(self, kinds: tuple[Any, ...], name: str, depth: int) -> Any:
        if type(None) in kinds and (depth > _DEEP or self._chance.random() < 0.4):
            return None
        return self._of(self._chance.choice([kind for kind in kinds if kind is not type(None)]), name, depth)

    def _plain(self, kind: Any, name: str) -> Any:
        if kind is str:
            return self._text(name)
        if kind is bool:
            return self._chance.random() < 0.5
        if kind is int:
            return 0 if name in ("id", "process_id") else self._chance.choice(_NUMBERS)
        if kind is float:
            return self._chance.random()
        return self.anything()

    def _text(self, name: str) -> str:
        if name == "jsonrpc":
            return "2.0"
        if name == "uri" or name.endswith("_uri"):
            return self._chance.choice(self._uris)
        if name == "text" and self._texts:
            return self._chance.choice(self._texts)
        return self._chance.choice(_WORDS)
