"""Private arrays that compilers for GPUs keep in registers: all their indices are constants once loops are unrolled.

Source: LLVM's scalar replacement of aggregates after full unrolling; NVIDIA, "CUDA C++ Programming Guide", local
memory: arrays stay in memory where their indices are not constants, or where they are too large.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model.opencl.types import AddressSpace
from model.work.access_facts import AccessFacts
from model.work.divergence import Decision, LoopFacts
from model.work.scopes import is_counter

REGISTER_BYTES = 4
MOST_UNROLLED = 64  # iterations of one loop that compilers unroll whole


@dataclass(frozen=True, slots=True)
class Promotion:
    """Arrays that registers can hold, and how many 32-bit registers they would need."""

    arrays: frozenset[str]
    registers: float


NOTHING = Promotion(frozenset(), 0.0)


def promotion(accesses: Iterable[AccessFacts], loops: Iterable[LoopFacts]) -> Promotion:
    """Private arrays whose every index is a constant after unrolling."""
    constant = {loop.line for loop in loops if loop.trip_kind is Decision.CONSTANT and loop.trips <= MOST_UNROLLED}
    of_array: dict[str, list[AccessFacts]] = defaultdict(list)
    for facts in accesses:
        if facts.count.space is AddressSpace.PRIVATE:
            of_array[facts.count.buffer].append(facts)
    kept = {name: own for name, own in of_array.items() if all(_is_constant(facts, constant) for facts in own)}
    return Promotion(frozenset(kept), sum(_extent_bytes(own) for own in kept.values()) / REGISTER_BYTES)


def _is_constant(facts: AccessFacts, constant: set[int]) -> bool:
    index = facts.index
    if index.obstacle is not None or index.constant.constant is None:
        return False
    if not all(is_counter(term.variable) for term in index.terms):
        return False
    return all(step.line in constant for step in facts.steps if step.bytes != 0)


def _extent_bytes(own: Sequence[AccessFacts]) -> float:
    lows = [facts.reach.extent.low or 0 for facts in own]
    highs = [facts.reach.extent.high or 0 for facts in own]
    return float(max(highs) - min(lows))
