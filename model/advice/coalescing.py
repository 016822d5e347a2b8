"""Advice on global memory: what the lanes of a GPU ask for at once should lie side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from model.advice.advice import Advice, AdviceCode
from model.advice.situation import GLOBAL_SPACES, Situation
from model.advice.words import bytes_text
from model.work.affine import Obstacle
from model.work.counts import AccessCount, Pattern
from model.work.facts import AccessFacts

_LANES = 32
_SECTOR_BYTES = 32
_NEAR_BYTES = 128  # a cache line: what lies within it is fetched together, and used soon if at all
_LEAST_FACTOR = 2.0  # sectors fetched over sectors needed
_CACHED_BYTES = 32 * 1024  # stays in the nearest cache of any GPU
_SHUFFLED = frozenset({"random", "perm", "randint"})


def uncoalesced_access(situation: Situation) -> Iterator[Advice]:
    """Neighbouring work-items far apart in global memory, so that each load brings lines of which little is used.

    Silent on CPUs, where one work-item after the other runs and may well walk on through memory; for small buffers,
    which stay in the nearest cache; where the other bytes of those lines are used at once: by other members of the
    same struct, or by the next iterations of a loop. Accesses that the data scatter are named only where `fill` says
    that they are scattered and the buffer is larger than the device's cache.
    """
    if not situation.is_gpu or not situation.is_long:
        return
    found: dict[tuple[str, bool], list[AccessFacts]] = defaultdict(list)
    for facts in situation.accesses(*GLOBAL_SPACES):
        if facts.index.obstacle is Obstacle.DATA:
            yield from _scattered(situation, facts)
        elif _is_apart(facts) and not _is_shared(facts.count, situation):
            found[facts.count.buffer, facts.count.is_store].append(facts)
    for each in found.values():
        gain_us = situation.gain_us([(facts.count, _side_by_side(facts.count)) for facts in each])
        if situation.is_worth(gain_us):
            yield _advice(max(each, key=lambda facts: facts.count.bytes), len(each), gain_us)


def _is_apart(facts: AccessFacts) -> bool:
    count, transactions = facts.count, facts.transactions
    return (
        transactions is not None
        and count.pattern is Pattern.STRIDED
        and transactions.factor >= _LEAST_FACTOR
        and count.footprint_bytes > _CACHED_BYTES
    )


def _is_shared(count: AccessCount, situation: Situation) -> bool:
    """Whether what lies between neighbours is used as well, and soon: nothing is brought in vain."""
    if count.stride_bytes > _NEAR_BYTES:
        return False
    if count.step_bytes is not None and 0 < abs(count.step_bytes) <= count.element_bytes:
        return True
    beside = sum(
        other.element_bytes
        for other in situation.counts.accesses
        if (other.buffer, other.stride_bytes, other.is_store) == (count.buffer, count.stride_bytes, count.is_store)
    )
    return beside * 2 > count.stride_bytes


def _side_by_side(count: AccessCount) -> AccessCount:
    return replace(count, pattern=Pattern.UNIT, stride_bytes=count.element_bytes)


def _advice(facts: AccessFacts, places: int, gain_us: float) -> Advice:
    count, transactions = facts.count, facts.transactions
    assert transactions is not None
    verb, what = ("store to", "store") if count.is_store else ("load", "load")
    more = f" (and {places - 1} more like it)" if places > 1 else ""
    moved, wanted = (round(each) * _SECTOR_BYTES for each in (transactions.sectors, transactions.least_sectors))
    return Advice(
        AdviceCode.UNCOALESCED_ACCESS,
        f"neighbouring work-items {verb} `{count.buffer}` {bytes_text(count.stride_bytes)} apart{more}: each {what} of "
        f"{_LANES} lanes moves {moved} bytes for {wanted}; {_remedy(count)}",
        count.line if count.line >= 0 else None,
        gain_us,
    )


def _remedy(count: AccessCount) -> str:
    if count.stride_bytes <= _NEAR_BYTES:
        return "keep what is used together side by side: an array for each member instead of an array of structs"
    return "let dimension 0 run along the rows (swap the indices, or transpose the buffer), or go through a local tile"


def _scattered(situation: Situation, facts: AccessFacts) -> Iterator[Advice]:
    count, through = facts.count, facts.index.through
    fill = dict(situation.launch.fills).get(through)
    if (
        fill is None
        or fill.kind not in _SHUFFLED
        or count.footprint_bytes <= situation.device.cache_bytes
        or count.element_bytes >= _SECTOR_BYTES
    ):
        return
    gain_us = situation.gain_us([(count, _side_by_side(count))])
    if situation.is_worth(gain_us):
        yield Advice(
            AdviceCode.UNCOALESCED_ACCESS,
            f"`{count.buffer}` is {'stored to' if count.is_store else 'loaded'} wherever `{through}` says, over "
            f"{bytes_text(count.footprint_bytes)}, more than the device's cache of "
            f"{bytes_text(situation.device.cache_bytes)}: {_SECTOR_BYTES} bytes move for {count.element_bytes}; sorted "
            f"indices, so that neighbours meet near each other, would share them",
            count.line if count.line >= 0 else None,
            gain_us,
        )
