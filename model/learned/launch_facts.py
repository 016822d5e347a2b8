"""A launch in numbers, whatever the device: what each work-item executes and touches, and how the launch is cut.

Everything comes from one count of the launch, so that a changed launch costs a count and this sum, no more. Amounts
are per work-item and logarithmic (`log2(amount + 2^-10)`), sizes logarithmic, shares between 0 and 1.
"""

from __future__ import annotations

import math
from collections import defaultdict

from model.launch.launch import Launch
from model.learned.access_facts import ACCESS_AMOUNTS, ACCESS_SIZES, add_accesses
from model.learned.kernel_facts import KERNEL_FACTS, kernel_facts
from model.opencl.builtins import BUILTINS, FENCES
from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.features.vectorization_contexts import Context
from model.work.regions.region import Loop
from model.work.work import Work
from model.work.work_counts import WorkCounts

LEAST = 2.0**-10  # an amount per work-item below which it makes no difference
_CALLED = {OpKind.SPECIAL, OpKind.NATIVE, OpKind.SQRT, OpKind.DIVIDE}
_FLOATS = ("f32", "f64", "f16")
_WHOLE = ("i32", "i64", "i8")
_FLOAT_KINDS = (
    OpKind.ADD, OpKind.MUL, OpKind.FMA, OpKind.DIVIDE, OpKind.SQRT, OpKind.SPECIAL, OpKind.NATIVE, OpKind.COMPARE,
    OpKind.SIMPLE, OpKind.CONVERT,
)  # fmt: skip
_WHOLE_KINDS = (OpKind.INTEGER, OpKind.INT_MUL, OpKind.INT_DIVIDE, OpKind.CONVERT, OpKind.SIMPLE)
# Functions that drivers write in much the same way, by how their names begin.
_FUNCTIONS = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "pow", "sqrt", "rsqrt", "cbrt",
    "erf", "hypot", "fmod", "dot", "length", "normalize", "cross", "mad_hi", "mul_hi", "rotate", "popcount", "clz",
    "floor", "fmin", "clamp", "select", "mix", "ldexp", "vload_half", "other",
)  # fmt: skip
_WIDTHS = (2, 4, 8, 16)
_IN_CONTEXT = ("float", "whole", "called", "load", "store", "chain", "surprise")

AMOUNTS = (
    *(f"op.{kind}.{element}" for kind in _FLOAT_KINDS for element in _FLOATS),
    *(f"op.{kind}.{element}" for kind in _WHOLE_KINDS for element in _WHOLE),
    "op.branch",
    *(f"call.{name}" for name in _FUNCTIONS),
    *(f"wide.{width}" for width in _WIDTHS),
    *(f"{context}.{what}" for context in Context for what in _IN_CONTEXT),
    "one_by_one.ops",
    "one_by_one.accesses",
    "off.ops",
    "off.accesses",
    "chain",
    "waiting_loads",
    *ACCESS_AMOUNTS,
    "atomics",
    "image.reads",
    "image.writes",
    "loop.entries",
    "loop.rounds",
    "loop.data_rounds",
    "loop.barrier_rounds",
)
_PLACE = {name: place for place, name in enumerate(AMOUNTS)}
_NOTHING = math.log2(LEAST)
SIZES = (
    "items", "groups", "group_items", "local.x", "local.y", "local.z", "global.x", "global.y", "global.z",
    "flops", "requested", "footprint", "group_barriers", "local_bytes", "private_bytes", "loop.longest_trips",
    "active_items", "active_groups", *ACCESS_SIZES,
)  # fmt: skip
PLAIN = ("dimensions", "driver_chooses", "last_group", "undecided", *KERNEL_FACTS)
LAUNCH_FACT_NAMES = (*AMOUNTS, *(f"log.{name}" for name in SIZES), *PLAIN)


def launch_facts(work: Work, counts: WorkCounts, launch: Launch) -> tuple[float, ...]:
    """In the order of LAUNCH_FACT_NAMES; finite."""
    amounts: dict[str, float] = defaultdict(float)
    sizes: dict[str, float] = defaultdict(float)
    _add_operations(counts, amounts)
    _add_contexts(counts, amounts)
    _add_loops(work, counts, amounts, sizes)
    add_accesses(counts, amounts, sizes)
    active = _active(work, counts)
    amounts["one_by_one.ops"] = sum(op.count for op in counts.scalar_ops)
    amounts["one_by_one.accesses"] = counts.scalar_accesses
    amounts["off.ops"] = sum(op.count for part in counts.contexts for op in part.off.ops)
    amounts["off.accesses"] = sum(placed.access.count for part in counts.contexts for placed in part.off.accesses)
    amounts["chain"] = counts.chain_ops
    amounts["waiting_loads"] = sum(access.waiting for access in counts.accesses)
    amounts["atomics"] = counts.atomics
    amounts["image.reads"], amounts["image.writes"] = counts.image_reads, counts.image_writes
    local = (*counts.local_size, 1, 1, 1)[:3]
    whole = (*launch.global_size, 1, 1, 1)[:3]
    groups = max(1, counts.work_groups)
    sizes |= {
        "items": counts.work_items,
        "groups": groups,
        "group_items": math.prod(local),
        "flops": counts.flops,
        "requested": counts.global_load_bytes + counts.global_store_bytes + counts.constant_load_bytes,
        "footprint": counts.global_footprint_bytes,
        "group_barriers": counts.barriers / groups,
        "local_bytes": counts.local_bytes_per_group,
        "private_bytes": counts.private_array_bytes,
        "active_items": active,
        "active_groups": math.ceil(active / max(1, math.prod(local))),
    }
    for name, at_local, at_whole in zip("xyz", local, whole, strict=True):
        sizes[f"local.{name}"], sizes[f"global.{name}"] = at_local, at_whole
    plain = {
        "dimensions": float(len(launch.global_size)),
        "driver_chooses": float(launch.local_size is None),
        "last_group": counts.work_items / (groups * max(1, math.prod(local))),
        "undecided": float(len(counts.undecided_loops)),
        **kernel_facts(work, launch.options),
    }
    items = max(1, counts.work_items)
    logarithms = [_NOTHING] * len(AMOUNTS)  # a launch has few of all the kinds
    for name, amount in amounts.items():
        if (place := _PLACE.get(name)) is not None:
            logarithms[place] = math.log2(min(amount / items, 1e30) + LEAST)
    return (
        *logarithms,
        *(math.log2(min(sizes.get(name, 0.0), 1e30) + 1) for name in SIZES),
        *(plain[name] for name in PLAIN),
    )


def _active(work: Work, counts: WorkCounts) -> float:
    """Work-items that get to any memory access: the others leave at once, and some drivers skip their whole groups."""
    runs = counts.facts.paths.walk.runs
    most, stack = 0.0, [work.root]
    while stack:
        block = stack.pop()
        if block.accesses:
            most = max(most, runs.get(id(block), 0.0))
        for inner in block.inner:
            stack += (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise)
    return min(most, float(counts.work_items))


def _add_operations(counts: WorkCounts, amounts: dict[str, float]) -> None:
    for op in counts.ops:
        if op.function in FENCES:  # no call: what runtimes make of them is priced, and differs
            continue
        if op.kind is OpKind.BRANCH:
            amounts["op.branch"] += op.count
            continue
        amounts[f"op.{op.kind}.{_element(op.element)}"] += op.count
        if op.width > 1:
            amounts[f"wide.{min(w for w in _WIDTHS if w >= min(op.width, 16))}"] += op.count
        if op.function:
            amounts[f"call.{_function(op.function)}"] += op.count / op.width


def _element(element: str) -> str:
    if element[0] == "f":
        return element
    return "i64" if element.endswith("64") else "i32" if element.endswith("32") else "i8"


_NAMED: dict[str, str] = {}


def _function(name: str) -> str:
    found = _NAMED.get(name)
    if found is None:
        bare = name.removeprefix("native_").removeprefix("half_").removeprefix("fast_")
        found = next((one for one in sorted(_FUNCTIONS, key=len, reverse=True) if bare.startswith(one)), "other")
        _NAMED[name] = found if name in BUILTINS else "other"
        found = _NAMED[name]
    return found


def _add_contexts(counts: WorkCounts, amounts: dict[str, float]) -> None:
    for part in counts.contexts:
        name = part.context.value
        for op in part.ops:
            if op.function in FENCES:
                continue
            what = "called" if op.kind in _CALLED else "float" if op.element[0] == "f" else "whole"
            amounts[f"{name}.{what}"] += op.count
        for placed in part.accesses:
            access = placed.access
            if placed.is_call:
                amounts[f"{name}.called"] += access.count
            if access.space is not AddressSpace.PRIVATE:
                amounts[f"{name}.{'store' if access.is_store else 'load'}"] += access.count
        amounts[f"{name}.chain"] += part.chain_ops
        amounts[f"{name}.surprise"] += part.surprises


def _add_loops(work: Work, counts: WorkCounts, amounts: dict[str, float], sizes: dict[str, float]) -> None:
    """How often loops are entered and go round, over the launch."""
    runs = counts.facts.paths.walk.runs
    stack = [work.root]
    while stack:
        block = stack.pop()
        entries = runs.get(id(block), 0.0)
        for inner in block.inner:
            if not isinstance(inner, Loop):
                stack += (inner.then, inner.otherwise)
                continue
            rounds = runs.get(id(inner.body), 0.0)
            amounts["loop.entries"] += entries
            amounts["loop.rounds"] += rounds
            if inner.trips.has("load", "unknown"):
                amounts["loop.data_rounds"] += rounds
            if inner.body.barriers:
                amounts["loop.barrier_rounds"] += rounds
            if entries > 0:
                sizes["loop.longest_trips"] = max(sizes["loop.longest_trips"], rounds / entries)
            stack.append(inner.body)
