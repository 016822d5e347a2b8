"""Statements of the source -> blocks, loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tree_sitter import Node

from model.opencl.builtin_types import VOID
from model.opencl.jumps import Jump
from model.work.control_flow.branches import fork, run_statements
from model.work.control_flow.declarations import run_declaration
from model.work.control_flow.loops import run_loop
from model.work.control_flow.switches import switch_statement
from model.work.execution.dispatch import run_statement, value_of
from model.work.execution.findings import assume, note_unreadable
from model.work.execution.flow import Exit, Flow
from model.work.execution.operators import truth_of
from model.work.execution.state import ExecutionState
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import Other, Value

UNFOLLOWED_LOOP_SPREAD = 32.0


def goto_statement(state: ExecutionState, node: Node) -> Flow:
    match state.control.jumps.of(node):
        case Jump.AGAIN:
            return leave(state, Flow.CONTINUE)
        case Jump.BEYOND:
            return leave(state, Flow.BREAK)
        case Jump.BACK:
            text = "`goto` on line {line} leads back, and how often is not known: what it repeats is counted once"
            assume(state, "line {line}", text, UNFOLLOWED_LOOP_SPREAD, is_guess=True)
        case Jump.AWAY:
            assume(state, "line {line}", "`goto` on line {line} is not followed", 1.5)
    note_unreadable(state, UnknownKind.GOTO)
    return Flow.NEXT


def leave(state: ExecutionState, flow: Flow) -> Flow:
    state.control.exits.append(Exit(flow, tuple(state.control.path), dict(state.variables.values)))
    return flow


def block_value(state: ExecutionState, node: Node) -> Value:
    """`({ ...; value; })`, an extension of GNU C that OpenCL compilers know: its last expression is its value."""
    state.variables.scopes.append({})
    last = next((n for n in reversed(node.named_children) if n.type != "comment"), None)
    value: Value = Other("", VOID)
    if last is not None and last.type == "expression_statement" and last.named_children:
        run_statements(state, (n for n in node.named_children if n != last))
        value = value_of(state, last.named_children[0])
    else:
        run_statements(state, node.named_children)
    state.variables.scopes.pop()
    return value


def if_statement(state: ExecutionState, node: Node) -> Flow:
    condition_node, then_node = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    otherwise_node = node.child_by_field_name("alternative")
    if condition_node is None or then_node is None:
        return Flow.NEXT
    condition = truth_of(state, value_of(state, condition_node))
    if condition.constant is not None:
        chosen = then_node if condition.constant else otherwise_node
        return _side(state, chosen) if chosen is not None else Flow.NEXT
    otherwise = partial(_side, state, otherwise_node) if otherwise_node is not None else _go_on
    return fork(state, node, condition, partial(_side, state, then_node), otherwise)


def _go_on() -> Flow:
    return Flow.NEXT


def _side(state: ExecutionState, node: Node) -> Flow:
    return run_statements(state, node.named_children) if node.type == "else_clause" else run_statement(state, node)


def compound_statement(state: ExecutionState, node: Node) -> Flow:
    state.variables.scopes.append({})
    flow = run_statements(state, node.named_children)
    state.variables.scopes.pop()
    return flow


def declaration_statement(state: ExecutionState, node: Node) -> Flow:
    run_declaration(state, node)
    return Flow.NEXT


def expression_statement(state: ExecutionState, node: Node) -> Flow:
    for child in node.named_children:
        value_of(state, child)
    return Flow.NEXT


def return_statement(state: ExecutionState, node: Node) -> Flow:
    if node.named_children:
        value = value_of(state, node.named_children[0])
        state.control.returned.append((tuple(state.control.path), value))
    return leave(state, Flow.RETURN)


def break_statement(state: ExecutionState, _: Node) -> Flow:
    return leave(state, Flow.BREAK)


def continue_statement(state: ExecutionState, _: Node) -> Flow:
    return leave(state, Flow.CONTINUE)


def labeled_statement(state: ExecutionState, node: Node) -> Flow:
    return run_statements(state, node.named_children[1:])


def type_definition(state: ExecutionState, node: Node) -> Flow:
    state.reader.read_typedef(node)
    return Flow.NEXT


def specifier(state: ExecutionState, node: Node) -> Flow:
    state.reader.specified(node)
    return Flow.NEXT


def syntax_error(state: ExecutionState, _: Node) -> Flow:
    note_unreadable(state, UnknownKind.SYNTAX)
    assume(state, "line {line}", "line {line} could not be read and is not counted", 1.3)
    return Flow.NEXT


def no_statement(_: ExecutionState, __: Node) -> Flow:
    return Flow.NEXT


STATEMENTS: Mapping[str, Callable[[ExecutionState, Node], Flow]] = {
    "compound_statement": compound_statement,
    "declaration": declaration_statement,
    "expression_statement": expression_statement,
    "if_statement": if_statement,
    "for_statement": run_loop,
    "while_statement": run_loop,
    "do_statement": run_loop,
    "switch_statement": switch_statement,
    "return_statement": return_statement,
    "break_statement": break_statement,
    "continue_statement": continue_statement,
    "labeled_statement": labeled_statement,
    "goto_statement": goto_statement,
    "type_definition": type_definition,
    "struct_specifier": specifier,
    "union_specifier": specifier,
    "enum_specifier": specifier,
    "ERROR": syntax_error,
    "comment": no_statement,
    ";": no_statement,
}
