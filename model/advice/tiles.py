"""Advice on reuse: what many work-items of a group load again and again could be loaded once, into local memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from model.account import CRITICAL_SHARE
from model.advice.advice import Advice, AdviceCode, bytes_text, sizes_text, times_text
from model.advice.situation import GLOBAL_SPACES, Situation
from model.work.counts import AccessCount
from model.work.expressions.symbolic import GLOBAL_ID, LOCAL_ID
from model.work.features.facts import AccessFacts, LoopFacts

_LEAST_REUSE = 8.0  # by work-items of one group; what a few neighbours share, caches serve as well
_LEAST_LOADS = 8.0  # of one work-item: a tile pays where it is filled and used over and over


def local_tile(situation: Situation) -> Iterator[Advice]:
    """Advise a tile in local memory for loads in a loop that work-items of one group repeat for one another.

    Silent on CPUs, where local memory is ordinary memory and copying into it costs; for buffers that the kernel writes;
    for indices that depend on data and loops whose length differs from work-item to work-item, where no tile fits; for
    what all work-items load together (one load serves them); for a handful of neighbours, as in a stencil of a few
    points, which caches serve; and where these loads are little of the launch's time. What is saved is bytes; a gain in
    time is given where the analytical model sees one, which counts cached loads nearly as cheap as local ones.
    """
    if not situation.is_gpu or not situation.is_long:
        return
    counts = situation.counts
    stored = {count.buffer for count in counts.accesses if count.is_store}
    suspects: dict[int, list[AccessFacts]] = defaultdict(list)
    for facts in situation.accesses(*GLOBAL_SPACES):
        if facts.count.buffer not in stored and _is_repeated(facts.count, counts.work_items):
            suspects[facts.count.line].append(facts)
    for line, those in suspects.items():
        # Asking for what groups reach costs more than all else here.
        if not _is_much([facts.count for facts in those], situation):
            continue
        loops = {loop.line: loop for loop in counts.facts.loops}
        reused = [(facts, _reuse_by_others(facts)) for facts in those if _is_regular(facts, situation, loops)]
        each = [(facts, reuse) for facts, reuse in reused if reuse >= _LEAST_REUSE]
        changes = [(facts.count, _once(facts.count, reuse)) for facts, reuse in each]
        requested = sum(before.bytes for before, _ in changes)
        gain_us = situation.gain_us(changes, more_local_bytes=requested)
        if _is_much([before for before, _ in changes], situation):
            left = sum(after.bytes for _, after in changes)
            shared = " and ".join(f"`{facts.count.buffer}` {times_text(reuse)} times" for facts, reuse in each)
            yield Advice(
                AdviceCode.LOCAL_TILE,
                f"the work-items of a group of {sizes_text(situation.local_size)} load the same elements of {shared} "
                f"over: tiles in local memory, loaded once by the group, would cut {bytes_text(requested)} of loads "
                f"to {bytes_text(left)}",
                line if line >= 0 else None,
                gain_us if situation.is_worth(gain_us) else None,
                resources=("global memory",),
            )


def _is_repeated(count: AccessCount, work_items: int) -> bool:
    """Return whether it could be: no group asks for its bytes more often than the launch does for all of them."""
    return count.count >= _LEAST_LOADS * work_items and count.bytes >= _LEAST_REUSE * count.footprint_bytes


def _reuse_by_others(facts: AccessFacts) -> float:
    """Return how many work-items of a group load each byte."""
    group, item = facts.group.reuse or 1.0, facts.item.reuse or 1.0
    return group / item


def _is_much(accesses: list[AccessCount], situation: Situation) -> bool:
    return situation.alone_us(accesses) >= CRITICAL_SHARE * situation.runtime_us


def _is_regular(facts: AccessFacts, situation: Situation, loops: dict[int, LoopFacts]) -> bool:
    """Return whether the group could fetch it together.

    The addresses must be known and differ between work-items, and the loops be the same for all.
    """
    if facts.index.obstacle is not None or not facts.steps:
        return False
    apart = {a for d, size in enumerate(situation.local_size) if size > 1 for a in (GLOBAL_ID[d], LOCAL_ID[d])}
    if not any(term.variable in apart for term in facts.index.terms):
        return False
    kinds = {loops[step.line].trip_kind for step in facts.steps if step.line in loops}
    return kinds <= {"constant", "uniform"}


def _once(count: AccessCount, reuse: float) -> AccessCount:
    return replace(count, count=count.count / reuse, bytes=count.bytes / reuse)
