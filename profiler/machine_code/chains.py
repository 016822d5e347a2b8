"""How long one round of a loop waits for the round before: its values handed on, however many units a processor has.

The instructions are followed as a data-flow graph: each begins when what it reads is there. Latencies are those of
Intel's server cores since Skylake; source: Abel & Reineke, uops.info, ASPLOS 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.work.counts import OpKind
from profiler.machine_code.instruction import Instruction

_ROUNDS = (2, 4)  # between these, what a round adds is steady
_LOAD = 5.0
_FLOAT = {OpKind.ADD: 4.0, OpKind.MUL: 4.0, OpKind.FMA: 4.0, OpKind.COMPARE: 3.0, OpKind.SIMPLE: 4.0,
          OpKind.NATIVE: 5.0, OpKind.CONVERT: 5.0}  # fmt: skip
_OTHER = {OpKind.INT_MUL: 3.0, OpKind.INT_DIVIDE: 14.0, OpKind.CONVERT: 1.0, "atomic": 20.0, "call": 8.0}
_SHUFFLE, _GATHER, _WIDE_MUL = 2.0, 20.0, 10.0


def cycles_of_chain(instructions: Sequence[Instruction]) -> float:
    """Of one round through `instructions`, in their order, as if all of them ran."""
    written = {register for each in instructions for register in each.writes if register[0] != "["}
    steps = [_step(each, written) for each in instructions]
    ready: dict[str, float] = {}
    ends = [0.0]
    for _ in range(_ROUNDS[1]):
        for reads, writes, latency in steps:
            end = max((ready.get(name, 0.0) for name in reads), default=0.0) + latency
            for name in writes:
                ready[name] = end
        ends.append(max(ready.values(), default=0.0))
    return (ends[_ROUNDS[1]] - ends[_ROUNDS[0]]) / (_ROUNDS[1] - _ROUNDS[0])


def _step(each: Instruction, written: set[str]) -> tuple[list[str], list[str], float]:
    """Memory hands a value on only where its address stays the same."""
    reads = [name for name in each.reads if name[0] != "[" or _is_fixed(name, written)]
    writes = [name for name in each.writes if name[0] != "[" or _is_fixed(name, written)]
    return reads, writes, _latency(each)


def _is_fixed(address: str, written: set[str]) -> bool:
    base, _, rest = address[1:].partition("+")
    return base not in written and rest.partition("*")[0] not in written


def _latency(each: Instruction) -> float:
    own = _own_latency(each)
    return own + _LOAD if each.loads and each.motion != "gather" and each.kind != "atomic" else own


def _own_latency(each: Instruction) -> float:
    is_float = each.element[:1] == "f"
    if each.motion:
        return _GATHER if each.motion == "gather" else _SHUFFLE
    if each.kind in (OpKind.DIVIDE, OpKind.SQRT):
        return (11.0 if each.element == "f32" else 14.0) + (6.0 if each.width_bits > 256 else 0.0)
    if is_float and each.kind in _FLOAT:
        return _FLOAT[OpKind(each.kind)]
    if each.kind == OpKind.INT_MUL and each.lanes > 1:
        return _WIDE_MUL if each.element in ("i32", "i64") else 5.0
    return _OTHER.get(each.kind, 0.0 if each.kind in ("move", "branch") else 1.0)
