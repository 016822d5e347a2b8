"""Find launches that do nothing: their arguments keep every work-item out of all code that stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.opencl.types import AddressSpace
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Expression
from model.work.regions.flat_blocks import Outline, Part

_IDS = frozenset((*GLOBAL_ID, *LOCAL_ID, *GROUP_ID))


def is_idle(outline: Outline, runs: Mapping[int, float]) -> bool:
    """Return whether no part that stores is entered, for reasons that are the same for all work-items.

    `runs` says how often each block runs, by identity. Compilers ask what is the same for all before the loop over
    work-items, and leave nothing of the loops that they enter then. Source: LLVM's SimpleLoopUnswitch and LoopDeletion.
    """
    found = False
    for number, part in enumerate(outline.parts):
        if _leaves_traces(part):
            if not _is_closed(outline.parts, number, runs):
                return False  # as nearly always, at the first that stores
            found = True
    return found


def _leaves_traces(part: Part) -> bool:
    return bool(part.block.barriers) or any(
        access.is_store or access.is_atomic for access in part.accesses if access.space is not AddressSpace.PRIVATE
    )


def _is_closed(parts: Sequence[Part], number: int, runs: Mapping[int, float]) -> bool:
    """Return whether what is around the part, or the part itself, is left out by the arguments alone."""
    at = number
    while at > 0:
        part = parts[at]
        if not runs.get(id(part.block), 0.0) and runs.get(id(parts[part.parent].block), 0.0):
            return _is_for_all(part)
        at = part.parent
    return False


def _is_for_all(part: Part) -> bool:
    if part.loop is not None:
        return part.loop.leaves is None and _is_argument(part.loop.trips)
    return part.branch is not None and part.branch.share is None and _is_argument(part.branch.condition)


def _is_argument(value: Expression) -> bool:
    return not value.has("load", "unknown") and value.leaves.isdisjoint(_IDS)
