"""Advice on functions that are computed more exactly than may be needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from model.advice.advice import Advice, AdviceCode, names_text
from model.advice.situation import Situation
from model.work.counts import OpCount, OpKind
from model.work.work_counts import WorkCounts

# OpenCL C 3.0, section 6.15.2, table 6.11: those of the special functions that have a native form. `native_powr` takes
# no negative base, so it stands for `powr` and not for `pow`.
NATIVE = frozenset({"cos", "exp", "exp2", "exp10", "log", "log2", "log10", "powr", "sin", "tan"})
RELAXED = frozenset({"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"})
_LEAST_SPEED_UP = 1.5


def precise_function(situation: Situation) -> Iterator[Advice]:
    """`exp` and its like in single precision, where they are a good part of the time and `native_exp` is faster.

    Silent for double and half precision and for functions without a native form; under build options that let the
    compiler choose; and on CPUs: they have no instructions for it, and whether a native function is another one at all
    differs from function to function (PoCL's take as long as the others, Intel's partly).
    """
    rates = situation.device.rates
    if (
        not situation.is_gpu
        or rates.native_gop_s < _LEAST_SPEED_UP * rates.special_gop_s
        or RELAXED & set(situation.launch.options.flags)
    ):
        return
    for line in situation.counts.lines:
        precise = [op for op in line.ops if is_precise(op)]
        if not precise:
            continue
        gain_us = situation.runtime_us - situation.predicted_us(_with_native(situation.counts, precise))
        names = list(dict.fromkeys(op.function for op in precise))
        if situation.is_worth(gain_us):
            yield Advice(
                AdviceCode.PRECISE_FUNCTION,
                f"{names_text(names)} at full precision {'take' if len(names) > 1 else 'takes'} this device "
                f"{rates.native_gop_s / rates.special_gop_s:.2g} times as long as "
                f"{names_text([f'native_{name}' for name in names])}, which will do where a few digits are enough",
                line.line if line.line >= 0 else None,
                gain_us,
                resources=("special functions",),
            )


def is_precise(op: OpCount) -> bool:
    """Return whether an operation has a faster native form of less precision."""
    return op.kind is OpKind.SPECIAL and op.element == "f32" and op.function in NATIVE


def _with_native(counts: WorkCounts, precise: list[OpCount]) -> WorkCounts:
    """Return the counts with these functions of one line replaced by native ones."""
    taken: dict[tuple[str, int], float] = defaultdict(float)
    for op in precise:
        taken[op.function, op.width] += op.count
    ops: list[OpCount] = []
    for op in counts.ops:
        count = min(op.count, taken[op.function, op.width]) if is_precise(op) else 0.0
        ops.append(replace(op, count=op.count - count))
        if count:
            ops.append(replace(op, kind=OpKind.NATIVE, function=f"native_{op.function}", count=count))
    return replace(counts, ops=tuple(ops))
