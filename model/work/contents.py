"""What is known of a buffer's elements from the words that say how it is filled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.launch.fill import SKEWED_FLOATS_BASE
from model.launch.launch import Fill
from model.opencl.kernel import Parameter
from model.opencl.types import ArrayType, PointerType, ScalarKind, ScalarType, VectorType
from model.work.numbers import Value

Interval = tuple[Value, Value]  # both ends included

_RISING = frozenset({"iota", "csr_rows", "sorted"})
_CONTINUOUS = frozenset({"uniform", "csr_rows"})  # too many values for counting them


@dataclass(frozen=True, slots=True)
class Contents:
    """How many elements of which size a buffer has, filled how; or, element by element, what a constant table holds.

    `is_whole`: the elements are integers, whatever the numbers are that the fill was given.
    """

    elements: int
    element_bytes: int
    fill: Fill | None
    values: Mapping[int, Value] | None = None
    is_whole: bool = True

    def mean_at(self, index: Value) -> Value | None:
        """The element to expect at `index`; None where nothing is known."""
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
                return max(0, self.elements - 1) / 2
            case "uniform":
                return (a[0] + a[1]) / 2
            case "randint":
                return (a[0] + a[1] - 1) / 2
            case "csr_rows":
                return index * a[0] / max(1, self.elements - 1)
            case "sorted":
                return a[0] + (a[1] - a[0]) * (index + 0.5) / max(1, self.elements) - self._lost
            case "clustered":
                return (a[0] + a[1]) / 2 - self._lost
            case "skewed":
                base = self._base
                return a[0] + (a[1] - a[0]) * (1 / math.log(base) - 1 / (base - 1)) - self._lost
        return None

    @property
    def bounds(self) -> Interval | None:
        """The least and the greatest element, where the fill says."""
        if self.values:
            return min(self.values.values()), max(self.values.values())
        if self.fill is None:
            return None
        a = self.fill.arguments
        match self.fill.kind:
            case "zeros":
                return 0, 0
            case "const":
                return a[0], a[0]
            case "iota" | "perm":
                return 0, max(0, self.elements - 1)
            case "uniform":
                return a[0], a[1]
            case "randint":
                return a[0], a[1] - 1
            case "csr_rows":
                return 0, a[0]
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
        if self.bounds is None or self.fill is None or self._is_continuous or self.fill.kind == "skewed":
            return None
        return max(1, int(self.bounds[1] - self.bounds[0]) + 1)

    def values_of(self, shares: Sequence[float]) -> list[Value] | None:
        """What a share (0 to 1) of the elements stay below, for each of `shares`; None where nothing is known."""
        bounds = self.bounds
        if self.fill is None or bounds is None:
            return None
        low, high = bounds
        if self.fill.kind == "skewed":
            width, base = high - low + (1 if self.is_whole else 0), self._base
            skewed = [low + width * (base**share - 1) / (base - 1) for share in shares]
            return [min(high, math.floor(value)) for value in skewed] if self.is_whole else [*skewed]
        if self._is_continuous:
            return [low + (high - low) * share for share in shares]
        return [low + int(share * (high - low + 1)) for share in shares]

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


def holds_floats(parameter: Parameter) -> bool:
    """Whether a pointer leads to floats, also in vectors."""
    element = parameter.type.pointee if isinstance(parameter.type, PointerType) else None
    while isinstance(element, ArrayType | VectorType):
        element = element.element
    return isinstance(element, ScalarType) and element.kind is ScalarKind.FLOAT
