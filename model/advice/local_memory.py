"""Advice on local memory: lanes that queue for one bank, and barriers that only part of a work-group comes to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from model.advice.advice import Advice, AdviceCode, bytes_text, times_text
from model.advice.situation import Situation
from model.opencl.types import AddressSpace
from model.work.expressions.symbolic import LOCAL_ID, LOCAL_SIZE, Expression
from model.work.features.facts import AccessFacts
from model.work.memory.affine import Obstacle
from model.work.regions.region import Block, Loop

_LEAST_DEGREE = 2.0
_LANES = 32
_ROW_BYTES = 128  # 32 banks of 4 bytes


def bank_conflicts(situation: Situation) -> Iterator[Advice]:
    """Lanes of a GPU that meet in one bank of local memory, so that one access takes several turns.

    Silent on CPUs, whose local memory has no banks; where the data decide who meets whom (histograms), or a
    group that was assumed; and where waiting for banks is a trifle of the launch.
    """
    if not situation.is_gpu or not situation.is_long or not situation.knows_neighbours:
        return
    found: dict[tuple[int, str, bool], list[AccessFacts]] = defaultdict(list)
    counts = situation.counts
    if not situation.is_worth(_turns_us((counts.local_load_bytes + counts.local_store_bytes) * _LANES, situation)):
        return
    for facts in situation.accesses(AddressSpace.LOCAL):
        if (facts.bank_conflict_degree or 0.0) >= _LEAST_DEGREE and facts.index.obstacle is not Obstacle.DATA:
            found[facts.count.line, facts.count.buffer, facts.count.is_store].append(facts)
    for each in found.values():
        # Turns beyond the first, each at the pace of an access without conflicts.
        gain_us = _turns_us(sum((_degree(facts) - 1) * facts.count.bytes for facts in each), situation)
        if situation.is_worth(gain_us):
            yield _advice(max(each, key=_degree), gain_us)


def _turns_us(turned_bytes: float, situation: Situation) -> float:
    return 1e-3 * turned_bytes / situation.device.rates.local_bandwidth_gb_s


def _degree(facts: AccessFacts) -> float:
    return facts.bank_conflict_degree or 1.0


def _advice(facts: AccessFacts, gain_us: float) -> Advice:
    count, turns = facts.count, times_text(_degree(facts))
    apart = f" {bytes_text(count.stride_bytes)} apart" if count.stride_bytes else ""
    return Advice(
        AdviceCode.BANK_CONFLICTS,
        f"neighbouring work-items {'store to' if count.is_store else 'load'} `{count.buffer}`{apart} in local memory: "
        f"up to {turns} of {_LANES} lanes meet in one bank, so that an access takes {turns} turns instead of 1; "
        f"{_remedy(count.stride_bytes, count.element_bytes)}",
        count.line if count.line >= 0 else None,
        gain_us,
        resources=("local memory",),
    )


def _remedy(stride_bytes: int, element_bytes: int) -> str:
    if stride_bytes >= _ROW_BYTES // 2:
        return f"rows that are one element ({element_bytes} bytes) longer would spread over all banks"
    return "let neighbouring work-items touch neighbouring words"


_LONGEST_QUOTED = 60


def divergent_barrier(situation: Situation) -> Iterator[Advice]:
    """Yield a barrier within a condition, or a loop, that is not the same for all work-items of a group.

    OpenCL C 3.0, section 6.15.8: all work-items of the group must reach it, or none. It is a fault, whatever the
    device and however short the launch.

    Silent unless some group is sure to be divided: nothing is said of conditions on data, nor, where part of the
    launch was assumed, of conditions on more than local ids.
    """
    for barrier in situation.counts.facts.barriers:
        where = barrier.divergent_line
        if where is None:
            continue
        if situation.launch.assumptions and not _is_local(situation.work.root, where):
            continue
        yield Advice(
            AdviceCode.DIVERGENT_BARRIER,
            f"not all {situation.group_items} work-items of a group come to this barrier: {_quoted(situation, where)} "
            "divides them by their ids; that is undefined (some devices hang, others compute nonsense), so put the "
            "barrier where all of them pass",
            barrier.line,
            is_fault=True,
        )


def _quoted(situation: Situation, line: int) -> str:
    text = " ".join(situation.source_line(line).split()).rstrip("{ ")
    if not text:
        return "a condition around it"
    return f"`{text if len(text) <= _LONGEST_QUOTED else text[:_LONGEST_QUOTED] + '...'}`"


def _is_local(block: Block, line: int) -> bool:
    """Return whether what divides work-items on `line` are local ids and sizes alone."""
    own: set[object] = {*LOCAL_ID, *LOCAL_SIZE}
    found = list(_deciding(block, line))
    return bool(found) and all(expression.leaves and expression.leaves <= own for expression in found)


def _deciding(block: Block, line: int) -> Iterator[Expression]:
    for part in block.inner:
        if part.line == line:
            yield part.trips if isinstance(part, Loop) else part.condition
        for inner in (part.body,) if isinstance(part, Loop) else (part.then, part.otherwise):
            yield from _deciding(inner, line)
