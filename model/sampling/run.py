"""`sample_launch`: run a kernel for some of its work-items, within a budget, and say what was counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from model.launch.launch import Launch
from model.launch.names import defined_numbers
from model.opencl.kernel import Kernel
from model.opencl.program import Program
from model.sampling.arguments import arguments
from model.sampling.compile import CompiledKernel, compile_kernel
from model.sampling.compiler import LOCAL_BASE, PRIVATE_BASE
from model.sampling.counters import Context, Meter
from model.sampling.items import Chosen, Shape, batches, everything, shape_of
from model.sampling.lanes import Lanes
from model.sampling.memory import Memory, Whole
from model.sampling.sample import RawSample, SampleBudget
from model.sampling.totals import Totals
from model.sampling.values import BudgetEnded, NotInterpreted
from model.work.regions.region import Site

DEFAULT_BUDGET = SampleBudget()
FIRST_ITEMS, MOST_ITEMS = 2048, 1 << 15
_FIRST_IN_TURNS = 256  # where they go one by one
_ENOUGH = 0.35  # of the budget: no further batch is begun once so much is spent
_PATIENCE = 4  # times the budget for the first batch to end: what a loop does later cannot be told from how it begins
_MOST_BYTES = 64 << 20  # of private or of local memory


def never() -> bool:
    return False


def sample_launch(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    wanted: frozenset[Site] | None,
    budget: SampleBudget = DEFAULT_BUDGET,
    cancelled: Callable[[], bool] = never,
) -> RawSample:
    """Run `kernel` for a sample of the work-items of `launch`. `wanted`: the accesses to count; None: all of them.

    Never raises for what a program says; `stopped` then tells why nothing is known.
    """
    try:
        compiled = _compiled(program, kernel, tuple(sorted(_free_names(kernel, launch).items())), wanted)
        with np.errstate(all="ignore"):
            return _Sampling(compiled, kernel, launch, budget, cancelled).sample()
    except NotInterpreted as reason:
        return _stopped(str(reason))
    except BudgetEnded:
        return _stopped("it takes too long before its work-items begin")
    except RecursionError:
        return _stopped("statements or expressions are nested too deeply to be interpreted")


def _stopped(reason: str) -> RawSample:
    return RawSample(0, {}, {}, 1.0, complete=False, rests_on=(), notes=(), stopped=reason)


def _free_names(kernel: Kernel, launch: Launch) -> dict[str, Any]:
    """Numbers that the launch gives and no parameter takes: names that the source leaves to the host."""
    taken = {p.name for p in kernel.parameters}
    given = {name: value for name, value in launch.scalars if name.partition(".")[0] not in taken}
    return {**defined_numbers(launch.options), **given}


@lru_cache(8)
def _compiled(
    program: Program, kernel: Kernel, free_names: tuple[tuple[str, Any], ...], wanted: frozenset[Site] | None
) -> CompiledKernel:
    return compile_kernel(program, kernel, dict(free_names), wanted)


class _Sampling:
    """One sample: batches of work-items, until the budget or the launch is through."""

    def __init__(
        self,
        compiled: CompiledKernel,
        kernel: Kernel,
        launch: Launch,
        budget: SampleBudget,
        cancelled: Callable[[], bool],
    ) -> None:
        self.compiled, self.kernel, self.launch = compiled, kernel, launch
        self.lane_steps = budget.lane_steps
        self.meter = Meter(_PATIENCE * budget.lane_steps, budget.seconds, cancelled)
        self.shape = shape_of(launch, kernel)
        self.totals = Totals(compiled.compiler)
        self.memory: Memory = Memory()

    def sample(self) -> RawSample:
        c = self.compiled.compiler
        first = self._first_items()
        whole = c.has_barriers
        complete = True
        for chosen in batches(self.shape, whole_groups=whole, first_items=first, most_items=min(MOST_ITEMS, 8 * first)):
            if not chosen.count:
                break
            before = self.meter.spent
            lanes = self.lanes_of(chosen)
            ended_by: str | None = None
            try:
                self.run(lanes)
            except BudgetEnded:
                ended_by = self.meter.why
                lanes.cut_short()
            if ended_by is not None or lanes.cut:
                if self.totals.items and ended_by in (None, "steps"):
                    break  # this batch is left out: those before it were whole
                complete = False
                self.totals.note_unfinished(ended_by or "steps", lanes.cut)
                self.totals.add(chosen, lanes, self.memory)
                break
            self.totals.add(chosen, lanes, self.memory)
            self.meter.limit = self.lane_steps
            spent = self.meter.spent - before
            if self.meter.spent > _ENOUGH * self.meter.limit or self.meter.spent + 2.5 * spent > self.meter.limit:
                break
            if self.totals.is_settled():
                break
        share = 0.0 if self.totals.items >= prod(self.shape.global_size) else 1 / prod(self.shape.groups)
        return self.totals.sample(self.launch, complete=complete, group_share=share)

    def _first_items(self) -> int:
        layout = self.compiled.compiler.layout
        first = _FIRST_IN_TURNS if self.compiled.compiler.takes_turns else FIRST_ITEMS
        while first > 32 and first * max(1, layout.private_bytes) > _MOST_BYTES:
            first //= 2
        return first

    def lanes_of(self, chosen: Chosen) -> Lanes:
        c, body = self.compiled.compiler, self.compiled.body
        memory = self.memory = Memory()
        memory.may_misalign = c.may_misalign
        memory.meter = self.meter
        values = arguments(self.kernel, self.launch, memory, chosen.group)
        lanes = Lanes(chosen.count, c.slots, memory, self.meter, Context(body.sites))
        lanes.subgroup, lanes.group = chosen.subgroup, chosen.group
        lanes.stands_for = prod(self.shape.global_size) / chosen.count
        _launch_slots(c.launch_slots, lanes, chosen, self.shape)
        for slot, value in c.fixed.items():
            lanes.values[slot] = value
        self._own_memory(lanes, chosen)
        self._tables(lanes)
        for parameter, value in zip(body.parameters, values, strict=True):
            lanes.values[parameter.slot or 0] = value
        return lanes

    def _own_memory(self, lanes: Lanes, chosen: Chosen) -> None:
        layout, memory = self.compiled.compiler.layout, lanes.memory
        each = -(-layout.private_bytes // 16) * 16
        base = memory.add(Whole("private memory", each * chosen.count))
        lanes.values[PRIVATE_BASE] = base + np.arange(chosen.count, dtype=np.int64) * each
        groups = int(chosen.group.max()) + 1
        each = -(-layout.local_bytes // 16) * 16
        if each * groups > _MOST_BYTES:
            raise NotInterpreted("its local memory is too large to be interpreted")
        base = memory.add(Whole("local memory", each * groups))
        lanes.values[LOCAL_BASE] = base + chosen.group * np.int64(each)

    def _tables(self, lanes: Lanes) -> None:
        """Variables at program scope, filled by one lane."""
        c, memory = self.compiled.compiler, lanes.memory
        made = []
        for table in c.tables:
            address = np.int64(memory.add(Whole(table.declared.name, table.type.size_bytes)))
            lanes.values[table.slot] = address
            made.append((table, address))
        for table, _ in made:
            if table.fill is not None and table.sites is not None:
                one = Lanes(1, c.slots, memory, self.meter, Context(table.sites))
                for other, address in made:
                    one.values[other.slot] = address
                one.values[PRIVATE_BASE] = lanes.values[PRIVATE_BASE][:1]
                table.fill(one)

    def run(self, lanes: Lanes) -> None:
        body = self.compiled.body
        self.meter.spend(body.cost, lanes.width)
        body.run(lanes)


def _launch_slots(slots: dict[tuple[str, int], int], lanes: Lanes, chosen: Chosen, shape: Shape) -> None:
    """Ids and sizes, as the work-item functions give them."""
    u8 = np.uint64
    x, y, _ = shape.global_size
    gx, gy, gz = chosen.global_id
    in_group = chosen.local_linear
    whole: dict[str, Any] = {
        "global_linear_id": lambda: ((gz * y + gy) * x + gx).astype(u8), "local_linear_id": lambda: in_group.astype(u8),
        "work_dim": lambda: np.uint32(shape.work_dim), "num_sub_groups": lambda: np.uint32(shape.subgroups),
        "sub_group_size": lambda: np.minimum(32, shape.group_items - in_group // 32 * 32).astype(np.uint32),
        "max_sub_group_size": lambda: np.uint32(32),
        "sub_group_id": lambda: (in_group // 32).astype(np.uint32),
        "sub_group_local_id": lambda: (in_group % 32).astype(np.uint32),
    }  # fmt: skip
    by_dimension: dict[str, Any] = {
        "global_id": lambda d: chosen.global_id[d].astype(u8), "local_id": lambda d: chosen.local_id[d].astype(u8),
        "group_id": lambda d: chosen.group_id[d].astype(u8), "global_size": lambda d: u8(shape.global_size[d]),
        "local_size": lambda d: u8(shape.local_size[d]), "num_groups": lambda d: u8(shape.groups[d]),
    }  # fmt: skip
    for (what, dimension), slot in slots.items():
        lanes.values[slot] = by_dimension[what](dimension) if what in by_dimension else whole[what]()


def interpreted_buffers(program: Program, kernel: Kernel, launch: Launch) -> dict[str, bytes]:
    """Return what all buffers hold when every work-item has run; for small launches. Raises NotInterpreted."""
    compiled = _compiled(program, kernel, tuple(sorted(_free_names(kernel, launch).items())), None)
    with np.errstate(all="ignore"):
        sampling = _Sampling(compiled, kernel, launch, SampleBudget(1 << 60, 600.0), never)
        lanes = sampling.lanes_of(everything(sampling.shape))
        sampling.run(lanes)
    found = {}
    for segment in lanes.memory.segments:
        if segment is not None and kernel.parameter(segment.name) is not None:
            index = segment.index(np.arange(segment.size_bytes, dtype=np.int64), 0)
            found[segment.name] = segment.view(np.dtype(np.uint8))[index].tobytes()
    return found
