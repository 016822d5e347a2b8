"""Advice on global memory: what the lanes of a GPU ask for at once should lie side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from model.advice.advice import Advice, AdviceCode, bytes_text
from model.advice.situation import GLOBAL_SPACES, Situation
from model.opencl.types import StructType
from model.work.counts import AccessCount, Pattern
from model.work.features.facts import AccessFacts
from model.work.memory.affine import Obstacle

_LANES = 32
_SECTOR_BYTES = 32
_NEAR_BYTES = 128  # a cache line: what lies within it is fetched together, and used soon if at all
_LEAST_FACTOR = 2.0  # sectors fetched over sectors needed
_CACHED_BYTES = 32 * 1024  # stays in the nearest cache of any GPU
_MOSTLY = 0.5
_SHUFFLED = frozenset({"random", "perm", "randint"})


def uncoalesced_access(situation: Situation) -> Iterator[Advice]:
    """Neighbouring work-items far apart in global memory, so that each load brings lines of which little is used.

    Silent on CPUs, where one work-item after the other runs and may well walk on through memory; for small buffers,
    which stay in the nearest cache; where the other bytes of those lines are used at once: by other members of the
    same struct, or by the next iterations of a loop; and where a group that was assumed decides who the neighbours
    are. Accesses that the data scatter are named only where `fill` says that they are scattered and the buffer is
    larger than the device's cache.
    """
    if not situation.is_gpu or not situation.is_long or not situation.knows_neighbours:
        return
    found: dict[tuple[str, bool], list[AccessFacts]] = defaultdict(list)
    for facts in situation.accesses(*GLOBAL_SPACES):
        count = facts.count
        if count.footprint_bytes > _CACHED_BYTES and count.pattern in (Pattern.STRIDED, Pattern.GATHERED):
            found[count.buffer, count.is_store].append(facts)
    for suspects in found.values():
        # Asking for places costs more than all else here.
        if not situation.is_worth(situation.alone_us([facts.count for facts in suspects])):
            continue
        for facts in suspects:
            yield from _scattered(situation, facts)
        each = [facts for facts in suspects if _is_apart(facts) and not _is_shared(facts.count, situation)]
        gain_us = situation.gain_us([(facts.count, _side_by_side(facts.count)) for facts in each])
        if situation.is_worth(gain_us):
            yield _advice(max(each, key=lambda facts: facts.count.bytes), len(each), gain_us, situation)


def _is_apart(facts: AccessFacts) -> bool:
    if facts.count.pattern is not Pattern.STRIDED or facts.index.obstacle is Obstacle.DATA:
        return False
    return facts.transactions is not None and facts.transactions.factor >= _LEAST_FACTOR


def _is_shared(count: AccessCount, situation: Situation) -> bool:
    """Return whether what lies between neighbours is used as well, and soon.

    By other members of the same struct, or by the next iterations of a loop. Then nothing is fetched in vain.
    """
    if count.stride_bytes > _NEAR_BYTES:
        return False
    if count.step_bytes is not None and 0 < abs(count.step_bytes) <= count.element_bytes:
        return True
    own = next((b.group for b in situation.counts.facts.buffers if b.buffer == count.buffer), None)
    return own is not None and own.distinct_bytes > _MOSTLY * own.line_bytes


def _side_by_side(count: AccessCount) -> AccessCount:
    return replace(count, pattern=Pattern.UNIT, stride_bytes=count.element_bytes)


def _advice(facts: AccessFacts, places: int, gain_us: float, situation: Situation) -> Advice:
    count, transactions = facts.count, facts.transactions
    assert transactions is not None
    verb, what = ("store to", "store") if count.is_store else ("load", "load")
    more = f" (and {places - 1} more like it)" if places > 1 else ""
    moved, wanted = (round(each) * _SECTOR_BYTES for each in (transactions.sectors, transactions.least_sectors))
    return Advice(
        AdviceCode.UNCOALESCED_ACCESS,
        f"neighbouring work-items {verb} `{count.buffer}` {bytes_text(count.stride_bytes)} apart{more}: each {what} of "
        f"{min(_LANES, situation.group_items)} lanes moves {moved} bytes for {wanted}; {_remedy(count, situation)}",
        count.line if count.line >= 0 else None,
        gain_us,
        resources=("global memory",),
    )


def _remedy(count: AccessCount, situation: Situation) -> str:
    if count.stride_bytes > _NEAR_BYTES:
        return "let dimension 0 run along the rows (swap the indices, or transpose the buffer), or use a local tile"
    parameter = situation.work.kernel.parameter(count.buffer)
    kind = getattr(parameter.type, "pointee", None) if parameter else None
    if isinstance(kind, StructType):
        return "arrays of single members, instead of an array of structs, would keep together what is used together"
    return "what lies between is fetched in vain; keep together what is used together"


def _scattered(situation: Situation, facts: AccessFacts) -> Iterator[Advice]:
    count, through = facts.count, facts.index.through
    if count.pattern is not Pattern.GATHERED or facts.index.obstacle is not Obstacle.DATA:
        return
    fill = dict(situation.launch.fills).get(through)
    if (
        fill is None
        or situation.is_assumed(through)
        or fill.kind not in _SHUFFLED
        or facts.launch.line_bytes <= situation.device.cache_bytes
        or count.element_bytes >= _SECTOR_BYTES
    ):
        return
    gain_us = situation.gain_us([(count, _side_by_side(count))])
    if situation.is_worth(gain_us):
        yield Advice(
            AdviceCode.UNCOALESCED_ACCESS,
            f"`{count.buffer}` is {'stored to' if count.is_store else 'loaded'} wherever `{through}` says, over "
            f"{bytes_text(facts.launch.line_bytes)} of cache lines where the device has "
            f"{bytes_text(situation.device.cache_bytes)} of cache: {_SECTOR_BYTES} bytes move for "
            f"{count.element_bytes}; sorted indices, so that neighbours meet near each other, would share them",
            count.line if count.line >= 0 else None,
            gain_us,
            resources=("global memory",),
        )
