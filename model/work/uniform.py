"""Unknown values that are uniform in a warp: they do not depend on work-item ids.

`for (i = 0, j = n - 1; i < n; j = i++)` reads `points[j]` at one place for all lanes: `j` rests on `i` and `n` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.work.region import Access
from model.work.symbolic import GLOBAL_ID, LOCAL_ID, Atom, Expression

CARRIED = "changes from iteration to iteration"
LANES = frozenset({*GLOBAL_ID, *LOCAL_ID})
Rests = Mapping[Atom, tuple[Expression, ...]]


def uniform_atoms(accesses: Iterable[Access], rests: Rests) -> frozenset[Atom]:
    """Of the unknown values that decide where `accesses` go, those that rest on no lane's own values."""
    offsets = [access.offset for access in accesses if access.offset is not None]
    unknown = {leaf for offset in offsets for leaf in offset.leaves if leaf.kind == "unknown"}
    known: dict[Atom, bool] = {}
    return frozenset(atom for atom in unknown if _is_uniform(atom, rests, known))


def _is_carried(atom: Atom, rests: Rests) -> bool:
    """Return whether it is what the iteration before left.

    What a loop leaves at its end depends on who left it when."""
    return atom in rests and CARRIED in atom.arguments


def _is_uniform(atom: Atom, rests: Rests, known: dict[Atom, bool]) -> bool:
    """Values of one loop rest on each other: as long as nothing else speaks against it, they are uniform."""
    seen: set[Atom] = set()
    stack = [atom]
    while stack:
        at = stack.pop()
        if at in seen or known.get(at):
            continue
        seen.add(at)
        if at in LANES or at.kind == "load" or (at.kind == "unknown" and not _is_carried(at, rests)):
            return False
        for expression in (*at.operands, *rests.get(at, ())):
            stack.extend(expression.leaves)
    known.update(dict.fromkeys(seen, True))
    return True
