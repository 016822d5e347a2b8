"""How often each loop of a kernel's machine code goes round for a work-item. Nothing is run.

Some loops say it themselves, with a counter between constants. A compiler's own loops over the work-items of a group
stand outermost, as many as the group has dimensions. For the others a guess is scaled until the code as a whole does
what the source was counted to do: so many operations, loads and stores a work-item.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from model.learned.launch_facts import LAUNCH_FACT_NAMES, LEAST
from model.learned.loop_costs import KINDS, Doubles, LoopTable

_WEIGHT = {"flops": 1.0, "divide": 2.0, "call": 2.0, "store": 1.5, "load": 0.5, "atomic": 2.0, "int_divide": 1.0,
           "int_mul": 0.2, "simple": 0.3, "integer": 0.1, "rounds": 0.1}  # fmt: skip
_WEIGHTS = np.array([_WEIGHT[kind] for kind in KINDS])
_STEPS = 10
_LEFTOVER = 0.05  # of what a loop's wider version does, where nothing better is known
_MOST_OFF = 3.0  # by which a guess of loops over work-items is scaled, as a logarithm
_SURE, _UNSURE, _OPEN = 6.0, 0.3, 0.05  # how much holds a loop at its guess
_CALL = KINDS.index("call")
_AT = {name: at for at, name in enumerate(LAUNCH_FACT_NAMES)}
_ITEMS, _ACTIVE, _ROUNDS, _BARRIER_ROUNDS, _DIMENSIONS = (
    _AT[name] for name in ("log.items", "log.active_items", "loop.rounds", "loop.barrier_rounds", "dimensions")
)
_LOCAL = [_AT[f"log.local.{axis}"] for axis in "xyz"]
_SOURCE = {
    "flops": ("op.add.", "op.mul.f"),
    "fma": ("op.fma.",),
    "divide": ("op.divide.", "op.sqrt."),
    "call": ("op.special.", "op.native.", "image.reads", "image.writes"),
    "atomic": ("atomics",),
    "int_divide": ("op.int_divide.",),
    "int_mul": ("op.int_mul.",),
    "simple": ("op.compare.", "op.simple.f"),
    "integer": ("op.integer.", "op.simple.i"),
    "load.bytes": ("global.load.bytes",),
    "store.bytes": ("global.store.bytes",),
    "load.local": ("local.load.", "constant.load."),
    "store.local": ("local.store.",),
    "load.private": ("private.load.",),
    "store.private": ("private.store.",),
    "load.same": ("global.load.broadcast",),
    "load.all": tuple(f"global.load.{pattern}" for pattern in ("broadcast", "unit", "strided", "gathered")),
    "rounds": ("loop.rounds",),
}
_PICKED = np.array([[name.startswith(prefixes) for name in LAUNCH_FACT_NAMES] for prefixes in _SOURCE.values()], float)
_USED = np.flatnonzero(_PICKED.any(axis=0))
_PICKED = _PICKED[:, _USED]


class Wanted(NamedTuple):
    """Elements of each of KINDS that a work-item needs, and the least and the most that the code may make of them.

    Compilers merge and hoist, keep arrays in memory or in registers, and write functions out.
    """

    counted: Doubles
    least: Doubles
    most: Doubles


class Rounds(NamedTuple):
    """`often` [loops]: rounds for a work-item; `done` [KINDS]: what the code does then, of what is `wanted`."""

    often: Doubles
    done: Doubles
    wanted: Doubles


class _Shape(NamedTuple):
    """Of a launch: what decides how often loops run."""

    rounds: float  # of the source's loops, for a work-item
    group_items: float
    local_x: float
    active: float  # share of the work-items that do anything
    of_depth: tuple[float, ...]  # rounds of each loop over work-items for one of them, the outermost first
    certainty: float  # that these loops are where they are taken to be


def rounds_of(table: LoopTable, launch: Sequence[float]) -> Rounds:
    """`launch` are the launch facts."""
    wanted = _wanted(table, launch)
    shape = _shape(table, launch)
    is_item, trips = _guess(table, shape)
    is_known = table.trips > 0
    trips[is_known] = np.log(table.trips[is_known])
    free = ~is_known
    free[0] = False
    often = np.exp(table.around @ trips)
    if free.any():
        often = _fitted(table, wanted, shape, trips, free, is_item)
    return Rounds(often, often @ table.elements, wanted.counted)


def _wanted(table: LoopTable, launch: Sequence[float]) -> Wanted:
    amounts = np.maximum(np.exp2(np.asarray(launch, np.float64)[_USED]) - LEAST, 0.0)
    has = dict(zip(_SOURCE, (_PICKED @ amounts).tolist(), strict=True))
    has_calls = bool(table.elements[:, _CALL].any())
    share_same = has["load.same"] / has["load.all"] if has["load.all"] > 0 else 0.0
    flops = has["flops"] + 2 * has["fma"]
    loads, stores = has["load.bytes"] / 4 + has["load.local"], has["store.bytes"] / 4 + has["store.local"]
    ranges = {
        "flops": (0.7 * flops, flops, 1.2 * flops + 25 * has["call"]),
        "divide": (0.5 * has["divide"], has["divide"], has["divide"] + 3 * has["call"]),
        "call": (0.8 * has["call"], has["call"], 1.2 * has["call"]) if has_calls else (0.0, 0.0, 1.0),
        "store": (0.7 * stores, stores, stores + has["store.private"] + 0.5),
        "load": (0.5 * loads * (1 - 0.9 * share_same), loads, 1.2 * loads + has["load.private"] + 0.5),
        "int_mul": (0.2 * has["int_mul"], has["int_mul"], 2 * has["int_mul"] + 2),
        "simple": (0.5 * has["simple"], has["simple"], 2 * has["simple"] + 4 * has["call"] + 1),
        "integer": (0.3 * has["integer"], has["integer"], 4 * (has["integer"] + loads + stores + 5)),
        "rounds": (0.1 * has["rounds"], has["rounds"], 1.2 * has["rounds"] + 1),
    }
    rows = [ranges.get(kind) or (0.8 * has[kind], has[kind], 1.2 * has[kind]) for kind in KINDS]
    return Wanted(*np.array(rows).T)


def _shape(table: LoopTable, launch: Sequence[float]) -> _Shape:
    sizes = table.local_size or tuple(max(1.0, 2.0 ** float(launch[at]) - 1) for at in _LOCAL)
    # Intel's loops go over all dimensions, PoCL's over those that have more than one work-item.
    looped = sizes[: int(launch[_DIMENSIONS])] if table.items else [size for size in sizes if size > 1]
    return _Shape(
        rounds=max(0.0, 2.0 ** float(launch[_ROUNDS]) - LEAST),
        group_items=float(math.prod(sizes)),
        local_x=float(looped[0]) if looped else 1.0,
        active=2.0 ** min(0.0, float(launch[_ACTIVE] - launch[_ITEMS])),
        of_depth=tuple(1 / math.prod(looped[: len(looped) - depth]) for depth in range(1, len(looped) + 1)),
        certainty=_UNSURE if 2.0 ** launch[_BARRIER_ROUNDS] > 2 * LEAST else _SURE,
    )


def _guess(table: LoopTable, shape: _Shape) -> tuple[npt.NDArray[np.bool_], Doubles]:
    """Return which loops go over work-items, and log of how often each loop goes round where it is entered."""
    nest = len(shape.of_depth)
    count = len(table.depth)
    often = np.full(count, 1 / shape.group_items)
    trips = np.full(count, math.log(often[0]))
    is_item = np.array([0 < depth <= nest for depth in table.depth])
    inner = max(1.0, shape.rounds) ** (1 / max(1, max(table.depth) - nest))
    for number in range(1, count):
        depth, outer = table.depth[number], table.parent[number]
        often[number] = shape.of_depth[depth - 1] if is_item[number] else often[outer] * inner
        if depth == nest:
            often[number] *= _share_of_items(table, shape, number)
        if table.leftover[number] and not (depth == nest and table.items):
            often[number] *= _LEFTOVER
        if depth == 1:
            often[number] *= shape.active
        trips[number] = math.log(max(often[number], 1e-9) / max(often[outer], 1e-9))
    return is_item, trips


def _share_of_items(table: LoopTable, shape: _Shape, number: int) -> float:
    """Return the rounds of the innermost loop over work-items for each: vector code, or one by one for what is left."""
    if table.items:  # the compiler said how wide
        whole = math.floor(shape.local_x / table.items) * table.items / shape.local_x
        return max(1 - whole, 0.002) if table.leftover[number] else max(whole, _LEFTOVER) / table.items
    return 1 / float(table.own_lanes[number]) if table.is_leaf[number] else 1.0


def _fitted(
    table: LoopTable, wanted: Wanted, shape: _Shape, trips: Doubles, free: npt.NDArray[np.bool_],
    is_item: npt.NDArray[np.bool_],
) -> Doubles:  # fmt: skip
    """Scale each loop, with all that is in it, by what the code does too little or too much of.

    Only as far as it is this loop that does it.
    """
    most = math.log(4 * (shape.rounds + 2))
    lowest = np.where(is_item | table.leftover, trips - _MOST_OFF, -0.7)
    highest = np.where(table.leftover, trips + 0.7, np.where(is_item, trips + _MOST_OFF, most))
    held = np.where(is_item, shape.certainty, _OPEN)
    paths = 1.0 + table.around @ free
    matter = np.where(wanted.counted > LEAST, _WEIGHTS, 0.0)
    low, high = np.log(np.maximum(wanted.least, 1e-4)), np.log(np.maximum(wanted.most, 1e-3))
    inside = np.ascontiguousarray(table.around.T)
    often = np.exp(table.around @ trips)
    for _ in range(_STEPS):
        done = often @ table.elements
        now = np.log(np.maximum(done, 1e-6))
        off = np.minimum(np.maximum(now, low), high) - now
        parts = inside @ (often[:, None] * table.elements) * (matter / np.maximum(done, 1e-9))
        step = (parts @ off) / ((parts.sum(axis=1) + held) * paths)
        trips = np.where(free, np.minimum(np.maximum(trips + step, lowest), highest), trips)
        often = np.exp(table.around @ trips)
    return often
