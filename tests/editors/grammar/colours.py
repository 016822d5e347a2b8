"""Texts as VS Code would colour them, and words to say what came of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a line, and its scopes from the outermost to the innermost, without `.opencl` at their ends."""

    text: str
    scopes: tuple[str, ...]

    @property
    def is_comment(self) -> bool:
        return any(scope.startswith("comment") for scope in self.scopes)


@dataclass(frozen=True, slots=True)
class Coloured:
    """A text as tokens; `open` are the scopes that its last line leaves open."""

    lines: tuple[tuple[Token, ...], ...]
    open: tuple[str, ...]

    def __iter__(self) -> Iterator[Token]:
        return (token for line in self.lines for token in line)

    def all_of(self, text: str) -> list[str]:
        """The innermost scope of each token that reads so; "" where it has none."""
        return [token.scopes[-1] if token.scopes else "" for token in self if token.text.strip() == text]

    def __getitem__(self, text: str) -> str:
        """The innermost scope of the first token that reads so."""
        found = self.all_of(text)
        assert found, f"{text!r} is no token of its own in {[token.text for token in self]}"
        return found[0]

    def texts(self, scope: str) -> list[str]:
        """What has this scope, or one below it."""
        return [token.text for token in self if any(f"{s}.".startswith(f"{scope}.") for s in token.scopes)]


class Colours:
    """Sends texts to the process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, text: str) -> Coloured:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the reader of the grammar ended; its last words are above"
        found = json.loads(answer)
        lines = tuple(tuple(Token(t["text"], _short(t["scopes"])) for t in line) for line in found["lines"])
        return Coloured(lines, _short(found["open"]))


def _short(scopes: list[str]) -> tuple[str, ...]:
    return tuple(scope.removesuffix(".opencl") for scope in scopes)
