"""What a device's compiler made of a kernel, in numbers: an optional group of inputs (see `model.compiled`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from model.compiled import CompiledFacts
from model.learned.loop_costs import LoopTable, loop_table
from model.learned.machine_facts import MACHINE_FACT_NAMES, machine_facts

_LANES = (1, 2, 4, 8, 16)  # elements an instruction works on; others count as the next smaller
_GROUPS = ("float", "divide", "whole", "whole_mul", "whole_divide", "convert", "load", "store", "atomic", "call",
           "move", "branch", "private")  # fmt: skip
_GROUP_OF = {
    "add": "float", "mul": "float", "fma": "float", "compare": "float", "simple": "float", "native": "float",
    "special": "call", "divide": "divide", "sqrt": "divide", "integer": "whole", "int_mul": "whole_mul",
    "int_divide": "whole_divide", "convert": "convert", "load": "load", "store": "store", "atomic": "atomic",
    "call": "call", "move": "move", "branch": "branch",
}  # fmt: skip
_SIZES = (
    "private_mem_bytes", "local_mem_bytes", "registers", "vector_registers", "spill_bytes", "spill_loads",
    "spill_stores", "vector_width_bits", "items_side_by_side", "code_bytes", "preferred_multiple",
    "max_work_group_size", "sub_group_size",
)  # fmt: skip
_SHARES = ("float_vector_share", "integer_vector_share", "memory_vector_share")
_LOOPS = (
    "loops", "loop.depth", "loop.inner_instructions", "loop.inner_lanes", "loop.inner_share", "loop.outer_instructions",
    "loop.outer_lanes", "loop.outer_share",
)  # fmt: skip
_OF_KERNEL = (
    *(f"mix.{group}.{lanes}" for group in _GROUPS for lanes in _LANES),
    *(f"calls.{lanes}" for lanes in _LANES),
    "calls.unnamed",
    *(f"log.{name}" for name in _SIZES),
    *_SHARES,
    *_LOOPS,
    "instructions",
)
COMPILED_FACT_NAMES = (*_OF_KERNEL, *(f"machine.{name}" for name in MACHINE_FACT_NAMES))


@dataclass(frozen=True, slots=True, eq=False)
class KernelCode:
    """What there is to know of a compiled kernel before its launches."""

    facts: tuple[float, ...]
    loops: LoopTable | None


@lru_cache(maxsize=256)
def kernel_code(facts: CompiledFacts) -> KernelCode:
    return KernelCode(_of_kernel(facts), loop_table(facts))


def compiled_facts(code: KernelCode, launch: Sequence[float]) -> tuple[float, ...]:
    """In the order of COMPILED_FACT_NAMES; `launch` are the launch facts. NaN where the driver does not tell."""
    return (*code.facts, *machine_facts(code.loops, launch))


def _of_kernel(facts: CompiledFacts) -> tuple[float, ...]:
    amounts: dict[str, float] = defaultdict(float)
    for each in facts.mix:
        group = "private" if each.space == "private" else _GROUP_OF.get(each.kind, "whole")
        amounts[f"mix.{group}.{_lanes(each.lanes)}"] += each.count
        amounts["instructions"] += each.count
    for call in facts.calls:
        amounts["calls.unnamed" if call.function.startswith("(") else f"calls.{_lanes(call.lanes)}"] += call.count
    found = {name: math.log2(amount + 1) for name, amount in amounts.items()}
    for name in _SIZES:
        size = getattr(facts, name)
        found[f"log.{name}"] = math.nan if size is None else math.log2(max(0, size) + 1)
    for name in _SHARES:
        share = getattr(facts, name)
        found[name] = math.nan if share is None else share
    found |= _loops(facts)
    return tuple(found.get(name, 0.0) for name in _OF_KERNEL)


def _loops(facts: CompiledFacts) -> dict[str, float]:
    if not facts.loops:
        return dict.fromkeys(_LOOPS, 0.0)
    inner = max(facts.loops, key=lambda loop: (loop.depth, loop.instructions))
    outer = max(facts.loops, key=lambda loop: loop.instructions)
    return {
        "loops": math.log2(len(facts.loops) + 1),
        "loop.depth": float(inner.depth),
        "loop.inner_instructions": math.log2(inner.instructions + 1),
        "loop.inner_lanes": float(inner.lanes),
        "loop.inner_share": inner.vector_share,
        "loop.outer_instructions": math.log2(outer.instructions + 1),
        "loop.outer_lanes": float(outer.lanes),
        "loop.outer_share": outer.vector_share,
    }


def _lanes(lanes: int) -> int:
    return max(one for one in _LANES if one <= max(1, lanes))
