"""What may be tried for a faster launch: `tune.TILE=8,16,32 tune.local=auto where TILE*TILE<=local`.

A range names a macro, a scalar argument, or `local` or `global`. `auto` is for `local` alone: sizes that the device
allows. Each condition must hold for a candidate; in it, `local` and `global` are numbers of work-items, `local.x` to
`global.z` those of one dimension, and `device.local_mem_bytes` and `device.max_work_group_size` limits of the device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from model.launch.conditions import Condition
from model.launch.expression import Expression, ExpressionError, parse_expression
from model.launch.sizes import parse_sizes

MOST_VALUES = 64
SIZES = ("local", "global")
AUTO = "auto"
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
# What conditions may speak of beside the launch's own names.
SIZE_NAMES = frozenset(f"{size}{part}" for size in SIZES for part in ("", ".x", ".y", ".z"))
DEVICE_NAMES = frozenset({"device.local_mem_bytes", "device.max_work_group_size"})


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a range: of a macro as it is written, and of a size one expression for each dimension."""

    text: str
    sizes: tuple[Expression, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class TuneRange:
    """`choices` are empty for `auto`."""

    name: str
    choices: tuple[Choice, ...] = ()

    @property
    def is_auto(self) -> bool:
        return not self.choices

    @property
    def is_size(self) -> bool:
        return self.name in SIZES

    def __str__(self) -> str:
        """Return it as an annotation writes it."""
        return f"tune.{self.name}={','.join(choice.text for choice in self.choices) or AUTO}"


@dataclass(frozen=True, slots=True)
class Tuning:
    """All ranges of a launch, and the conditions on what they may be together."""

    ranges: tuple[TuneRange, ...] = ()
    conditions: tuple[Condition, ...] = ()

    def merged(self, over: Tuning) -> Tuning:
        """Both together; a range of `over` hides that of the same name."""
        ranges = {one.name: one for one in (*self.ranges, *over.ranges)}
        return Tuning(tuple(ranges.values()), tuple(dict.fromkeys((*self.conditions, *over.conditions))))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.ranges)

    def __str__(self) -> str:
        """Return it as an annotation writes it."""
        return " ".join([*map(str, self.ranges), *(f"where {one.text}" for one in self.conditions)])


NO_TUNING = Tuning()


def parse_range(name: str, value: str, *, name_offset: int = 0, offset: int = 0) -> TuneRange:
    """Read `tune.NAME=value`, whose name and value stand at these characters. Raises ExpressionError."""
    if not _NAME.fullmatch(name):
        message = "say what to tune: tune.NAME=values, where NAME is a macro, a scalar argument, local or global"
        raise ExpressionError(message, name_offset, name_offset + max(1, len(name)))
    if value.strip() == AUTO:
        if name != "local":
            message = f"only tune.local=auto finds values by itself; list those of `{name}`: tune.{name}=8,16,32"
            raise ExpressionError(message, offset, offset + len(value))
        return TuneRange(name)
    choices = [_choice(name, part, at) for part, at in _parts(value, offset)]
    if len(choices) > MOST_VALUES:
        raise ExpressionError(f"{len(choices)} values; at most {MOST_VALUES} are tried", offset, offset + len(value))
    return TuneRange(name, tuple(dict.fromkeys(choices)))


def _choice(name: str, text: str, offset: int) -> Choice:
    word = text.strip()
    start = offset + len(text) - len(text.lstrip())
    if not word:
        raise ExpressionError("a value is missing between the commas", offset, offset + max(1, len(text)))
    if name in SIZES:
        sizes = parse_sizes(word, offset=start)
        if len(sizes) > 3:
            message = f"{len(sizes)} sizes, but OpenCL knows one to 3 dimensions"
            raise ExpressionError(message, start, start + len(word))
        return Choice(word, sizes)
    if _WORD.fullmatch(word):
        return Choice(word)  # a type, or another macro
    number = parse_expression(word, offset=start).evaluate({})
    return Choice(repr(number))


def _parts(text: str, offset: int) -> Iterator[tuple[str, int]]:
    """Split at the commas outside parentheses."""
    depth, begin = 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            yield text[begin:at], offset + begin
            begin = at + 1
    yield text[begin:], offset + begin
