"""How much longer warps are busy than their lanes: lanes that part wait for each other, as do those that leave a loop.

A warp executes both sides of a branch that its lanes take apart, and a loop for as long as its last lane stays. Source:
NVIDIA, "CUDA C++ Programming Guide", SIMT architecture; Fung et al., "Dynamic warp formation", MICRO 2007.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.work.features.divergence import BranchFacts, Decision, LoopFacts
from model.work.regions.region import Block, Loop

WARP_LANES = 32.0
EDGE = 0.05  # so few warps part where data end: what they cost is within what is not known of the last groups
LEAST_EFFICIENCY = 1 / WARP_LANES


def warp_slowdown(
    root: Block, runs: Mapping[int, float], branches: Mapping[int, BranchFacts], loops: Mapping[int, LoopFacts]
) -> float:
    """Return warps' work over lanes' work, by operations: at least 1. What merely is assumed of data counts as 1.

    `runs`, `branches` and `loops` are by the identity of their blocks, branches and loops.
    """
    done = held = 0.0
    stack: list[tuple[Block, float]] = [(root, 1.0)]
    while stack:
        block, factor = stack.pop()
        work = runs.get(id(block), 0.0) * (sum(op.times for op in block.ops) + len(block.accesses))
        done += work
        held += work * factor
        for inner in block.inner:
            if isinstance(inner, Loop):
                facts = loops.get(id(inner))
                efficiency = facts.warp_efficiency if facts is not None else None
                stack.append((inner.body, _at_most(factor / max(LEAST_EFFICIENCY, efficiency or 1.0))))
            else:
                then, otherwise = _sides(branches.get(id(inner)))
                stack += (inner.then, _at_most(factor * then)), (inner.otherwise, _at_most(factor * otherwise))
    return held / done if done else 1.0


def _sides(facts: BranchFacts | None) -> tuple[float, float]:
    """For each side the warps that execute it over those that its lanes would fill."""
    if (
        facts is None
        or not 0 < facts.share < 1
        or facts.warps_diverging < EDGE
        or (facts.decided_by is Decision.DATA and not facts.was_seen)
    ):
        return 1.0, 1.0
    share, apart = facts.share, facts.warps_diverging
    return 1 + apart * (1 - share) / share, 1 + apart * share / (1 - share)


def _at_most(factor: float) -> float:
    return min(factor, WARP_LANES)
