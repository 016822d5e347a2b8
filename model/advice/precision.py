"""Advice on functions that are computed more exactly than may be needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from model.advice.advice import Advice, AdviceCode
from model.advice.situation import Situation
from model.opencl.builtins import BUILTINS
from model.work.counts import LineCount, OpCount, OpKind, WorkCounts

# OpenCL C 3.0, section 6.15.2, table 6.11: those of the special functions that have a native form. `native_powr` takes
# no negative base, so it stands for `powr` and not for `pow`.
NATIVE = frozenset({"cos", "exp", "exp2", "exp10", "log", "log2", "log10", "powr", "sin", "tan"})
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "sizeof"})
_CHEAP = ("convert_", "as_", "get_", "vload", "vstore", "read_image", "float")
_RELAXED = frozenset({"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"})
_LEAST_SPEED_UP = 1.5


def precise_function(situation: Situation) -> Iterator[Advice]:
    """`exp` and its like in single precision, where they are a good part of the time and `native_exp` is faster.

    Silent for double and half precision and for functions without a native form, where a line holds others beside
    them (what they cost cannot be told apart), under build options that let the compiler choose, and on devices of
    which nobody knows that their native functions are faster: CPUs that were never calibrated.
    """
    rates = situation.device.rates
    if rates.native_gop_s < _LEAST_SPEED_UP * rates.special_gop_s or _RELAXED & set(situation.launch.options.flags):
        return
    if not situation.is_gpu and not situation.device.calibrated:
        return
    for line in situation.counts.lines:
        count = sum(op.count for op in line.ops if _is_precise(op))
        names = _names(situation.source_line(line.line)) if count and line.line >= 0 else []
        if not names or _has_doubles(line):
            continue
        gain_us = situation.runtime_us - situation.predicted_us(_with_native(situation.counts, count))
        if situation.is_worth(gain_us):
            yield Advice(
                AdviceCode.PRECISE_FUNCTION,
                f"{_list(names)} at full precision {'take' if len(names) > 1 else 'takes'} this device "
                f"{rates.native_gop_s / rates.special_gop_s:.2g} times as long as "
                f"{_list([f'native_{name}' for name in names])}, which will do where a few digits are enough",
                line.line,
                gain_us,
            )


def _is_precise(op: OpCount) -> bool:
    return op.kind is OpKind.SPECIAL and op.element == "f32"


def _has_doubles(line: LineCount) -> bool:
    return any(op.kind is OpKind.SPECIAL and op.element != "f32" for op in line.ops)


def _names(text: str) -> list[str]:
    """The functions on a line, if all that is called there is known and only those with a native form are special."""
    called = [name for name in _CALL.findall(text.partition("//")[0]) if name not in _KEYWORDS]
    precise = []
    for name in dict.fromkeys(called):
        if name in NATIVE:
            precise.append(name)
        elif not _is_cheap(name):
            return []
    return precise


def _is_cheap(name: str) -> bool:
    """Whether a call costs no special function, as far as its name tells; macros and helpers might."""
    if name in BUILTINS:
        return all(kind != OpKind.SPECIAL for kind, _ in BUILTINS[name].costs)
    return name.startswith(_CHEAP)


def _with_native(counts: WorkCounts, number: float) -> WorkCounts:
    """The counts, were so many of the special functions native ones."""
    whole = sum(op.count for op in counts.ops if _is_precise(op))
    share = min(1.0, number / whole)
    ops: list[OpCount] = []
    for op in counts.ops:
        if _is_precise(op):
            ops += [replace(op, count=op.count * (1 - share)), replace(op, kind=OpKind.NATIVE, count=op.count * share)]
        else:
            ops.append(op)
    return replace(counts, ops=tuple(ops))


def _list(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
