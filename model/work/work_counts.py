"""Work in numbers: what one launch executes and touches, over the whole NDRange."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.work.counts import AccessCount, LineCount, OpCount, OpKind
from model.work.features.breakdown import Breakdown
from model.work.features.facts import Facts
from model.work.features.vectorization_contexts import ContextCount
from model.work.walk.sample import Sample


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """Totals over a launch. `flops` counts an fma as two; bytes are what executed loads and stores request."""

    work_items: int
    work_groups: int
    flops: float
    ops: tuple[OpCount, ...]
    accesses: tuple[AccessCount, ...]
    global_load_bytes: float
    global_store_bytes: float
    global_footprint_bytes: float
    constant_load_bytes: float
    local_load_bytes: float
    local_store_bytes: float
    local_bytes_per_group: int
    private_array_bytes: int  # per work-item
    atomics: float
    barriers: float  # executed by work-groups: one barrier of one group counts one
    image_reads: float
    image_writes: float
    # What some CPU runtimes do not vectorise across work-items: loops at run time whose iterations wait for each
    # other or whose length the data decide. `chain_ops` counts the float operations in line behind one another.
    scalar_ops: tuple[OpCount, ...] = ()
    scalar_accesses: float = 0.0
    chain_ops: float = 0.0
    # Lines (from 0) of loops that neither the launch nor the data's description bounds: taken for a default.
    undecided_loops: tuple[int, ...] = ()
    # Those of loops that were followed for some of the work-items only, whose mean stands for all.
    estimated_loops: tuple[int, ...] = ()
    local_size: tuple[int, ...] = ()
    global_size: tuple[int, ...] = ()
    is_local_size_chosen: bool = False  # by the driver
    buffer_bytes: tuple[tuple[str, int], ...] = ()  # of whole buffers, by name, however little of them is touched
    # More of the same, computed when asked for.
    breakdown: Breakdown | None = field(default=None, kw_only=True, compare=False, repr=False)
    facts: Facts = field(kw_only=True, compare=False, repr=False)
    sample: Sample | None = field(default=None, kw_only=True, compare=False, repr=False)  # what it rests on

    @property
    def lines(self) -> tuple[LineCount, ...]:
        """By source line, ascending."""
        return self.breakdown.lines if self.breakdown is not None else ()

    @property
    def contexts(self) -> tuple[ContextCount, ...]:
        """By what stands around the operations and accesses."""
        return self.breakdown.contexts if self.breakdown is not None else ()

    @property
    def arithmetic_intensity(self) -> float | None:
        """Flops per byte requested from global memory; None when nothing is requested."""
        requested = self.global_load_bytes + self.global_store_bytes
        return self.flops / requested if requested else None

    def as_json(self) -> dict[str, float | None]:
        """Return the `work` of an answer on the command line; None for what this launch has nothing of."""
        facts = self.facts

        def total(*kinds: OpKind, floats: bool | None = None) -> float:
            return sum(
                o.count for o in self.ops if o.kind in kinds and (floats is None or o.element.startswith("f") is floats)
            )

        return {
            "work_items": self.work_items,
            "work_groups": self.work_groups,
            "flops": self.flops,
            "int_ops": total(OpKind.INTEGER, OpKind.INT_MUL, OpKind.INT_DIVIDE),
            "special_ops": total(OpKind.SPECIAL, OpKind.NATIVE),
            "divides": total(OpKind.DIVIDE, OpKind.SQRT),
            "conversions": total(OpKind.CONVERT),
            "branches": total(OpKind.BRANCH),
            "global_load_bytes": self.global_load_bytes,
            "global_store_bytes": self.global_store_bytes,
            "global_footprint_bytes": self.global_footprint_bytes,
            "constant_load_bytes": self.constant_load_bytes,
            "local_load_bytes": self.local_load_bytes,
            "local_store_bytes": self.local_store_bytes,
            "local_bytes_per_group": self.local_bytes_per_group,
            "private_array_bytes": self.private_array_bytes,
            "atomics": self.atomics,
            "barriers": self.barriers,
            "image_reads": self.image_reads,
            "image_writes": self.image_writes,
            "cache_line_footprint_bytes": facts.launch.line_bytes,
            "group_requested_bytes": facts.group.requested_bytes,
            "group_footprint_bytes": facts.group.distinct_bytes,
            "item_footprint_bytes": facts.item.distinct_bytes,
            "sectors_over_needed": facts.transaction_factor,
            "bank_conflict_degree": facts.bank_conflict_degree,
            "divergence": facts.divergence,
            "group_imbalance": facts.group_imbalance,
            "registers_estimate": facts.registers,
            "registers_across_barriers": facts.live_across_barriers,
        }
