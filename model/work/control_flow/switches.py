"""`switch`: a chain of branches, in the order of the source."""

from __future__ import annotations

from tree_sitter import Node

from model.work.control_flow.branches import fork, go_on_unless, run_statements
from model.work.execution.dispatch import value_of
from model.work.execution.flow import Flow
from model.work.execution.selection import conjunction, merge_values
from model.work.execution.state import ExecutionState
from model.work.execution.values import expression_of
from model.work.expressions.operations import any_of, either_holds, equal, operation
from model.work.expressions.symbolic import ONE, ZERO, Expression


def switch_statement(state: ExecutionState, node: Node) -> Flow:
    """Run a `switch` as a chain of ifs, in the order of the source.

    Each case is entered by its labels, or from the one before.
    """
    condition_node, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
    if condition_node is None or body is None:
        return Flow.NEXT
    chosen = expression_of(value_of(state, condition_node))
    groups = _case_groups(state, body)
    known = [label for labels, _, _, _ in groups for label in labels]
    outer, path, exits = state.block, len(state.control.path), len(state.control.exits)
    falls: Expression = ZERO
    state.variables.scopes.append({})
    flows = []
    for labels, is_default, nodes, case in groups:
        enters = any_of([equal(chosen, label) for label in labels])
        if is_default:
            others = [label for label in known if label not in labels]
            enters = operation("not", any_of([equal(chosen, label) for label in others]))
        condition = either_holds(enters, falls)
        falls, flow = _run_case(state, case, condition, nodes)
        flows.append(flow)
    state.variables.scopes.pop()
    state.block = outer
    del state.control.path[path:]
    remaining = [e for e in state.control.exits[exits:] if e.flow is not Flow.BREAK]
    breaks = len(state.control.exits) - exits > len(remaining)
    state.control.exits[exits:] = remaining
    if any(is_default for _, is_default, _, _ in groups) and not breaks and falls.constant == 0:
        return min(f for f in flows if f is not Flow.NEXT)
    if remaining:
        go_on_unless(state, node, [conjunction(e.path[path:]) for e in remaining])
    return Flow.NEXT


def _case_groups(state: ExecutionState, body: Node) -> list[tuple[list[Expression], bool, list[Node], Node]]:
    """(labels, whether `default` is one, statements, where) for each run of labels that stand together."""
    groups: list[tuple[list[Expression], bool, list[Node], Node]] = []
    labels: list[Expression] = []
    is_default = False
    cases = [c for c in body.named_children if c.type == "case_statement"]
    for case in cases:
        label = case.child_by_field_name("value")
        if label is None:
            is_default = True
        else:
            labels.append(expression_of(value_of(state, label)))
        statements = [c for c in case.named_children if c != label and c.type != "comment"]
        if statements or case is cases[-1]:
            groups.append((labels, is_default, statements, case))
            labels, is_default = [], False
    return groups


def _run_case(state: ExecutionState, case: Node, condition: Expression, nodes: list[Node]) -> tuple[Expression, Flow]:
    """Run one case's statements; gives when the next case is fallen into, and how this one ends."""
    if condition.constant == 0:
        return ZERO, Flow.BREAK
    exits, path, outer = len(state.control.exits), len(state.control.path), state.block
    if condition.constant is not None:
        flow = run_statements(state, nodes)
    else:
        flow = Flow.NEXT

        def statements() -> Flow:
            nonlocal flow
            mine = len(state.control.exits)
            flow = run_statements(state, nodes)
            leaves = [e for e in state.control.exits[mine:] if e.flow is Flow.BREAK]
            for left in leaves:
                if left.values:
                    state.variables.values = merge_values(
                        state, conjunction(left.path[path:]), left.values, state.variables.values
                    )
            return Flow.NEXT if flow is Flow.BREAK else flow

        fork(state, case, condition, statements, lambda: Flow.NEXT, may_speculate=False)
    state.block = outer
    del state.control.path[path:]
    if flow is not Flow.NEXT:
        return ZERO, flow
    left_early = [conjunction(e.path[path:]) for e in state.control.exits[exits:]]
    stays = operation("not", any_of(left_early)) if left_early else ONE
    return operation("and", condition, stays) if stays is not ONE else condition, flow
