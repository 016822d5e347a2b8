"""What is known of a buffer's elements from the words that say how it is filled."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from operator import mul

from model.launch.fill import SKEWED_FLOATS_BASE
from model.launch.fill_target import parse_target
from model.launch.launch import Fill
from model.opencl.members import find_member
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression

_FEWEST_DRAWS, _MOST_DRAWS, _NEARLY = 50, 1024, 0.005
Interval = tuple[Value, Value]  # both ends included

_RISING = frozenset({"iota", "csr_rows", "sorted"})
_WEIGHTED = frozenset({"skewed", "mask", "choice"})
_CONTINUOUS = frozenset({"uniform", "csr_rows", "csr_lengths"})  # too many values for counting them


@dataclass(frozen=True, slots=True)
class Contents:
    """How many elements of which size a buffer has, filled how; or, element by element, what a constant table holds.

    `is_whole`: the elements are integers, whatever the numbers are that the fill was given. `lanes` numbers make an
    element. `parts` are members and single elements of their own, those that go before others last.
    """

    elements: int
    element_bytes: int
    fill: Fill | None
    values: Mapping[int, Value] | None = None
    is_whole: bool = True
    lanes: int = 1
    parts: tuple[Part, ...] = ()

    @property
    def numbers(self) -> int:
        return self.elements * self.lanes

    def at_byte(self, at: Value) -> Value | None:
        """Return the number to expect at that byte of the buffer; None where nothing is known."""
        element = at // self.element_bytes
        if self.lanes == 1 and not self.parts:
            return self.mean_at(element)
        within = at - element * self.element_bytes
        for part in reversed(self.parts):
            if part.begin <= within < part.end and part.index in (None, element):
                lane = (within - part.begin) // part.number_bytes
                return part.contents.mean_at(element * part.contents.lanes + lane if part.index is None else lane)
        return self.mean_at(element * self.lanes + within // max(1, self.element_bytes // self.lanes))

    def of_load(self, offset: object) -> Contents:
        """Return what may stand where `offset` leads, in bytes: of a struct one of its members, where that is plain."""
        if not self.parts or not isinstance(offset, Expression):
            return self
        constant = offset.constant
        terms = offset.terms
        if any(monomial and coefficient % self.element_bytes for monomial, coefficient in terms):
            return replace(self, fill=None, parts=())
        rest = sum(coefficient for monomial, coefficient in terms if not monomial)
        element, within = divmod(rest, self.element_bytes)
        inside = [part for part in self.parts if part.begin <= within < part.end]
        found = replace(self, parts=())
        for part in inside:
            if part.index is None:
                found = part.contents
            elif constant is not None and part.index == element:
                return part.contents
        singles = tuple(part for part in inside if part.index is not None)
        return replace(found, parts=singles) if singles and constant is None else found

    def mean_at(self, index: Value) -> Value | None:
        """Return the number to expect at `index`, of all that the elements are made of; None where nothing is known."""
        if self.values is not None:
            return self.values.get(int(index))
        if self.fill is None:
            return None
        a = self.fill.arguments
        match self.fill.kind:
            case "zeros":
                return 0
            case "const":
                return a[0]
            case "iota":
                return index
            case "perm":
                return max(0, self.numbers - 1) / 2
            case "uniform":
                return (a[0] + a[1]) / 2
            case "randint":
                return (a[0] + a[1] - 1) / 2
            case "csr_rows":
                return index * a[0] / max(1, self.numbers - 1)
            case "csr_lengths":
                return a[0] / max(1, self.numbers - 1) if index < max(1, self.numbers - 1) else 0
            case "sorted":
                # Never below LO: an unsigned number that is said to be negative shifts for ever.
                return max(a[0], a[0] + (a[1] - a[0]) * (index + 0.5) / max(1, self.numbers) - self._lost)
            case "clustered":
                return (a[0] + a[1]) / 2 - self._lost
            case "skewed":
                base = self._base
                return a[0] + (a[1] - a[0]) * (1 / math.log(base) - 1 / (base - 1)) - self._lost
            case "mask":
                return a[0]
            case "choice":
                return float(sum(map(mul, a[::2], a[1::2])) / sum(a[1::2]))
        return None

    @property
    def bounds(self) -> Interval | None:
        """The least and the greatest element, where the fill says."""
        if self.values:
            return min(self.values.values()), max(self.values.values())
        everywhere = self._bounds
        if everywhere is None or not self.parts:
            return everywhere
        ends = [everywhere, *(part.contents.bounds for part in self.parts)]
        known = [each for each in ends if each is not None]
        return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(ends) else None

    @property
    def _bounds(self) -> Interval | None:
        if self.fill is None:
            return None
        a = self.fill.arguments
        match self.fill.kind:
            case "zeros":
                return 0, 0
            case "const":
                return a[0], a[0]
            case "iota" | "perm":
                return 0, max(0, self.numbers - 1)
            case "uniform":
                return a[0], a[1]
            case "randint":
                return a[0], a[1] - 1
            case "csr_rows" | "csr_lengths":
                return 0, a[0]
            case "mask":
                return int(a[0] == 1), int(a[0] > 0)
            case "choice":
                possible = [value for value, weight in zip(a[::2], a[1::2], strict=True) if weight]
                return min(possible), max(possible)
            case "sorted" | "clustered" | "skewed":
                return (math.ceil(a[0]), math.ceil(a[1]) - 1) if self.is_whole else (a[0], a[1])
        return None

    @property
    def is_smooth(self) -> bool:
        """Whether neighbouring elements are near each other in value, so that strides through them make sense."""
        return self.fill is not None and self.fill.kind in {"zeros", "const", *_RISING}

    @property
    def different_values(self) -> int | None:
        """How many values there are to draw from; None for very many, or where some are likelier than others."""
        if self.bounds is None or self.fill is None or self._is_continuous or self.fill.kind in _WEIGHTED:
            return None
        return max(1, int(self.bounds[1] - self.bounds[0]) + 1)

    def values_of(self, shares: Sequence[float]) -> list[Value] | None:
        """Return what a share (0 to 1) of the elements stay below, for each of `shares`.

        None where nothing is known.
        """
        bounds = self.bounds
        if self.fill is None or bounds is None:
            return None
        low, high = bounds
        if pairs := self._pairs:
            totals = list(accumulate(pairs[1::2]))
            return [pairs[2 * min(bisect_right(totals, share * totals[-1]), len(totals) - 1)] for share in shares]
        if self.fill.kind == "csr_lengths":
            return self._lengths_of(shares)
        if self.fill.kind == "skewed":
            width, base = high - low + (1 if self.is_whole else 0), self._base
            skewed = [low + width * (base**share - 1) / (base - 1) for share in shares]
            return [min(high, math.floor(value)) for value in skewed] if self.is_whole else [*skewed]
        if self._is_continuous:
            return [low + (high - low) * share for share in shares]
        return [low + int(share * (high - low + 1)) for share in shares]

    @property
    def wanted_draws(self) -> int | None:
        """How many values to draw so that each of a few comes as often as its weight says; None for other fills."""
        pairs = self._pairs
        return _fitting(tuple(pairs[1::2])) if pairs else None

    @property
    def _pairs(self) -> tuple[Value, ...]:
        """A few values in turn with their weights."""
        if self.fill is None or self.fill.kind not in ("mask", "choice"):
            return ()
        a = self.fill.arguments
        return a if self.fill.kind == "choice" else (0, 1 - a[0], 1, a[0])

    def _lengths_of(self, shares: Sequence[float]) -> list[Value]:
        """Lengths of rows by rank, which together make as much as all rows do."""
        assert self.fill is not None
        nonzeros, *skew = self.fill.arguments
        rows = max(1, self.numbers - 1)
        if skew:
            raw = [(0.5 + (1 - share) * rows) ** -skew[0] for share in shares]
        else:  # what lies between points that were thrown at random
            raw = [-math.log1p(-min(share, 1 - 0.5 / rows)) for share in shares]
        scale = nonzeros / rows * len(raw) / sum(raw) if raw and sum(raw) else 0.0
        return [round(length * scale) for length in raw]

    @property
    def _is_continuous(self) -> bool:
        assert self.fill is not None
        return self.fill.kind in _CONTINUOUS or (self.fill.kind in ("sorted", "clustered") and not self.is_whole)

    @property
    def _lost(self) -> float:
        """What integers lack on average of the numbers that they are rounded down from."""
        return 0.5 if self.is_whole else 0.0

    @property
    def _base(self) -> float:
        assert self.fill is not None
        low, high = self.fill.arguments
        return max(2.0, float(high - low) + 1) if self.is_whole else SKEWED_FLOATS_BASE


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes `begin` to before `end` of every element, or of the element `index` alone, made of numbers of one size."""

    begin: int
    end: int
    number_bytes: int
    index: int | None
    contents: Contents


def held_at(load: Atom, buffers: Mapping[str, Contents]) -> Contents | None:
    """Return what is known of the part of a buffer that `load` reads.

    None for buffers that the launch does not have.
    """
    contents = buffers.get(str(load.arguments[0]))
    return contents.of_load(load.arguments[1]) if contents is not None and contents.parts else contents


@lru_cache(256)
def _fitting(weights: tuple[Value, ...]) -> int:
    """Return the number of draws, evenly spread, of which each weight gets its part best."""
    totals = [0.0, *(total / sum(weights) for total in accumulate(weights))]
    best, least = _FEWEST_DRAWS, math.inf
    for count in range(_FEWEST_DRAWS, _MOST_DRAWS, 1 + len(weights) // 8):
        reached = [math.floor(count * total + 0.5) for total in totals]
        parts = zip(reached[1:], reached, totals[1:], totals, strict=False)
        error = max(abs((n - m) / count - (b - a)) / (b - a) for n, m, b, a in parts if b > a)
        if error < least:
            best, least = count, error
        if error < _NEARLY:
            break
    return best


def contents_of(elements: int, element: Type, fills: Mapping[str, Fill]) -> Contents:
    """Return what is known of a buffer whose fills are given by part, the whole of it under ""."""
    numbers = _numbers(element)
    is_whole, lanes = (not _is_float(numbers[0]), numbers[1]) if numbers is not None else (True, 1)
    whole = Contents(elements, max(1, element.size_bytes), fills.get(""), None, is_whole, lanes)
    if fills.keys() <= {""}:
        return whole
    parts = []
    targets = [(parse_target(f"x{'' if part[0] == '[' else '.'}{part}"), fill) for part, fill in fills.items() if part]
    for target, fill in sorted(targets, key=lambda each: (each[0].index is not None, len(each[0].members))):
        member = find_member(element, target.members)
        numbers = _numbers(member.type) if member is not None else None
        if member is None:
            continue
        if numbers is None or member.repeats:  # several kinds of numbers, or some that lie apart
            known, kind, count = None, _BYTE, max(1, member.type.size_bytes)
        else:
            known, (kind, count) = fill, numbers
        count_of = elements if target.index is None else 1
        held = Contents(count_of, whole.element_bytes, known, None, not _is_float(kind), count)
        apart = sum((times - 1) * stride for times, stride in member.repeats)
        end = member.offset_bytes + member.type.size_bytes + apart
        parts.append(Part(member.offset_bytes, end, kind.size_bytes, target.index, held))
    return replace(whole, parts=tuple(parts))


_BYTE = ScalarType("uchar", ScalarKind.UNSIGNED, 1)


def _numbers(kind: Type) -> tuple[ScalarType, int] | None:
    """Return the one type of number that something is made of, and how many; None for structs of several members."""
    match kind:
        case ScalarType():
            return kind, 1
        case VectorType(element=lane):
            return lane, kind.size_bytes // lane.size_bytes
        case ArrayType(element=inner, length=int(length)):
            found = _numbers(inner)
            return (found[0], found[1] * length) if found is not None else None
        case StructType(members=((_, only),)) if only.size_bytes == kind.size_bytes:
            return _numbers(only)
        case _:
            return None


def _is_float(kind: ScalarType) -> bool:
    return kind.kind is ScalarKind.FLOAT
