"""What a device's compiler made of a kernel, in the analysis's own terms. Read from its output, nothing was run."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from cattrs import BaseValidationError, Converter

from model.compile_targets import TARGETS
from model.errors import KernelcastError

if TYPE_CHECKING:
    from model.launch.launch import Launch
    from model.opencl.kernel import Kernel

MEMORY_KINDS = ("load", "store", "atomic")
OTHER_KINDS = (*MEMORY_KINDS, "barrier", "call", "move")  # kinds of instructions that are no `OpKind`
# PoCL writes other code where every global size is below this: no index can overflow then.
SMALL_GRID = 65_535
FACTS_VERSION = 3  # one more whenever the readers come to see more, or to see it otherwise
_READABLE = frozenset({2, FACTS_VERSION})  # 2: without regions


class UnreadableFacts(KernelcastError):
    """Stored text that holds no facts of this version; compiling again makes them anew."""

    code = "compiled"


class CodeSource(StrEnum):
    """What was read, the most telling part of it."""

    ASSEMBLY = "assembly"  # a CPU's machine code, disassembled
    PTX = "ptx"  # NVIDIA's intermediate code: registers are counted by its assembler's log only
    AMD_ISA = "amd isa"  # AMD's assembly language
    ZEBIN = "zebin"  # Intel's binary for its GPUs: its notes, and its code where that can be disassembled
    MALIOC = "malioc"  # the report of Arm's Mali Offline Compiler
    BINARY = "binary"  # a GPU's binary, of which the notes were read
    LOG = "driver log"
    QUERIES = "queries"  # nothing but what OpenCL itself answers


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """`count` instructions in the code (however often they run) that each work on `lanes` elements at once.

    `kind` is a `model.work.counts.OpKind`, or one of `OTHER_KINDS`; `element` is `f32`, `i64` ... or '' where
    the instruction does not tell. `space` of loads and stores: `global`, `local`, `private`, or '' where unknown.
    """

    kind: str
    element: str
    lanes: int
    count: int
    space: str = ""


@dataclass(frozen=True, slots=True)
class CompiledCall:
    """A library's function that is called, by OpenCL's name where that can be told; `lanes` elements a call."""

    function: str
    lanes: int
    count: int


@dataclass(frozen=True, slots=True)
class CompiledLoop:
    """A loop in the code; the one over the work-items of a group is one, too.

    `line` counts from 0 and is None where the loop stands nowhere in the source; `lanes` is the widest arithmetic
    in it, `vector_share` the share of its arithmetic instructions that work on several elements.
    """

    line: int | None
    depth: int
    instructions: int
    lanes: int
    vector_share: float


@dataclass(frozen=True, slots=True)
class LoopCode:
    """A loop's own instructions, without those of the loops in it: what one round executes.

    `parent` is the number of the loop around it in `CompiledFacts.profile`, whose first entry is the code outside all
    loops and has none. `leftover`: a wider version stands beside it, in which nearly all work-items run. `trips` are
    its rounds where the code says how many, `chain_cycles` how long a round waits for the values of the one before.

    `mix` has more than a kernel's: spills (loads and stores of the `stack`), constants that are loaded, calls with
    their functions for elements, and the kinds `gather`, `scatter` and `shuffle`.
    """

    parent: int | None
    lanes: int  # of the widest arithmetic or access in it
    leftover: bool
    trips: int | None
    chain_cycles: float
    mix: tuple[InstructionCount, ...]


@dataclass(frozen=True, slots=True)
class CodeRegion:
    """The instructions of one line of the source within one loop of the machine code: what one round of it executes.

    `loop` is a number in `CompiledFacts.profile`. `line` counts from 0 and is None for what the compiler added, and
    for lines of other files. `instructions` counts all of them; `mix` is as that of `LoopCode`, in which an
    instruction that computes with an operand in memory appears as both.
    """

    loop: int
    line: int | None
    instructions: int
    mix: tuple[InstructionCount, ...]


@dataclass(frozen=True, slots=True)
class PipeCycles:
    """Cycles that one pipe of an Arm core takes for a work-item, by the compiler's own estimate; memory never waits.

    Source: Arm, "Mali Offline Compiler User Guide", performance table. None where the compiler cannot tell.
    """

    pipe: str  # `arith_fma`, `arith_cvt`, `arith_sfu`, `load_store`, `texture` ...
    total: float | None  # of all instructions in the code, whichever path is taken
    shortest: float | None
    longest: float | None


@dataclass(frozen=True, slots=True)
class CompiledFacts:
    """Everything that a driver told of one kernel. None where it does not tell.

    Where a compiler keeps several versions of a loop (vectors, what is left over, a guard against overflow), `mix`
    and the shares are those of the widest version, in which nearly all work-items run; `vector_share_...` count
    instructions, not elements. `vector_registers` and `spill_...` are of the whole code of the kernel.
    """

    kernel: str
    kernel_fingerprint: str
    options: str
    local_size: tuple[int, ...] | None
    device_id: str
    device_name: str
    driver: str
    compiled_at: str  # ISO 8601, UTC
    source: CodeSource = CodeSource.QUERIES
    max_work_group_size: int | None = None
    preferred_multiple: int | None = None
    private_mem_bytes: int | None = None
    local_mem_bytes: int | None = None
    required_local_size: tuple[int, ...] | None = None  # reqd_work_group_size, as the driver understood it
    sub_group_size: int | None = None
    registers: int | None = None  # of a work-item, as a GPU's assembler allots them; Intel: of a hardware thread
    scalar_registers: int | None = None  # of a wave, AMD's GPUs; uniform registers, Arm's
    accumulator_registers: int | None = None  # of a work-item, contained in `registers`; CDNA only
    vector_registers: int | None = None  # different ones that a CPU's code names
    spill_bytes: int | None = None
    spill_loads: int | None = None
    spill_stores: int | None = None
    vector_width_bits: int | None = None  # of the widest arithmetic, or access where there is none; 0: not vectorised
    items_side_by_side: int | None = None  # work-items in one vector, in the compiler's own words
    float_vector_share: float | None = None  # None where there is no such arithmetic
    integer_vector_share: float | None = None  # addresses and loop counters among it
    memory_vector_share: float | None = None  # of the loads and stores of buffers
    mix: tuple[InstructionCount, ...] = ()
    calls: tuple[CompiledCall, ...] = ()
    loops: tuple[CompiledLoop, ...] = ()
    profile: tuple[LoopCode, ...] = ()  # of the machine code, loop by loop
    regions: tuple[CodeRegion, ...] = ()  # the same code by loop and line; CPUs only, where the compiler noted lines
    microarchitecture: str | None = None  # of the processor that it was compiled for, a name of `model.throughput`
    code_local_size: tuple[int, ...] | None = None  # that the code is for alone; None where it is for any
    code_bytes: int | None = None
    kernel_lines: tuple[int, int] | None = None  # its first and last, from 0, when it was compiled
    warnings: tuple[str, ...] = ()  # of the compiler, and what could not be read
    pipes: tuple[PipeCycles, ...] = ()  # Arm's GPUs only
    half_arithmetic_percent: float | None = None  # of the arithmetic in 16 bits; Arm's GPUs only
    version: int = FACTS_VERSION

    @property
    def spills(self) -> bool | None:
        """Whether values wait in memory because registers ran out."""
        told = [n for n in (self.spill_bytes, self.spill_loads, self.spill_stores) if n is not None]
        return any(told) if told else None

    @property
    def is_vectorised(self) -> bool | None:
        """Whether the compiler reports vectorised code, else whether at least half of the code works on vectors.

        Half of its arithmetic on floats, else of its loads and stores, else of its integers, addresses among them.
        """
        if self.items_side_by_side is not None:
            return self.items_side_by_side > 1
        shares = (self.float_vector_share, self.memory_vector_share, self.integer_vector_share)
        return next((share >= 0.5 for share in shares if share is not None), None)

    def count(self, kind: str, element: str | None = None) -> int:
        """Instructions of one kind in the code, of all widths."""
        return sum(i.count for i in self.mix if i.kind == kind and element in (None, i.element))


class FactsKey(NamedTuple):
    """What decides a kernel's code on one device and driver."""

    kernel_fingerprint: str
    options: str
    local_size: tuple[int, ...] | None


def key_of(kernel: Kernel, launch: Launch, device_id: str) -> FactsKey:
    """Return the offline compilers write one code for all local sizes; drivers may write one for each."""
    options = shlex.join(launch.options.arguments())
    if "pocl" in device_id and is_small_grid(launch):
        options = f"{options} (global sizes below {SMALL_GRID})".lstrip()
    return FactsKey(kernel.fingerprint, options, launch.local_size if device_id not in TARGETS else None)


def is_small_grid(launch: Launch) -> bool:
    return max(launch.global_size) < SMALL_GRID


def moved_to(facts: CompiledFacts, kernel: Kernel) -> CompiledFacts:
    """Return the facts with the lines of today's text, in which the kernel may be elsewhere or written otherwise."""
    lines = (kernel.range.start_line, kernel.range.end_line)
    if facts.kernel_lines is None or facts.kernel_lines == lines:
        return facts
    first, last = facts.kernel_lines
    moved = lines[0] - first if last - first == lines[1] - lines[0] else None
    loops = tuple(
        replace(loop, line=loop.line + moved if moved is not None and first <= loop.line <= last else None)
        if loop.line is not None
        else loop
        for loop in facts.loops
    )
    regions = tuple(
        replace(each, line=each.line + moved if first <= each.line <= last else None)
        if each.line is not None and moved is not None
        else each
        for each in facts.regions
    )
    return replace(facts, loops=loops, regions=() if moved is None else regions, kernel_lines=lines)


def facts_to_json(facts: CompiledFacts) -> str:
    return json.dumps(_CONVERTER.unstructure(facts))


def facts_from_json(text: str) -> CompiledFacts:
    """Read facts from JSON. Raises UnreadableFacts."""
    advice = "what was kept of a compiled kernel cannot be read; compile it again"
    try:
        facts = _CONVERTER.structure(json.loads(text), CompiledFacts)
    except (ValueError, TypeError, BaseValidationError) as error:
        raise UnreadableFacts(advice) from error
    if facts.version not in _READABLE:
        raise UnreadableFacts(advice)
    return facts


def _count_to_json(each: InstructionCount) -> list[object]:
    """As a list: there are thousands of them in long kernels."""
    return [each.kind, each.element, each.lanes, each.count, each.space]


def _count_from_json(written: object, _: type) -> InstructionCount:
    """Of version 2, too, which wrote names."""
    if isinstance(written, dict):
        return InstructionCount(**written)
    if not isinstance(written, list):
        raise TypeError("an instruction is written as a list")
    return InstructionCount(*written)


_CONVERTER = Converter()
_CONVERTER.register_unstructure_hook(InstructionCount, _count_to_json)
_CONVERTER.register_structure_hook(InstructionCount, _count_from_json)
