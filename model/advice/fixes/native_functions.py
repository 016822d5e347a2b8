"""Cheaper arithmetic at the price of precision: `native_` functions, or the compiler's freedom to reorder and guess."""

from __future__ import annotations

from collections.abc import Iterator

from model.advice.advice import AdviceCode
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.launch_edits import LaunchChange, launch_edits
from model.advice.precision import NATIVE, RELAXED, is_precise

RELAXED_MATH = "-cl-fast-relaxed-math"
_ROOTS = frozenset({"sqrt", "rsqrt"})


def native_functions(setting: Setting) -> Iterator[Fix]:
    """`exp` and its like in single precision as `native_exp`: their precision is the device's own.

    OpenCL C 3.0, section 6.15.2, table 6.11. Silent on lines that compute in another precision as well, for functions
    that the program defines, under build options that let the compiler choose, and on CPUs (see `precise_function`).
    """
    source = setting.source
    if not setting.is_gpu or RELAXED & set(setting.launch.options.flags):
        return
    single = _lines(setting, is_single=True)
    others = _lines(setting, is_single=False)
    edits, names = [], []
    for name, call in source.calls():
        line = source.raw.count("\n", 0, call.start_byte)
        if name not in NATIVE | _ROOTS or source.program.overloads(name):
            continue
        if name in single.get(line, ()) and name not in others.get(line, ()):
            edits.append(TextEdit(call.start_byte, call.start_byte, "native_"))
            names.append(name)
    if edits:
        told = ", ".join(f"`native_{name}`" for name in dict.fromkeys(names))
        yield Fix(AdviceCode.PRECISE_FUNCTION, f"Use {told}", tuple(edits), is_exact=False)


def _lines(setting: Setting, *, is_single: bool) -> dict[int, set[str]]:
    """Return the functions of each line that are computed in single precision, or in another one."""
    found: dict[int, set[str]] = {}
    for line in setting.prediction.work.lines:
        for op in line.ops:
            has_native = op.function in NATIVE | _ROOTS
            if (
                has_native
                and (op.element == "f32") is is_single
                and (is_precise(op) or not is_single or op.function in _ROOTS)
            ):
                found.setdefault(line.line, set()).add(op.function)
    return found


def relaxed_math(setting: Setting) -> Iterator[Fix]:
    """Let the compiler reorder sums, contract products and assume finite numbers in all of the kernel's arithmetic."""
    flags = set(setting.launch.options.flags)
    computes = any(op.element.startswith("f") for op in setting.prediction.work.ops)
    if RELAXED & flags or not computes:
        return
    edits = launch_edits(setting, LaunchChange(flag=RELAXED_MATH))
    if edits is not None:
        yield Fix(
            AdviceCode.RELAXED_MATH,
            f"Build with {RELAXED_MATH}",
            edits,
            promise=f"the host builds the program with {RELAXED_MATH}, and its results need no NaN and no infinity",
            is_exact=False,
        )
