"""Work-items at a condition, divided into those for which it holds and the others; and divided as was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from model.work.reached import Point, Ranges


class Part(NamedTuple):
    """A `share` (0 to 1) of those that come; `is_sure` where the launch decides whether they enter, `taken`."""

    share: float
    point: Point
    ranges: Ranges
    taken: bool
    is_sure: bool


def with_share(parts: Sequence[Part], share: float, point: Point, ranges: Ranges) -> list[Part]:
    """Return the same parts, of which so many are taken in all."""
    return [
        part
        for taken, whole in ((True, share), (False, 1 - share))
        for part in _scaled([p for p in parts if p.taken is taken], whole, point, ranges, taken=taken)
    ]


def with_undecided_share(parts: Sequence[Part], share: float, point: Point, ranges: Ranges) -> list[Part]:
    """Return the same parts, of which so many are taken among those that the launch does not decide."""
    sure = [p for p in parts if p.is_sure]
    unsure = [p for p in parts if not p.is_sure]
    whole = sum(p.share for p in unsure)
    scaled = with_share(unsure, share, *_where(unsure, point, ranges))
    return [*sure, *(p._replace(share=p.share * whole) for p in scaled)]


def _where(parts: Sequence[Part], point: Point, ranges: Ranges) -> tuple[Point, Ranges]:
    return (parts[0].point, parts[0].ranges) if parts else (point, ranges)


def _scaled(parts: Sequence[Part], whole: float, point: Point, ranges: Ranges, *, taken: bool) -> list[Part]:
    now = sum(p.share for p in parts)
    if now <= 0:
        return [Part(whole, point, ranges, taken, is_sure=False)] if whole > 0 else []
    return [p._replace(share=p.share * whole / now) for p in parts]
