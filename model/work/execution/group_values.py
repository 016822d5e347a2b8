"""What all items of a work-group find in local memory after a barrier, where one of them put it there.

    if (get_local_id(0) == 0) { r.start = rows[g]; r.end = rows[g + 1]; }
    barrier(CLK_LOCAL_MEM_FENCE);

A value passes a barrier if it is the only one stored to its place since the barrier before, if some item of every
group stores it, and if it does not depend on which item that is. Programs without data races are assumed: what other
items store to the same place is then ordered by barriers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from model.opencl.types import AddressSpace
from model.work.execution.writes import MAX_LOOKED_AT, Origin, Spot, Write, overlaps
from model.work.expressions.operations import substituted
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, LOCAL_SIZE, ZERO, Atom, Expression

Values = tuple[Expression, ...]
_LANE_IDS = frozenset((*LOCAL_ID, *GLOBAL_ID))
_MOST_CONDITIONS = 16


def passed_on(writes: Sequence[Write], is_uniform: Callable[[Atom], bool]) -> dict[Spot, Values]:
    """Return what local memory holds for all after a barrier, from the stores since the one before.

    `is_uniform` tells of a leaf that is no local or global id whether it is the same in the whole group.
    """
    held: dict[Spot, Values] = {}
    if len(writes) > MAX_LOOKED_AT:
        return held
    stored: list[Spot] = []
    for write in writes:
        spot = write.spot
        if spot is None:
            held.clear()
            continue
        if spot.memory.space is not AddressSpace.LOCAL:
            continue
        for other in [s for s in held if overlaps(s, spot)]:
            del held[other]
        if write.origin is Origin.LOOP:
            continue
        is_first = write.origin is Origin.BARRIER or not any(overlaps(s, spot) for s in stored)
        if write.origin is not Origin.BARRIER:
            stored.append(spot)
        values = write.value if write.origin is Origin.BARRIER else _uniform(write, is_uniform)
        if is_first and values is not None:
            held[spot] = values
    return held


def _uniform(write: Write, is_uniform: Callable[[Atom], bool]) -> Values | None:
    """Return what is stored in every group, the same whichever item stores it; None where that is not sure."""
    values, conditions = (write.value, ()) if write.stored is None else (write.stored.value, write.stored.conditions)
    assert write.spot is not None
    if values is None or write.spot.offset is None:
        return None
    storing = _storing_item(conditions)
    if storing is None:
        return None
    values = tuple(substituted(value, storing) for value in values)
    for part in (*values, write.spot.offset):
        if any(leaf in _LANE_IDS or not is_uniform(leaf) for leaf in part.leaves):
            return None
    return values


def _storing_item(conditions: Sequence[Expression]) -> Mapping[Atom, Expression] | None:
    """Return the ids of the item that meets `conditions`, as far as they fix it; None where no group may have one."""
    parts = [part for condition in conditions for part in _conjuncts(condition)]
    if len(parts) > _MOST_CONDITIONS:
        return None
    fixed = dict(found for part in parts for found in _fixed_id(part))
    one = {atom: fixed.get(atom, ZERO) for atom in LOCAL_ID}
    for whole, group, size, local in zip(GLOBAL_ID, GROUP_ID, LOCAL_SIZE, LOCAL_ID, strict=True):
        one[whole] = Expression({(group,): 1}) * Expression({(size,): 1}) + one[local]
    if not all(substituted(part, one).constant for part in parts):
        return None
    known = set(fixed)
    known |= {whole for whole, local in zip(GLOBAL_ID, LOCAL_ID, strict=True) if local in fixed}
    return {atom: value for atom, value in one.items() if atom in known}


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    atom = condition.atom
    if atom is not None and atom.kind == "and":
        for operand in atom.operands:
            yield from _conjuncts(operand)
    else:
        yield condition


def _fixed_id(condition: Expression) -> Iterator[tuple[Atom, Expression]]:
    """Of `get_local_id(0) == size - 1` the id and its value, where nothing else of the item decides."""
    atom = condition.atom
    if atom is None or atom.kind not in ("eq0", "not"):
        return
    (difference,) = atom.operands
    ids = difference.leaves & _LANE_IDS
    if len(ids) != 1:
        return
    (own,) = ids
    factor = difference.coefficient(own) if own in LOCAL_ID else None
    if factor is not None and factor.constant in (1, -1):
        rest = difference - factor * Expression({(own,): 1})
        if own not in rest.leaves:
            yield own, -rest if factor.constant == 1 else rest
