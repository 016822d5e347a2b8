"""The time of a launch by source line: what each line has in the time of each resource, and so of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.account import OTHER, TimeAccount

NO_LINE = -2  # of the source: what the launch itself costs, and what nothing explains


@dataclass(frozen=True, slots=True)
class LineShare:
    """`share` of the predicted runtime (0..1) that source line `line` accounts for, and its main cost.

    Lines count from 0; -1 are those of included files, `NO_LINE` is what no line takes.
    """

    line: int
    share: float
    what: str  # "12.6 MB loaded from `A`, strided", "268 M fp32 operations"


@dataclass(frozen=True, slots=True)
class LinePart:
    """`fraction` (0..1) of the time of a resource, and what it is for."""

    resource: str
    fraction: float
    what: str


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one source line has in the time of each resource; each resource's fractions sum to 1 over all lines."""

    line: int
    parts: tuple[LinePart, ...]


def line_shares(costs: Sequence[LineCost], account: TimeAccount) -> tuple[LineShare, ...]:
    """Return the share of each line in the time of `account`, the largest first; they sum to 1."""
    of_resource = {part.resource: part.share for part in account.parts}
    found = []
    placed = dict.fromkeys(of_resource, 0.0)
    for cost in costs:
        own = [(of_resource.get(part.resource, 0.0) * part.fraction, part) for part in cost.parts]
        for share, part in own:
            placed[part.resource] = placed.get(part.resource, 0.0) + share
        whole = sum(share for share, _ in own)
        if whole > 0:
            found.append(LineShare(cost.line, whole, max(own, key=lambda each: each[0])[1].what))
    for resource, share in of_resource.items():
        left = share - placed[resource]
        if left > _ROUNDING:
            found.append(LineShare(NO_LINE, left, _NO_LINES.get(resource, resource)))
    return tuple(sorted(found, key=lambda each: (-each.share, each.line)))


_ROUNDING = 1e-9
_NO_LINES = {OTHER: "more than the analytical model explains"}
