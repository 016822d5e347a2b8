"""Kernel -> `Work`: symbolic execution of the source, once per meaning."""

from __future__ import annotations

from model.errors import AnalysisError
from model.opencl.kernel import Kernel, Parameter
from model.opencl.program import Program
from model.opencl.types import (
    AddressSpace,
    ImageType,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.work.control_flow.statements import STATEMENTS, block_value
from model.work.execution.builder import needed
from model.work.execution.calls import call
from model.work.execution.dispatch import run_statement
from model.work.execution.expressions import EXPRESSIONS
from model.work.execution.findings import assume, note_unreadable
from model.work.execution.registers import Pressure
from model.work.execution.state import ExecutionState
from model.work.execution.straight_chains import mark_straight_chains
from model.work.execution.tables import numbers_of
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import MAX_NUMBERS, Aggregate, Memory, Other, Pointer, Scalar, Value, Vector
from model.work.execution.variables import declare, fresh_value
from model.work.expressions.symbolic import ZERO, new_analysis, symbol
from model.work.regions.enclosing_scopes import accesses_in, uniform_atoms
from model.work.regions.region import Block
from model.work.work import Work

ANALYSIS_VERSION = 7  # one more whenever a kernel and its launch come to be counted otherwise


_EXPRESSIONS = {**EXPRESSIONS, "call_expression": call, "compound_statement": block_value}


def _work(state: ExecutionState) -> Work:
    """Run one kernel, from its parameters to the end of its body."""
    kernel = state.kernel
    function = state.program.functions[kernel.name]
    for parameter in kernel.parameters:
        declare(state, parameter.name, parameter.type, _argument(state, parameter))
        if isinstance(parameter.type, OpaqueType) and parameter.type.is_unknown:
            text = f"the type `{parameter.type.name}` of `{parameter.name}` is not declared"
            assume(state, parameter.name, f"{text}: treated as an image or opaque value", 1.3)
    if kernel.has_errors:
        note_unreadable(state, UnknownKind.SYNTAX, kernel.name)
        assume(state, "source", "the kernel has syntax errors: what could not be read is not counted", 1.5)
    run_statement(state, function.body)
    mark_straight_chains(state.root)
    root = state.root.freeze(needed(state.root, state.rests))
    if not (state.root.leaves_traces() or state.findings.unknowns or state.findings.assumptions):
        root = Block((), (), (), ())  # compilers leave nothing of it
    memory, findings = state.memory, state.findings
    tables = {name: numbers for name, table in memory.tables.items() if (numbers := numbers_of(table)) is not None}
    return Work(
        kernel, root, dict(findings.parameters), tuple(findings.free_names.items()),
        tuple(findings.assumptions.values()), tuple(memory.local_bytes.items()), sum(memory.private_bytes.values()),
        tuple(sorted(findings.unknowns)), tables, frozenset(state.control.unrolled), _pressure(state, root),
        state.steps, uniform_atoms(accesses_in(root), state.rests), findings.asks_for_global_ids,
    )  # fmt: skip


def _pressure(state: ExecutionState, root: Block) -> Pressure:
    accesses = list(accesses_in(root))
    moving = (a for a in accesses if a.space is AddressSpace.PRIVATE)
    in_memory = frozenset(a.buffer for a in moving if a.offset is None or a.offset.constant is None)
    buffers = len({a.buffer for a in accesses if a.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC)})
    return state.lifetimes.pressure(state.variables.types, in_memory, buffers)


def _argument(state: ExecutionState, parameter: Parameter) -> Value:
    name, kind = parameter.name, parameter.type
    match kind:
        case PointerType():
            memory = Memory(name, kind.space, kind.pointee, may_alias=not kind.is_restrict)
            state.memory.objects[name] = memory
            return Pointer(memory, ZERO, kind)
        case StructType():
            return _members(name, kind)
        case ScalarType():
            return Scalar(symbol(f"arg.{name}"), kind)
        case VectorType():
            return Vector(tuple(symbol(f"arg.{name}.s{i:x}") for i in range(kind.width)), kind)
        case ImageType() | OpaqueType():
            return Other(name, kind)
        case _:
            return fresh_value(state, kind, f"`{name}`", name)


def _members(path: str, kind: StructType) -> Aggregate:
    """Return a struct by value: its members are launch scalars named `p.member`."""

    def member(name: str, of: Type) -> Value | None:
        match of:
            case ScalarType():
                return Scalar(symbol(f"arg.{path}.{name}"), of)
            case VectorType():
                return Vector(tuple(symbol(f"arg.{path}.{name}.s{i:x}") for i in range(of.width)), of)
            case StructType():
                return _members(f"{path}.{name}", of)
            case _:
                return None

    if kind.numbers > MAX_NUMBERS:
        return Aggregate((), kind)
    known = ((name, member(name, of)) for name, of in kind.members)
    return Aggregate(tuple((n, v) for n, v in known if v is not None), kind)


def analyse(program: Program, kernel: Kernel) -> Work:
    """Return the symbolic work of `kernel`.

    Raises AnalysisError for what OpenCL C does not allow (recursion) and for kernels too large to analyse.
    """
    if kernel.name not in program.functions:
        raise AnalysisError(f"`{kernel.name}` could not be read", line=kernel.name_range.start_line + 1)
    new_analysis()
    try:
        return _work(ExecutionState(program, kernel, _EXPRESSIONS, STATEMENTS))
    except RecursionError:
        raise AnalysisError(
            f"`{kernel.name}` nests statements or expressions too deeply to be analysed",
            line=kernel.name_range.start_line + 1,
        ) from None
