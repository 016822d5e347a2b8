"""What stands in each loop of compiled code, as cells of the table `compiled`, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from model.compiled import InstructionCount, LoopCode

_NUMBERS = 5  # of a loop in `profile_loops`


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


def _instructions(kinds: str, count: int) -> InstructionCount:
    rest, space, lanes = kinds.rsplit("/", 2)
    kind, _, element = rest.partition("/")
    return InstructionCount(kind, element, int(lanes), count, space)
