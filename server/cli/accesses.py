"""What the analysis says of each access, loop and branch, as JSON: for scripts that want more than totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.work.counts import AccessCount
    from model.work.features.facts import AccessFacts, Footprint
    from model.work.work_counts import WorkCounts

Json = dict[str, Any]


def accesses_json(work: WorkCounts) -> list[Json]:
    """Return one entry for each load and store of the source, in its order. Lines count from 1."""
    return [_access(count, facts) for count, facts in zip(work.accesses, work.facts.accesses, strict=True)]


def _access(count: AccessCount, facts: AccessFacts) -> Json:
    moved = count.line - facts.count.line
    transactions = facts.transactions
    return {
        "line": count.line + 1 if count.line >= 0 else None,
        "buffer": count.buffer,
        "space": str(count.space),
        "kind": "atomic" if count.is_atomic else "store" if count.is_store else "load",
        "index": (facts.index_in_words(lambda line: line + moved) if moved else facts.words) or None,
        "not_affine": str(facts.index.obstacle) if facts.index.obstacle else None,
        "through": facts.index.through or None,
        "bytes_each": count.element_bytes,
        "vector_width": count.width,
        "count": count.count,
        "pattern": str(count.pattern),
        "stride_bytes": count.stride_bytes,
        "steps_bytes": [step.bytes for step in facts.steps],
        "cache_set_conflicts": max((step.set_conflicts for step in facts.steps), default=1),
        "waiting": count.waiting,
        "accumulated_in_memory": facts.is_accumulated_in_memory,
        "item": _footprint(facts.item),
        "group": _footprint(facts.group),
        "launch": _footprint(facts.launch),
        "sectors_per_warp": transactions.sectors if transactions else None,
        "lines_per_warp": transactions.lines if transactions else None,
        "bank_conflict_degree": facts.bank_conflict_degree,
    }


def _footprint(footprint: Footprint) -> Json:
    return {
        "requested_bytes": footprint.requested_bytes,
        "distinct_bytes": footprint.distinct_bytes,
        "cache_line_bytes": footprint.line_bytes,
        "exact": footprint.is_exact,
    }


def loops_json(work: WorkCounts) -> list[Json]:
    return [
        {
            "line": loop.line + 1,
            "depth": loop.depth,
            "entries": loop.entries,
            "trips": loop.trips,
            "decided_by": str(loop.trip_kind),
            "barrier_inside": loop.has_barrier,
            "chain": loop.chain,
            "accumulators": loop.accumulators,
            "warp_efficiency": loop.warp_efficiency,
            "group_imbalance": loop.group_imbalance,
        }
        for loop in work.facts.loops
    ]


def branches_json(work: WorkCounts) -> list[Json]:
    return [
        {
            "line": branch.line + 1,
            "share": branch.share,
            "warps_diverging": branch.warps_diverging,
            "groups_diverging": branch.groups_diverging,
            "decided_by": str(branch.decided_by),
            "exact": branch.is_exact,
        }
        for branch in work.facts.branches
    ]
