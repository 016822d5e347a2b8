"""What memory holds: the stores so far, which a load looks back over for the one that decides its value.

Two places are told apart as compilers tell them: distinct objects never overlap, nor do constant distances within
one; a `restrict` pointer overlaps no other; otherwise pointers overlap unless they point to different scalar types
(type-based alias analysis; a vector or a char may be a part of anything).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from model.opencl.types import AddressSpace
from model.work.execution.values import Memory
from model.work.expressions.symbolic import Expression, Monomial

MAX_LOOKED_AT = 96  # stores that a load looks back over; what came before might be anything
_SHARED = (AddressSpace.LOCAL, AddressSpace.GLOBAL, AddressSpace.GENERIC)
_PART_OF_ANYTHING = "i8"


@dataclass(frozen=True, slots=True)
class Spot:
    """`size` bytes of a memory. `offset` None stands for any of it."""

    memory: Memory
    offset: Expression | None
    size: int
    element: str  # the scalar it is accessed as; `i8` for vectors and structs


class Origin(Enum):
    """Whose a write is: the program's, one that stands for any iteration of a loop, or what a barrier lets pass."""

    STORE = 0
    LOOP = 1
    BARRIER = 2


@dataclass(frozen=True, slots=True)
class Stored:
    """What those items store that meet all `conditions`; what others find there is said by the write."""

    value: tuple[Expression, ...]
    conditions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Write:
    """A store at time `stamp`. `spot` None is a barrier: others may have written to all shared memory."""

    stamp: int
    spot: Spot | None
    value: tuple[Expression, ...] | None  # where it is known
    is_sure: bool = True  # executed whenever the loop or function around it is
    origin: Origin = Origin.STORE
    stored: Stored | None = None  # where only some items store


class Writes:
    """The stores of one symbolic execution, in order."""

    def __init__(self) -> None:
        self._all: list[Write] = []

    def mark(self) -> int:
        return len(self._all)

    def add(self, write: Write) -> None:
        self._all.append(write)

    def since(self, mark: int) -> list[Write]:
        return self._all[mark:]

    def cut(self, mark: int) -> list[Write]:
        """Forget what came since `mark`; gives it."""
        cut = self._all[mark:]
        del self._all[mark:]
        return cut

    def last(self, spot: Spot, since: int = 0) -> Write | None:
        """Return the last store that may have changed `spot`."""
        all_writes = self._all
        first = max(since, len(all_writes) - MAX_LOOKED_AT)
        for index in range(len(all_writes) - 1, since - 1, -1):
            write = all_writes[index]
            if write.spot is None:
                if spot.memory.space in _SHARED:
                    return write
            elif index < first or overlaps(write.spot, spot):
                return write
        return None

    def since_barrier(self) -> list[Write]:
        """Return the stores since shared memory was last forgotten."""
        all_writes = self._all
        first = len(all_writes)
        while first and all_writes[first - 1].spot is not None:
            first -= 1
        return all_writes[first:]

    def held(self, spot: Spot, since: int = 0) -> tuple[Expression, ...] | None:
        """Return what `spot` holds for sure; None where that was not stored."""
        write = self.last(spot, since)
        return write.value if write is not None and write.spot == spot else None


def overlaps(a: Spot, b: Spot) -> bool:
    """Return whether `a` and `b` may have a byte in common."""
    if a.memory.name == b.memory.name:
        if a.offset is None or b.offset is None:
            return True
        (rest_a, start_a), (rest_b, start_b) = _parts(a.offset), _parts(b.offset)
        return rest_a != rest_b or (start_a < start_b + b.size and start_b < start_a + a.size)
    if not (a.memory.may_alias and b.memory.may_alias) or a.memory.space is not b.memory.space:
        return False
    return a.element == b.element or _PART_OF_ANYTHING in (a.element, b.element)


def distinct_spots(writes: list[Write]) -> Iterator[Spot]:
    """Yield the places written to, each once."""
    seen: set[Spot] = set()
    for write in writes:
        if write.spot is not None and write.spot not in seen:
            seen.add(write.spot)
            yield write.spot


def _parts(offset: Expression) -> tuple[tuple[tuple[Monomial, int], ...], int]:
    """Return what varies, and the constant."""
    terms = offset.terms
    return (terms[1:], terms[0][1]) if terms and not terms[0][0] else (terms, 0)
