"""Compiled facts of a kernel, in words for hovers and terminals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model.compiled import CodeSource
from model.compiled_occupancy import Limiter, Occupancy
from server.text.format import format_bytes, format_percent

if TYPE_CHECKING:
    from model.compiled import CompiledFacts, CompiledLoop, InstructionCount, LoopCode, PipeCycles
    from model.work.work_counts import WorkCounts

_FLOATS = {"f16": "halves", "f32": "floats", "f64": "doubles"}
_MOST_CALLS = 3
_GPU_SOURCES = (CodeSource.PTX, CodeSource.BINARY, CodeSource.AMD_ISA, CodeSource.ZEBIN, CodeSource.MALIOC)


def in_short(facts: CompiledFacts, occupancy: Occupancy | None = None) -> str:
    """`vectors of 256 bits, 7 vector registers, no spills`; empty where nothing telling is known.

    With the occupancy of a GPU: `40 registers, occupancy 62 % (registers), no spills`.
    """
    said = [
        _vectors(facts),
        _registers(facts),
        occupancy_words(occupancy),
        _spills(facts),
        _private(facts),
        _calls(facts),
    ]
    return ", ".join(each for each in said if each)


def _vectors(facts: CompiledFacts) -> str:
    if facts.vector_width_bits is None:
        return ""
    if not facts.vector_width_bits:
        return "not vectorised"
    share = facts.float_vector_share
    part = f" ({format_percent(100 * share)} of the arithmetic)" if share is not None and share < 0.995 else ""
    return f"{facts.vector_width_bits}-bit vectors{part}"


def _registers(facts: CompiledFacts) -> str:
    if facts.registers is not None:
        return f"{facts.registers} registers"
    if facts.vector_registers:
        return f"{facts.vector_registers} vector register{'s' if facts.vector_registers > 1 else ''}"
    return ""


def occupancy_words(occupancy: Occupancy | None) -> str:
    """`occupancy 62 % (registers)`; empty for None."""
    if occupancy is None:
        return ""
    if occupancy.groups == 0:
        return f"no work-group fits ({occupancy.limiter})"
    reason = "" if occupancy.limiter is Limiter.NOTHING else f" ({occupancy.limiter})"
    return f"occupancy {format_percent(occupancy.percent)}{reason}"


def _spills(facts: CompiledFacts) -> str:
    if not facts.spills:
        return "" if facts.spills is None else "no spills"
    return f"spills of {format_bytes(facts.spill_bytes)}" if facts.spill_bytes else "spills"


def _private(facts: CompiledFacts) -> str:
    """Return private memory in words; nothing for CPUs, where PoCL answers the same for all kernels."""
    if facts.source not in _GPU_SOURCES or not facts.private_mem_bytes:
        return ""
    return f"{format_bytes(facts.private_mem_bytes)} private memory"


def _calls(facts: CompiledFacts) -> str:
    names = [f"{call.function}{f' of {call.lanes}' if call.lanes > 1 else ''}" for call in facts.calls]
    if not names:
        return ""
    more = " ..." if len(names) > _MOST_CALLS else ""
    return f"calls {', '.join(names[:_MOST_CALLS])}{more}"


def pipe_words(pipes: tuple[PipeCycles, ...]) -> str:
    """`arith_fma 0.25, load_store 2 cycles on the longest path`; the whole code's where the path is not known."""
    is_known = any(each.longest is not None for each in pipes)
    counts = ((each.pipe, each.longest if is_known else each.total) for each in pipes)
    listed = ", ".join(f"{pipe} {cycles:g}" for pipe, cycles in counts if cycles is not None)
    return f"{listed} cycles {'on the longest path' if is_known else 'for all instructions in the code'}"


def loop_mix_words(loop: CompiledLoop, code: LoopCode) -> str:
    """`loop at line 12: 14 instructions a round: 4 fma, 3 integer, 2 load (local)`."""
    place = f"loop at line {loop.line + 1}" if loop.line is not None else "loop"
    counts: dict[str, int] = {}
    for each in code.mix:
        name = f"{each.kind} ({each.space})" if each.space else each.kind
        counts[name] = counts.get(name, 0) + each.count
    listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
    return f"{place}, a round: {listed}"


def loop_words(loop: CompiledLoop) -> str:
    """`loop at line 12: vectors of 8`. Where no line is known it may be the one over a group's work-items."""
    place = f"loop at line {loop.line + 1}" if loop.line is not None else "loop"
    if loop.lanes <= 1:
        return f"{place}: not vectorised"
    part = f", {format_percent(100 * loop.vector_share)} of its arithmetic" if loop.vector_share < 0.995 else ""
    return f"{place}: vectors of {loop.lanes}{part}"


def instruction_words(counts: tuple[InstructionCount, ...]) -> str:
    """`8 of 8 floats, 4`: how many instructions, and on how many elements each."""
    ordered = sorted(counts, key=lambda each: (-each.lanes, -each.count))
    merged: dict[str, int] = {}
    for each in ordered:
        merged[_on(each)] = merged.get(_on(each), 0) + each.count
    return ", ".join(f"{count}{on}" for on, count in merged.items())


def _on(each: InstructionCount) -> str:
    if each.lanes <= 1:
        return ""
    return f" of {each.lanes} {_FLOATS.get(each.element, 'integers' if each.element.startswith('i') else 'elements')}"


def counted_by_the_analysis(work: WorkCounts) -> Mapping[str, float]:
    """Return what a work-item executes on average, by the kinds of `InstructionCount`."""
    found: dict[str, float] = {}
    for op in work.ops:
        found[op.kind] = found.get(op.kind, 0.0) + op.count
    for access in work.accesses:
        kind = "atomic" if access.is_atomic else "store" if access.is_store else "load"
        found[kind] = found.get(kind, 0.0) + access.count
    if work.barriers:
        found["barrier"] = work.barriers * work.work_items / max(1, work.work_groups)
    return {kind: count / max(1, work.work_items) for kind, count in found.items()}
