"""Both sides of a condition: counted apart, and their values chosen between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tree_sitter import Node

from model.opencl.types import VectorType
from model.work.counts import OpKind
from model.work.execution.builder import Builder, PendingBranch, cheap_enough
from model.work.execution.costs import count_operations, forget_available, make_available, new_block
from model.work.execution.findings import share_of
from model.work.execution.narrow_values import computed_in, held_bytes, kept_bytes
from model.work.execution.operators import components, convert
from model.work.execution.state import ExecutionState
from model.work.execution.values import Aggregate, Pointer, Scalar, Value, Vector, common_type, numbers_in, scalar_of
from model.work.execution.variables import fresh_value, whole_struct
from model.work.expressions.operations import operation
from model.work.expressions.symbolic import ONE, Expression


def conjunction(conditions: Sequence[Expression]) -> Expression:
    whole = ONE
    for condition in conditions:
        whole = operation("and", whole, condition) if whole is not ONE else condition
    return whole


def selected_value(state: ExecutionState, condition: Expression, a: Value, b: Value) -> Value:
    """`condition ? a : b`, as one value."""
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return Pointer(
            a.memory if a.memory == b.memory else None, operation("select", condition, a.offset, b.offset), a.type
        )
    if isinstance(a, Aggregate) and isinstance(b, Aggregate) and a.type == b.type:
        yes, no = dict(whole_struct(state, a).members), dict(whole_struct(state, b).members)
        for name, x in yes.items():
            no[name] = x if x == no.get(name, x) else selected_value(state, condition, x, no[name])
        return Aggregate(tuple(no.items()), a.type)
    if not isinstance(a, Scalar | Vector) or not isinstance(b, Scalar | Vector):
        return a
    kind = common_type(a.type, b.type)
    left, right = convert(state, a, kind), convert(state, b, kind)
    parts = tuple(
        operation("select", condition, x, y) for x, y in zip(components(left), components(right), strict=True)
    )
    needed = max(held_bytes(left), held_bytes(right))
    count_operations(state, OpKind.INTEGER, computed_in(scalar_of(kind), needed), *parts)
    if isinstance(kind, VectorType):
        return Vector(parts, kind)
    return Scalar(parts[0], scalar_of(kind), held=kept_bytes(scalar_of(kind), needed))


def either_value(state: ExecutionState, condition: Expression, a: Value, b: Value) -> Value:
    """Return `a` where `condition` holds, else `b`, as control flow merges them."""
    match a, b:
        case Scalar(), Scalar():
            return Scalar(operation("select", condition, a.value, b.value), a.type)
        case Vector(), Vector() if a.type == b.type:
            parts = (operation("select", condition, x, y) for x, y in zip(a.components, b.components, strict=True))
            return Vector(tuple(parts), a.type)
        case Pointer(), Pointer():
            memory = a.memory if a.memory == b.memory else None
            return Pointer(memory, operation("select", condition, a.offset, b.offset), a.type)
        case Aggregate(), Aggregate() if a.type == b.type:
            return selected_value(state, condition, a, b)
        case _:
            rests = (*numbers_in(a), *numbers_in(b))
            return fresh_value(state, a.type, "a value that a branch decides", rests=rests)


def merge_values(
    state: ExecutionState, condition: Expression, yes: dict[int, Value], no: dict[int, Value]
) -> dict[int, Value]:
    """Return what variables hold after both ways."""
    merged = dict(no)
    for key, a in yes.items():
        b = no.get(key)
        if b is not None and a is not b and a != b:
            merged[key] = either_value(state, condition, a, b)
    return merged


@contextmanager
def aside(state: ExecutionState) -> Iterator[Builder]:
    """Count into a block of its own, which may or may not run."""
    side, block, mark = new_block(state), state.block, len(state.computed.found)
    state.block = side
    try:
        yield side
    finally:
        state.block = block
        forget_available(state, mark, block.level)


def join_sides(state: ExecutionState, node: Node, condition: Expression, yes: Builder, no: Builder) -> None:
    """Cheap arithmetic is computed anyway and selected from; all else runs where the condition holds."""
    if cheap_enough(yes, no):
        state.block.ops += yes.ops + no.ops
        for op in yes.ops + no.ops:
            make_available(state, op.results, state.block)
    else:
        share = share_of(state, condition)
        state.block.inner.append(PendingBranch(condition, yes, no, state.line, share, state.site(node)))
