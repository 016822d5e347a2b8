"""Reading any expression or statement: its kind of node says which function does."""

from __future__ import annotations

from tree_sitter import Node

from model.work.execution.findings import note_unreadable, nothing
from model.work.execution.flow import Flow
from model.work.execution.state import ExecutionState
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import Value


def value_of(state: ExecutionState, node: Node) -> Value:
    """Return the value of an expression, counting what it costs."""
    state.at(node)
    kind = node.type
    while kind == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
        state.at(node)
        kind = node.type
    read = state.expressions.get(kind)
    return read(state, node) if read is not None else nothing(state, kind)


def run_statement(state: ExecutionState, node: Node) -> Flow:
    """Run a statement; return how it is left."""
    state.at(node)
    kind = node.type
    read = state.statements.get(kind)
    if read is not None:
        return read(state, node)
    note_unreadable(state, UnknownKind.STATEMENT, kind)
    return Flow.NEXT
