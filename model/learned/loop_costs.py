"""The loops of a kernel's machine code in arrays: what one round of each does, and how many cycles it takes.

Rates are those of Intel's server cores since Skylake (Abel & Reineke, uops.info, ASPLOS 2019), rounded; what calls of
PoCL's and of Intel's functions take was measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.compiled import CompiledFacts, InstructionCount, LoopCode
from model.opencl.builtins import BUILTINS
from model.work.counts import OpKind

Doubles = npt.NDArray[np.float64]
# What the source and the code have in common.
KINDS = ("flops", "divide", "call", "store", "load", "atomic", "int_divide", "int_mul", "simple", "integer", "rounds")
_GROUP_NAMES = ("float", "divide", "whole", "int_mul", "convert", "load", "store", "stack", "gather", "shuffle",
                "branch", "cheap", "image", "call", "move")  # fmt: skip
GROUPS = tuple(f"{group}.{width}" for group in _GROUP_NAMES for width in ("one", "many"))  # elements an instruction
_GROUP_OF = {
    "add": "float", "mul": "float", "fma": "float", "compare": "float", "simple": "float", "native": "float",
    "divide": "divide", "sqrt": "divide", "int_divide": "divide", "integer": "whole", "int_mul": "int_mul",
    "convert": "convert", "load": "load", "store": "store", "gather": "gather", "scatter": "gather",
    "shuffle": "shuffle", "branch": "branch", "atomic": "call", "move": "move",
}  # fmt: skip
_SINE, _WIDE_SINE = 110.0, 56.0  # cycles of a call, for up to _NARROW elements and for more
_NARROW = 4
_CALLS = {"read_image": 120.0, "write_image": 80.0, "(through": 60.0, "atomic": 25.0, "vload": 5.0, "vstore": 6.0,
          "irem": 40.0, "idiv": 40.0, "urem": 35.0, "udiv": 35.0, "mem": 50.0, "get_image": 4.0, "convert": 5.0,
          "sincos": 150.0}  # fmt: skip
_OTHER_CALL, _COSTLY, _ATOMIC = 30.0, 20.0, 20.0
_ISSUED = 5  # instructions a cycle


@dataclass(frozen=True, slots=True, eq=False)
class LoopTable:
    """One entry a loop, as in `CompiledFacts.profile`.

    Cycles are of a round: of the busiest unit (`busy`), of issuing everything (`issue`), and of waiting for the round
    before (`chain`; 0 where other loops are inside). `lanes` are the widest in the loop and in those in it; `around`
    [loops, loops] is 1 where the second is the first or encloses it. `items`: work-items in a vector, where the
    compiler said so; `local_size` that the code is made for, where it is made for one alone.
    """

    elements: Doubles  # [loops, KINDS]
    groups: Doubles  # [loops, GROUPS], instructions
    gathered: Doubles  # elements that gathers and scatters move
    busy: Doubles
    issue: Doubles
    chain: Doubles
    trips: Doubles  # 0 where the code does not say
    lanes: Doubles
    own_lanes: Doubles
    is_leaf: npt.NDArray[np.bool_]
    leftover: npt.NDArray[np.bool_]
    parent: tuple[int, ...]
    depth: tuple[int, ...]
    around: Doubles
    items: int | None
    local_size: tuple[int, ...] | None


def loop_table(facts: CompiledFacts) -> LoopTable | None:
    """None where the code was not read."""
    profile = facts.profile
    if not profile:
        return None
    depth: list[int] = []
    around = np.eye(len(profile))
    for number, loop in enumerate(profile):
        depth.append(0 if loop.parent is None else depth[loop.parent] + 1)
        if loop.parent is not None:
            around[number] += around[loop.parent]
    lanes = [loop.lanes for loop in profile]
    for number in range(len(profile) - 1, 0, -1):
        outer = profile[number].parent or 0
        if not profile[number].leftover:
            lanes[outer] = max(lanes[outer], lanes[number])
    costs = [_cycles(loop.mix) for loop in profile]
    parents = {loop.parent for loop in profile}
    is_leaf = np.array([number not in parents for number in range(len(profile))])
    return LoopTable(
        elements=np.array([_elements(loop) for loop in profile]),
        groups=np.array([_groups(loop.mix) for loop in profile]),
        gathered=np.array([_gathered(loop.mix) for loop in profile]),
        busy=np.array([busy for busy, _ in costs]),
        issue=np.array([issue for _, issue in costs]),
        chain=np.array([loop.chain_cycles for loop in profile]) * is_leaf,
        trips=np.array([float(loop.trips or 0) for loop in profile]),
        lanes=np.array(lanes, np.float64),
        own_lanes=np.array([float(loop.lanes) for loop in profile]),
        is_leaf=is_leaf,
        leftover=np.array([loop.leftover for loop in profile]),
        parent=tuple(loop.parent or 0 for loop in profile),
        depth=tuple(depth),
        around=around,
        items=facts.items_side_by_side,
        local_size=facts.code_local_size,
    )


def _elements(loop: LoopCode) -> list[float]:
    found: dict[str, float] = defaultdict(float)
    for each in loop.mix:
        amount = float(each.count * each.lanes)
        if each.kind in ("add", "mul", "fma"):
            found["flops"] += amount * (2 if each.kind == "fma" else 1)
        elif each.kind in ("divide", "sqrt"):
            found["divide"] += amount
        elif each.kind in ("load", "store", "gather", "scatter"):
            if not each.space:  # of a buffer, most likely
                found["load" if each.kind in ("load", "gather") else "store"] += amount * _bytes(each) / 4
        elif each.kind in ("compare", "simple"):
            found["simple"] += amount
        elif each.kind == "call" and not _is_costly(each):
            # What compilers write as an instruction, had they not called a function for it.
            for kind, n in BUILTINS[each.element].costs if each.element in BUILTINS else ():
                found["flops" if kind in ("add", "mul", "fma") else kind] += n * amount * (2 if kind == "fma" else 1)
        else:
            found[each.kind] += amount
    found["rounds"] = float(loop.lanes) if loop.parent else 0.0  # the outermost go over work-items
    return [found[kind] for kind in KINDS]


def _bytes(each: InstructionCount) -> int:
    return int(each.element[1:]) // 8 if each.element[1:].isdigit() else 4


def _groups(mix: Sequence[InstructionCount]) -> list[float]:
    found: dict[str, float] = defaultdict(float)
    for each in mix:
        if each.kind == "call":
            is_image = each.element.startswith(("read_", "write_", "(through"))
            group = "image" if is_image else "call" if _is_costly(each) else "cheap"
        else:
            group = "stack" if each.space in ("stack", "private") else _GROUP_OF.get(each.kind, "whole")
        found[f"{group}.{'many' if each.lanes > 1 else 'one'}"] += each.count
    return [found[name] for name in GROUPS]


def _gathered(mix: Sequence[InstructionCount]) -> float:
    return float(sum(each.count * each.lanes for each in mix if each.kind in ("gather", "scatter")))


def _cycles(mix: Sequence[InstructionCount]) -> tuple[float, float]:
    """Of a round: of the busiest unit, and of issuing all."""
    issued = loads = stores = vectors = scalars = waits = 0.0
    for each in mix:
        n, bits = float(each.count), each.lanes * _bytes(each) * 8
        issued += n
        if each.kind == "load":
            loads += n / 2
            issued -= n / 2  # most are a part of the instruction that uses them
        elif each.kind == "store":
            stores += n
        elif each.kind == "gather":
            loads += n * each.lanes / 2
            issued += n * each.lanes / 2
        elif each.kind == "scatter":
            stores += n * each.lanes
            issued += n * each.lanes
        elif each.kind in ("call", "atomic"):
            waits += n * (_ATOMIC if each.kind == "atomic" else call_cycles(each.element, each.lanes))
        elif each.kind in ("divide", "sqrt"):
            waits += n * (4 if bits <= 128 else 5 if bits <= 256 else 10) * (1.7 if each.element == "f64" else 1)
        elif each.kind == "int_divide":
            waits += n * (10 if each.element == "i64" else 6)
        elif each.lanes > 1:
            vectors += n * _vector_cycles(each, bits)
        else:
            scalars += n / (2 if each.kind == "branch" else 1 if each.kind == "int_mul" else 4)
    return max(issued / _ISSUED, loads, stores, vectors, scalars) + waits, issued / _ISSUED + waits


def _vector_cycles(each: InstructionCount, bits: int) -> float:
    if each.kind == "shuffle":
        return 1.0
    parts = {"i32": 2, "i64": 3}.get(each.element, 1) if each.kind == "int_mul" else 1
    return parts / (2 if bits > 256 or each.element[:1] == "f" else 3)


@lru_cache(maxsize=4096)
def call_cycles(name: str, lanes: int) -> float:
    """Of one call. PoCL calls a function for `min` and the like, too."""
    known = BUILTINS.get(name)
    if known is None:
        return next((cycles for prefix, cycles in _CALLS.items() if name.startswith(prefix)), _OTHER_CALL)
    special = sum(n for kind, n in known.costs if kind == OpKind.SPECIAL)
    if not special:
        return 4.0 + 2 * sum(n for _, n in known.costs)
    return (_SINE if lanes <= _NARROW else _WIDE_SINE) * special * known.price


def _is_costly(call: InstructionCount) -> bool:
    return call_cycles(call.element, call.lanes) > _COSTLY
