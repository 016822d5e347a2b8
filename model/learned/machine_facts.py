"""A launch's time as its machine code tells it: what each loop executes, times how often it runs for a work-item."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from model.learned.launch_facts import LEAST
from model.learned.loop_costs import GROUPS, KINDS, Doubles, LoopTable
from model.learned.loop_rounds import Rounds, rounds_of

_PIVOTS = ("flops", "store", "load", "integer", "rounds")
_KEPT = ("flops", "store", "load", "integer")
CYCLES = ("all", "busy", "issue", "chain", *(f"by.{kind}" for kind in _PIVOTS))
_HOT = ("share", "lanes", "chain", "stack", "cycles", "scalar", "often", "outer")
MACHINE_FACT_NAMES = (
    *(f"cycles.{name}" for name in CYCLES),
    *(f"executed.{group}" for group in GROUPS),
    "gathered",
    *(f"kept.{kind}" for kind in _KEPT),
    *(f"hot.{name}" for name in _HOT),
    "misfit",
    "outside.share",
)
_AT = {kind: at for at, kind in enumerate(KINDS)}
_STACK = [GROUPS.index(name) for name in ("stack.one", "stack.many")]
_SCALAR = slice(0, None, 2)  # of GROUPS
_UNKNOWN = (math.nan,) * len(MACHINE_FACT_NAMES)


def machine_facts(table: LoopTable | None, launch: Sequence[float]) -> tuple[float, ...]:
    """In the order of MACHINE_FACT_NAMES, NaN where the code was not read; `launch` are the launch facts.

    Cycles, instructions and rounds are log2 of those for a work-item. `kept` is what the code does of what the source
    does, `misfit` how far both lie apart, `hot` what is said of the loop that most of the time goes to, and `cycles.by`
    how long the launch takes if all the source does goes through the loop that does most of it.
    """
    if table is None:
        return _UNKNOWN
    found = rounds_of(table, launch)
    often = found.often
    slowest = np.maximum(table.busy, table.chain)
    times = often * slowest
    whole = max(float(times.sum()), 2.0**-12)
    cycles = (whole, *(float(often @ each) for each in (table.busy, table.issue, table.chain)))
    return (
        *(_log(each) for each in (*cycles, *(_by(kind, table, found, slowest, whole) for kind in _PIVOTS))),
        *np.log2(often @ table.groups + LEAST).tolist(),
        _log(float(often @ table.gathered)),
        *(_kept(found, _AT[kind]) for kind in _KEPT),
        *_hot(table, often, slowest, times / whole),
        _misfit(found),
        float(times[0]) / whole,
    )


def _by(kind: str, table: LoopTable, found: Rounds, slowest: Doubles, whole: float) -> float:
    column = table.elements[:, _AT[kind]]
    most = int((column * ~table.leftover * (1 + np.array(table.depth))).argmax())
    wanted = float(found.wanted[_AT[kind]])
    has_any = column[most] > 0 and not table.leftover[most] and wanted > LEAST
    return wanted * float(slowest[most] / column[most]) if has_any else whole


def _kept(found: Rounds, at: int) -> float:
    wanted = float(found.wanted[at])
    return _log(float(found.done[at]) / wanted) if wanted > LEAST else 0.0


def _hot(table: LoopTable, often: Doubles, slowest: Doubles, shares: Doubles) -> tuple[float, ...]:
    hot = outer = int(shares.argmax())
    while table.depth[outer] > 1:
        outer = table.parent[outer]
    instructions = table.groups[hot]
    count = max(float(instructions.sum()), 1.0)
    return (
        float(shares[hot]),
        float(table.lanes[hot]),
        float(table.chain[hot] / max(slowest[hot], 1e-3)),
        float(instructions[_STACK].sum()) / count,
        _log(float(slowest[hot])),
        float(instructions[_SCALAR].sum()) / count,
        _log(float(often[hot])),
        _log(float(often[outer])),
    )


def _misfit(found: Rounds) -> float:
    """Mean of the octaves between what is wanted and done; frequent operations count more."""
    weight = np.where((found.wanted > LEAST) & (found.done > 0), np.sqrt(np.maximum(found.wanted, 0)), 0.0)
    off = np.abs(np.log2(np.maximum(found.done, 1e-9) / np.maximum(found.wanted, 1e-9)))
    return float(weight @ off) / max(float(weight.sum()), 1e-9)


def _log(amount: float) -> float:
    return math.log2(max(amount, 0.0) + LEAST)
