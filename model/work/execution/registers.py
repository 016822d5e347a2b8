"""How many 32-bit registers a work-item needs at once: an estimate from how long the source's variables live.

A variable holds registers from its declaration to its last use; to the end of a loop where it was declared before the
loop and is used in it. Constants need none, nor do private arrays that are indexed at run time (they live in memory).
Compilers may do better (by computing a value again) or worse (by loading early): take it for an order, above all for
what grows with the number of accumulators. Not counted are the values in the middle of an expression; `RESERVED` and
`PER_BUFFER` stand for these, for ids and for addresses.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from model.opencl.types import ArrayType, PointerType, ScalarType, StructType, Type, VectorType
from model.work.execution.values import MAX_NUMBERS, Pointer, Value

RESERVED = 8
PER_BUFFER = 2  # a 64-bit address each
REGISTER_BYTES = 4
POINTER_REGISTERS = 2


@dataclass(frozen=True, slots=True)
class Pressure:
    """32-bit registers per work-item: the most at once, and over barriers (None without barriers)."""

    registers: int
    over_barriers: int | None


NO_PRESSURE = Pressure(0, None)


@dataclass(slots=True, eq=False)
class Lifetimes:
    """When variables are declared and used, in steps of the symbolic execution."""

    born: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    held: dict[int, Value] = field(default_factory=dict)  # at birth
    loops: list[tuple[int, int]] = field(default_factory=list)
    barriers: list[int] = field(default_factory=list)

    def declared(self, key: int, value: Value, step: int) -> None:
        self.born[key] = self.last[key] = step
        self.held[key] = value

    def pressure(self, types: Mapping[int, Type], in_memory: frozenset[str], buffers: int) -> Pressure:
        """`in_memory` names the arrays that are indexed at run time, `buffers` is how many are addressed."""
        spans = self._spans()
        sizes = {key: self._registers(key, types[key], in_memory) for key in spans}
        base = RESERVED + PER_BUFFER * buffers
        over = [sum(n for k, n in sizes.items() if spans[k][0] < at < spans[k][1]) for at in self.barriers]
        return Pressure(base + _peak(spans, sizes), max(over) if over else None)

    def _spans(self) -> dict[int, tuple[int, int]]:
        uses = sorted((used, key) for key, used in self.last.items())
        for start, end in sorted(self.loops, key=_end):
            low, high = bisect_left(uses, (start, 0)), bisect_left(uses, (end + 1, 0))
            inside = uses[low:high]
            uses[low:high] = [
                *((used, key) for used, key in inside if self.born[key] >= start),
                *((end, key) for _, key in inside if self.born[key] < start),
            ]
        return {key: (self.born[key], used) for used, key in sorted(uses, key=_key) if used > self.born[key]}

    def _registers(self, key: int, kind: Type, in_memory: frozenset[str]) -> int:
        value = self.held[key]
        if isinstance(value, Pointer) and isinstance(kind, ArrayType):
            stays = value.memory is None or value.memory.name in in_memory or value.memory.space != "private"
            return 0 if stays else _of_type(kind)
        return _of_type(kind)


def _end(loop: tuple[int, int]) -> int:
    return loop[1]


def _key(use: tuple[int, int]) -> int:
    return use[1]


def _peak(spans: Mapping[int, tuple[int, int]], sizes: Mapping[int, int]) -> int:
    events = sorted(
        (when, change)
        for key, (born, died) in spans.items()
        for when, change in ((born, sizes[key]), (died, -sizes[key]))
    )
    return max(accumulate(change for _, change in events), default=0)


def _of_type(kind: Type) -> int:
    match kind:
        case ScalarType():
            return max(1, kind.size_bytes // REGISTER_BYTES)
        case VectorType():
            return kind.width * max(1, kind.element.size_bytes // REGISTER_BYTES)
        case PointerType():
            return POINTER_REGISTERS
        case StructType():
            return sum(_of_type(member) for _, member in kind.members) if kind.numbers <= MAX_NUMBERS else 0
        case ArrayType():
            return -(-kind.size_bytes // REGISTER_BYTES)
        case _:
            return 0
