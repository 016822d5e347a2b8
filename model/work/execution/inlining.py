"""Helper functions: inlined with their arguments, or repeated where a kernel calls them over and over."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from model.errors import AnalysisError
from model.opencl.builtin_types import VOID
from model.opencl.item_parser import Function
from model.opencl.types import AddressSpace, PointerType, ScalarType, VectorType
from model.work.execution.builder import PendingLoop
from model.work.execution.call_summaries import FREE_STEPS, CallSummary, extent
from model.work.execution.costs import forget_available
from model.work.execution.dispatch import run_statement
from model.work.execution.findings import assume, note_unreadable, unknown_number
from model.work.execution.operators import convert
from model.work.execution.selection import conjunction, either_value
from model.work.execution.state import ExecutionState
from model.work.execution.stores import forget_shared, forget_variable, note_store
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import Aggregate, Other, Pointer, Scalar, Value, Vector, numbers_in
from model.work.execution.variables import declare, fresh_value, value_held
from model.work.execution.writes import Spot
from model.work.expressions.symbolic import Atom, Expression, number

MAX_CALL_DEPTH = 32
REPLAY_SPREAD = 1.2


def inline(state: ExecutionState, helper: Function, arguments: list[Value], node: Node) -> Value:
    """Return the call of `helper` at `node`."""
    if helper in state.calls.functions:
        raise AnalysisError(f"`{helper.name}` calls itself: OpenCL C has no recursion", line=state.line + 1)
    if len(state.calls.functions) >= MAX_CALL_DEPTH:
        raise AnalysisError(f"calls are nested more than {MAX_CALL_DEPTH} deep", line=state.line + 1)
    known = state.calls.read.get(helper)
    if known is not None and state.steps > FREE_STEPS and _stands_for_others(state, known):
        return _replayed(state, helper, known, arguments)
    block, start, written, repeats = state.block, extent(state.block), state.memory.writes.mark(), state.calls.repeats
    state.calls.repeats = {}
    result = _inlined(state, helper, arguments, node)
    state.calls.repeats = repeats
    if known is None or not state.counting_disabled:
        forgets = any(write.spot is None for write in state.memory.writes.since(written))
        outputs = (*numbers_in(result), *(n for v in _reached(state, helper, arguments) for n in numbers_in(v)))
        added_to = None if state.counting_disabled else block
        read = CallSummary(tuple(state.control.frames), added_to, start, extent(block), result, outputs, forgets)
        if known is None or read.holds_more_widely(known, state.control.frames):
            state.calls.read[helper] = read
    return result


def _inlined(state: ExecutionState, helper: Function, arguments: list[Value], node: Node) -> Value:
    outer = (state.reader, state.variables.scopes, state.block, state.control.returned, state.line)
    call_path = state.calls.path
    state.calls.path = (*call_path, (state.calls.functions[-1].name, node.start_byte))
    path, exits, found, entered = (
        len(state.control.path),
        len(state.control.exits),
        len(state.computed.found),
        state.clock,
    )
    state.reader, state.variables.scopes, state.control.returned = state.program.reader(helper, state.names), [{}], []
    state.calls.functions.append(helper)
    if helper.has_errors:
        note_unreadable(state, UnknownKind.SYNTAX, helper.name)
    for declared, value in zip(helper.parameters, arguments, strict=False):
        fits = isinstance(declared.type, ScalarType | VectorType) and isinstance(value, Scalar | Vector)
        declare(state, declared.name, declared.type, convert(state, value, declared.type) if fits else value)
        if isinstance(value, Pointer) and isinstance(declared.type, PointerType):
            kind = PointerType(declared.type.pointee, value.type.space)
            state.variables.values[state.variables.scopes[-1][declared.name]] = Pointer(
                value.memory, value.offset, kind
            )
    run_statement(state, helper.body)
    returned = state.control.returned
    state.calls.functions.pop()
    state.calls.path = call_path
    state.reader, state.variables.scopes, state.block, state.control.returned, state.line = outer
    del state.control.path[path:], state.control.exits[exits:]
    # Branches compare all variables there are: those of a call that is over would make every later one slower.
    state.variables.values = {key: value for key, value in state.variables.values.items() if key <= entered}
    forget_available(state, found, state.block.level)
    if not returned or helper.return_type == VOID:
        return Other("", VOID)
    of = helper.return_type
    values = [
        (where[path:], convert(state, v, of) if isinstance(of, ScalarType | VectorType) else v) for where, v in returned
    ]
    result = values[-1][1]
    for where, value in reversed(values[:-1]):
        if value != result:
            result = either_value(state, conjunction(where), value, result)
    return result


def _stands_for_others(state: ExecutionState, known: CallSummary) -> bool:
    return bool(state.counting_disabled) or (known.block is not None and known.holds_in(state.control.frames))


def _replayed(state: ExecutionState, helper: Function, known: CallSummary, arguments: list[Value]) -> Value:
    """Once more the work of a call that was read; what it gives is a new value that rests on the arguments."""
    if not state.counting_disabled:
        _repeat(state, known)
        text = f"`{helper.name}` is called so often that one of its calls stands for the later ones"
        assume(state, helper.name, text, REPLAY_SPREAD)
    given = (*arguments, *_reached(state, helper, arguments))
    rests = (*(n for v in given for n in numbers_in(v)), *known.outputs)
    _forget_reached(state, helper, arguments, rests)
    if known.forgets_shared:
        forget_shared(state)
    if helper.return_type == VOID:
        return Other("", VOID)
    result = known.result
    if isinstance(result, Pointer):
        return Pointer(result.memory, unknown_number(state, f"`{helper.name}`", *rests), result.type)
    return fresh_value(state, result.type, f"`{helper.name}`", rests=rests)


def _repeat(state: ExecutionState, known: CallSummary) -> None:
    """Equal calls in one block are one loop around what the first of them did."""
    repeat = state.calls.repeats.get((state.block, known))
    if repeat is not None:
        repeat.trips = repeat.trips + number(1)
        return
    body = known.shared()
    state.steps += body.items
    counter = Atom.new("symbol", (f"loop.{state.tick()}",))
    repeat = state.calls.repeats[state.block, known] = PendingLoop(number(1), counter, body, state.line)
    state.block.inner.append(repeat)


def _forget_reached(
    state: ExecutionState, helper: Function, arguments: list[Value], rests: tuple[Expression, ...]
) -> None:
    """Forget what the pointers given to a call reach: it may be anything after a call that was not read."""
    for pointer in _writable(helper, arguments):
        memory = pointer.memory
        if memory is None:
            if pointer.type.space is not AddressSpace.PRIVATE:
                forget_shared(state)
        elif memory.variable is not None:
            forget_variable(state, memory.variable, rests)
        else:
            note_store(state, Spot(memory, None, 1, "i8"))


def _reached(state: ExecutionState, helper: Function, arguments: list[Value]) -> list[Value]:
    """Return the private variables that a call may have changed."""
    memories = [p.memory for p in _writable(helper, arguments) if p.memory is not None]
    return [value_held(state, m.variable) for m in memories if m.variable is not None]


def _writable(helper: Function, arguments: Sequence[Value]) -> list[Pointer]:
    """Return the pointers that a helper is given and may write through."""
    kinds = [parameter.type for parameter in helper.parameters]
    found: list[Pointer] = []
    for index, value in enumerate(arguments):
        kind = kinds[index] if index < len(kinds) else None
        if isinstance(value, Pointer) and not (isinstance(kind, PointerType) and kind.is_const):
            found.append(value)
        elif isinstance(value, Aggregate):
            found += [member for _, member in value.members if isinstance(member, Pointer)]
    return found
