"""Fingerprints of meaning: a hash of a kernel's tokens and of all that it rests on.

Tokens are those after preprocessing, so comments and spacing leave a fingerprint as it is. What a kernel rests on is
found by name, from definition to definition.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

_TOKEN = re.compile(r"\w+|[^\w\s]")


class Weight(IntEnum):
    """Which of several definitions of one name counts."""

    VARIABLE = 0  # or a type, or a constant: the last counts
    FUNCTION = 1  # but a kernel is not replaced by what is none
    KERNEL = 2


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """The tokens of one top-level item, and the words among them in order of first use."""

    tokens: bytes
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """A fingerprint, the names of what it covers, and every word met on the way: what could come to be covered."""

    fingerprint: str
    covered: tuple[str, ...]
    words: frozenset[str]


def definition(text: str) -> Definition:
    tokens = _TOKEN.findall(text)
    words = dict.fromkeys(t for t in tokens if t[0].isalpha() or t[0] == "_")
    return Definition(" ".join(tokens).encode(), tuple(words))


def joined(parts: Sequence[Definition]) -> Definition:
    """Return what a name means that several functions have: all of them, in their order."""
    words = dict.fromkeys(word for part in parts for word in part.words)
    return Definition(b" ".join(part.tokens for part in parts), tuple(words))


def meaning(name: str, definitions: Mapping[str, Definition]) -> Meaning:
    """Return the meaning of `name`, and in order of first use of all that it rests on."""
    digest, queue = hashlib.sha256(), {name: None}
    words: set[str] = {name}
    waiting = [name]
    for used in waiting:
        found = definitions[used]
        digest.update(found.tokens)
        words.update(found.words)
        for word in found.words:
            if word in definitions and word not in queue:
                queue[word] = None
                waiting.append(word)
    return Meaning(digest.hexdigest()[:24], tuple(queue), frozenset(words))
