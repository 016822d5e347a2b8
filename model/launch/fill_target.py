"""What a fill is about: a whole buffer, one member of its elements, or one element of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from model.launch.expression import ExpressionError
from model.launch.launch import Fill

_TARGET = re.compile(r"([^\W\d]\w*)(?:\[(\d{1,18})\])?((?:\.[^\W\d]\w*)*)", re.ASCII)
FORMS = "`NAME`, `NAME.member`, `NAME[INDEX]` or `NAME[INDEX].member`"


@dataclass(frozen=True, slots=True)
class FillTarget:
    """`rows`, `rows.start`, `rows[3]`, `rows[3].start`: a buffer, an element of it if not all, members inward."""

    buffer: str
    index: int | None = None
    members: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """What stands behind the buffer's name, without a leading dot; empty for the whole of it."""
        return str(FillTarget("", self.index, self.members)).lstrip(".")

    def __str__(self) -> str:
        position = "" if self.index is None else f"[{self.index}]"
        return "".join([self.buffer, position, *(f".{member}" for member in self.members)])


def parse_target(text: str, *, offset: int = 0) -> FillTarget:
    """Read `rows[3].start`, which stands at character `offset` of a larger text; raises `ExpressionError`."""
    found = _TARGET.fullmatch(text)
    if found is None:
        message = f"`{text}` names no contents; a fill is for {FORMS}, where INDEX is a whole number from 0 on"
        raise ExpressionError(message, offset, offset + max(1, len(text)))
    name, index, members = found.groups()
    return FillTarget(name, None if index is None else int(index), tuple(members.split(".")[1:]))


def buffer_of(key: str) -> str:
    """Return the buffer that a fill is about, from its key in a launch."""
    return re.split(r"[.\[]", key, maxsplit=1)[0]


def fills_of(fills: Iterable[tuple[str, Fill]], buffer: str) -> dict[str, Fill]:
    """Return what is known of one buffer by part of it: "" for the whole, `start`, `[3]`, `[3].start`."""
    end = len(buffer)
    return {
        key[end:].lstrip("."): fill
        for key, fill in fills
        if key.startswith(buffer) and key[end : end + 1] in ("", ".", "[")
    }
