"""What stands in each loop of compiled code, as cells of the table `compiled`, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from model.compiled import CodeRegion, InstructionCount, LoopCode

_NUMBERS = 5  # of a loop in `profile_loops`
_OF_REGION = 4  # numbers of a region in `region_places`


def profile_cells(profile: Sequence[LoopCode], local_size: tuple[int, ...] | None) -> dict[str, object]:
    if not profile:
        return dict.fromkeys(
            ("code_local_size", "profile_loops", "profile_chains", "profile_kinds", "profile_counts")
        )  # fmt: skip
    return {
        "code_local_size": list(local_size) if local_size is not None else None,
        "profile_loops": [
            number
            for each in profile
            for number in (each.parent or 0, each.lanes, int(each.leftover), each.trips or 0, len(each.mix))
        ],
        "profile_chains": [each.chain_cycles for each in profile],
        "profile_kinds": [f"{i.kind}/{i.element}/{i.space}/{i.lanes}" for each in profile for i in each.mix],
        "profile_counts": [i.count for each in profile for i in each.mix],
    }


def profile_from_cells(cells: Mapping[str, Any]) -> tuple[LoopCode, ...]:
    """Empty in rows that were written before there were any."""
    loops = cells["profile_loops"] or []
    mixes = map(_instructions, cells["profile_kinds"] or (), cells["profile_counts"] or ())
    return tuple(
        LoopCode(
            parent if at else None, lanes, bool(leftover), trips or None, chain, tuple(islice(mixes, entries))
        )
        for at, (parent, lanes, leftover, trips, entries, chain) in enumerate(
            (*loops[n * _NUMBERS : (n + 1) * _NUMBERS], chain) for n, chain in enumerate(cells["profile_chains"] or ())
        )
    )  # fmt: skip


def region_cells(regions: Sequence[CodeRegion]) -> dict[str, object]:
    if not regions:
        return dict.fromkeys(("region_places", "region_kinds", "region_counts"))
    return {
        "region_places": [
            number
            for each in regions
            for number in (each.loop, -1 if each.line is None else each.line, each.instructions, len(each.mix))
        ],
        "region_kinds": [f"{i.kind}/{i.element}/{i.space}/{i.lanes}" for each in regions for i in each.mix],
        "region_counts": [i.count for each in regions for i in each.mix],
    }


def regions_from_cells(cells: Mapping[str, Any]) -> tuple[CodeRegion, ...]:
    """Empty in rows that were written before there were any."""
    places = cells["region_places"] or []
    mixes = map(_instructions, cells["region_kinds"] or (), cells["region_counts"] or ())
    return tuple(
        CodeRegion(loop, line if line >= 0 else None, instructions, tuple(islice(mixes, entries)))
        for loop, line, instructions, entries in (
            places[at : at + _OF_REGION] for at in range(0, len(places), _OF_REGION)
        )
    )


def _instructions(kinds: str, count: int) -> InstructionCount:
    rest, space, lanes = kinds.rsplit("/", 2)
    kind, _, element = rest.partition("/")
    return InstructionCount(kind, element, int(lanes), count, space)
