"""Ids of neighbours in 32-bit numbers: where a compiler still sees that neighbours' addresses are consecutive.

Ids have 64 bits. `int i = get_global_id(0)` cuts them, and an index has 64 bits again: what a compiler does not know to
fit, it must take to jump. Signed sums with something else must not overflow (C11, section 6.5), so those it follows;
`x[i]`, `x[i + 1]`, unsigned sums, and what is left of `x[k * n + i]` when a loop over `k` is taken apart it does not.
An unsigned sum that becomes a signed index, as in `int q = y * width + x` with an unsigned width, it follows again.
Of a group's start and a local id, both cut, it follows the sum as an index, but not once it is a 64-bit number:
`long i = start + lid` takes 10 times as long as `int i`.
Seen on Intel's runtime 2026.22, which then loads neighbours one by one: 4 times as long as with `size_t i`, from a near
cache. PoCL 3.0 asks at run time whether anything overflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from enum import Enum

from model.opencl.types import ScalarKind, ScalarType
from model.work.expressions.symbolic import GROUP_ID, LOCAL_ID, NEIGHBOURS, Atom, Expression

_IDS = frozenset().union(*NEIGHBOURS)
_SUMS = frozenset({"+", "-", "*"})
WORD_BYTES = 4


class Ids(Enum):
    """How a number holds the ids of neighbours."""

    CUT = "cut"  # the lower half of a 64-bit number, or that and a constant
    SUMMED = "summed"  # in a signed 32-bit sum with something else
    JOINED = "joined"  # in a signed 32-bit sum of a local id and what a group begins at
    WRAPPED = "wrapped"  # in an unsigned 32-bit sum, or a signed one that was made unsigned
    REGAINED = "regained"  # in a signed 32-bit number that such a sum became, or a sum of that
    LOST = "lost"


HeldIds = tuple[Ids | None, ...]  # of neighbours in each of the three dimensions; None where a number holds none
_NONE: HeldIds = (None, None, None)


def converted_ids(ids: HeldIds | None, value: Expression, source: ScalarType, target: ScalarType) -> HeldIds | None:
    """Return how the result of a conversion between integers holds them."""
    if ids is None and (target.size_bytes >= source.size_bytes or _IDS.isdisjoint(value.leaves)):
        return None
    by_dimension = zip(ids or _NONE, NEIGHBOURS, strict=True)
    return _held(_converted(each, value, source, target, neighbours) for each, neighbours in by_dimension)


def _held(ids: Iterable[Ids | None]) -> HeldIds | None:
    found = tuple(ids)
    return found if any(each is not None for each in found) else None


def _converted(
    ids: Ids | None, value: Expression, source: ScalarType, target: ScalarType, neighbours: Set[Atom]
) -> Ids | None:
    if target.size_bytes < source.size_bytes:
        if ids is not None or neighbours.isdisjoint(value.leaves):
            return ids if ids is None or target.size_bytes == 4 else Ids.LOST
        return Ids.CUT if target.size_bytes == 4 else Ids.LOST
    if ids is Ids.JOINED and (target.size_bytes == 8 or ScalarKind.UNSIGNED in (source.kind, target.kind)):
        return Ids.LOST
    if (
        ids in (Ids.SUMMED, Ids.REGAINED)
        and target.kind is ScalarKind.UNSIGNED
        and target.size_bytes == source.size_bytes
    ):
        return Ids.WRAPPED  # the sum may be negative, and then is a large number
    if ids is Ids.WRAPPED and target.size_bytes == source.size_bytes:
        return ids if target.kind is ScalarKind.UNSIGNED else Ids.REGAINED
    if target.size_bytes == 8 and source.size_bytes < 8:
        return None if ids in (Ids.SUMMED, Ids.REGAINED) else Ids.LOST if ids is not None else None
    return ids


def summed_ids(
    operator: str,
    kind: ScalarType,
    left: tuple[Expression, HeldIds | None],
    right: tuple[Expression, HeldIds | None],
    unrolled: Set[Atom],
) -> HeldIds | None:
    """Return how `left operator right` holds them, computed in `kind`; `unrolled` are counters that compilers know."""
    (x, a), (y, b) = left, right
    if a is None and b is None:
        return None
    by_dimension = zip(a or _NONE, b or _NONE, strict=True)
    return _held(_summed(operator, kind, (x, one), (y, other), unrolled) for one, other in by_dimension)


def _summed(
    operator: str,
    kind: ScalarType,
    left: tuple[Expression, Ids | None],
    right: tuple[Expression, Ids | None],
    unrolled: Set[Atom],
) -> Ids | None:
    (x, a), (y, b) = left, right
    if a is None and b is None:
        return None
    if Ids.LOST in (a, b) or operator not in _SUMS:
        return Ids.LOST
    if kind.kind is ScalarKind.UNSIGNED:
        return Ids.WRAPPED if kind.size_bytes == 4 else Ids.LOST
    if Ids.REGAINED in (a, b):
        return Ids.REGAINED
    if a is not None and b is not None:
        return Ids.SUMMED
    value, ids, other = (x, a, y) if a is not None else (y, b, x)
    if ids is Ids.JOINED or (ids is Ids.CUT and _joins(value, other)):
        return Ids.JOINED
    return Ids.CUT if ids is Ids.CUT and _is_moved_out(other, unrolled) else Ids.SUMMED


def component_ids(value: Expression, kind: ScalarType) -> HeldIds | None:
    """Return how a component of a vector holds them: nothing is kept of how it was computed but what it is."""
    if kind.kind is ScalarKind.FLOAT or kind.size_bytes == 8 or _IDS.isdisjoint(value.leaves):
        return None
    return _held(_of_component(value, kind, neighbours) for neighbours in NEIGHBOURS)


def _of_component(value: Expression, kind: ScalarType, neighbours: Set[Atom]) -> Ids | None:
    if neighbours.isdisjoint(value.leaves):
        return None
    if kind.size_bytes == 4 and any((value - Expression({(atom,): 1})).constant is not None for atom in neighbours):
        return Ids.CUT
    return Ids.SUMMED if kind.kind is ScalarKind.SIGNED and kind.size_bytes == 4 else Ids.LOST


def stepped_ids(before: HeldIds | None, after: HeldIds | None) -> HeldIds | None:
    """Return how a variable of a loop holds them that has them as `before`, and an iteration later as `after`."""
    return _held(_stepped(b, a) for b, a in zip(before or _NONE, after or _NONE, strict=True))


def _stepped(before: Ids | None, after: Ids | None) -> Ids | None:
    return Ids.SUMMED if before is Ids.CUT and after in (Ids.CUT, Ids.SUMMED) else after if before else before


def lost_ids(ids: HeldIds | None) -> HeldIds | None:
    """Return how a number holds them that was made of one with `ids` in a way that compilers do not follow."""
    return None if ids is None else _held(Ids.LOST if each else None for each in ids)


def hides_neighbours(ids: HeldIds | None, kind: ScalarType, element_bytes: int, *, is_small: bool = False) -> int:
    """Return bit d where addresses are not seen to be consecutive in dimension d, for a number of `kind` as index.

    `is_small`: into an array of local memory that the kernel declares.
    """
    if ids is None:
        return 0
    return sum(_hides(each, kind, element_bytes, is_small=is_small) << d for d, each in enumerate(ids))


def _hides(ids: Ids | None, kind: ScalarType, element_bytes: int, *, is_small: bool) -> bool:
    if ids is Ids.CUT and kind.kind is not ScalarKind.UNSIGNED and (element_bytes == 1 or is_small):
        return False  # nothing is multiplied, or no sum gets large
    return ids in (Ids.LOST, Ids.WRAPPED) or (ids is Ids.CUT and kind.size_bytes == 4)


def _joins(value: Expression, other: Expression) -> bool:
    """Return whether a local id is added to what a group begins at."""
    return not value.leaves.isdisjoint(LOCAL_ID) and not other.leaves.isdisjoint(GROUP_ID)


def _is_moved_out(other: Expression, unrolled: Set[Atom]) -> bool:
    """Return whether compilers part `other` from a sum: constants, and what changes with a loop's counter."""
    if other.constant is not None:
        return True
    return any(str(leaf.arguments[0]).startswith("loop.") and leaf not in unrolled for leaf in other.leaves)
