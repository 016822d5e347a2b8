"""Variables in scope, and values of which nothing is known yet."""

from __future__ import annotations

from model.opencl.builtin_types import INT
from model.opencl.types import ArrayType, PointerType, ScalarType, StructType, Type, VectorType
from model.work.execution.findings import note_unreadable, unknown_number
from model.work.execution.state import ExecutionState
from model.work.execution.unknowns import UnknownKind, undeclared_types
from model.work.execution.values import MAX_NUMBERS, Aggregate, Other, Pointer, Scalar, Value, Vector, numbers_in
from model.work.expressions.symbolic import Expression


def declare(state: ExecutionState, name: str, kind: Type, value: Value) -> int:
    """Add a variable to the innermost scope; return its key."""
    key = state.tick()
    state.variables.scopes[-1][name] = key
    state.variables.types[key] = kind
    state.variables.names[key] = name
    state.variables.values[key] = value
    if not isinstance(kind, ScalarType | VectorType):
        for undeclared in undeclared_types(kind):
            note_unreadable(state, UnknownKind.TYPE, undeclared)
    return key


def lookup(state: ExecutionState, name: str) -> int | None:
    """Return the key of the variable of this name; None where no scope has it."""
    for scope in reversed(state.variables.scopes):
        if name in scope:
            key = scope[name]
            if key in state.lifetimes.last:
                state.lifetimes.last[key] = state.steps
            return key
    return None


def value_held(state: ExecutionState, key: int) -> Value:
    """Return what a variable holds; unknown where broken code declares it in a branch or loop without braces."""
    value = state.variables.values.get(key)
    if value is None:
        value = state.variables.values[key] = fresh_value(
            state, state.variables.types[key], "declared where it may not be reached"
        )
    return value


def fresh_value(
    state: ExecutionState, kind: Type, reason: str, name: str = "", rests: tuple[Expression, ...] = ()
) -> Value:
    """Return a value of type `kind` about which nothing is known but what it `rests` on."""
    match kind:
        case ScalarType():
            return Scalar(unknown_number(state, reason, *rests), kind)
        case VectorType():
            return Vector(tuple(unknown_number(state, reason, *rests) for _ in range(kind.width)), kind)
        case PointerType():
            return Pointer(None, unknown_number(state, reason, *rests), kind)
        case StructType():
            # A member without a name stands for those that are not known: they rest on it.
            return Aggregate((("", Scalar(unknown_number(state, reason, *rests), INT)),) if rests else (), kind)
        case _:
            return Other(name, kind)


def completed(state: ExecutionState, value: Value) -> Value:
    return whole_struct(state, value) if isinstance(value, Aggregate) else value


def whole_struct(state: ExecutionState, value: Aggregate) -> Aggregate:
    """Return a struct with all its members named, so that each can be followed on its own; arrays are memory."""
    if value.type.numbers > MAX_NUMBERS:
        note_unreadable(state, UnknownKind.STRUCT)
        return Aggregate((), value.type)
    members = []
    for name, kind in value.type.members:
        if isinstance(kind, ArrayType) and value.member(name) is None:
            continue
        member = value.member(name) or fresh_value(state, kind, f"member `{name}`", rests=numbers_in(value))
        members.append((name, completed(state, member)))
    return Aggregate(tuple(members), value.type)
