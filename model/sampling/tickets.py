"""How often a loop can still go round that ends when tickets run out: `if ((i = atomic_inc(next)) >= tasks) break`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from tree_sitter import Node

from model.opencl.syntax import LOOP_EXITS, LOOPS, find, without_parentheses
from model.sampling.code import Run
from model.sampling.compiler import Compiler
from model.sampling.estimate import Draws
from model.sampling.upper_bounds import Remaining, compiled_numbers, is_fixed

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_OF_THEIR_OWN = LOOPS | {"switch_statement"}
_COMPARISONS = frozenset({"<", "<=", ">", ">="})


def remaining_draws(c: Compiler, loop: Node, body: Node) -> Remaining | None:
    """Estimate from the only exit of a loop, if that compares a ticket drawn in each iteration with a bound.

    The loop must leave the bound as it is. None where it has other exits.
    """
    drawn, condition = dict(_drawn(c, loop)), loop.child_by_field_name("condition")
    exits = [*_exits(body)]
    tests = [without_parentheses(condition)] if condition is not None and not exits else []
    if len(exits) == 1:
        tests = [test for node in body.named_children if (test := _test_around(node, exits[0])) is not None]
    for test in tests:
        if c.reader.operator(test) not in _COMPARISONS:
            continue
        left, right = test.child_by_field_name("left"), test.child_by_field_name("right")
        for ticket, bound in ((left, right), (right, left)):
            at = drawn.get(c.reader.text(_target(ticket))) if ticket is not None else None
            if at is not None and bound is not None and is_fixed(c, bound, loop):
                codes = compiled_numbers(c, [bound])
                return _draws_left(at, codes[0].run) if codes is not None else None
    return None


def _drawn(c: Compiler, loop: Node) -> Iterator[tuple[str, int]]:
    """Yield variables that are set to what an atomic operation gave back, with the place of its call."""
    for node in find(loop, "init_declarator", "assignment_expression"):
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        target = node.child_by_field_name("declarator") or node.child_by_field_name("left")
        if value is None or target is None or value.type != "call_expression":
            continue
        if c.reader.text(value).startswith("atom"):
            yield c.reader.text(target), value.start_byte


def _exits(node: Node) -> Iterator[Node]:
    """Yield what leaves the loop whose body `node` is: no break of a loop or a switch within it."""
    for child in node.named_children:
        if child.type in _OF_THEIR_OWN:
            yield from find(child, "return_statement", "goto_statement")
        elif child.type in LOOP_EXITS:
            yield child
        else:
            yield from _exits(child)


def _test_around(node: Node, leave: Node) -> Node | None:
    """Return the condition of a statement if that is an `if` in which `leave` stands."""
    if node.type != "if_statement" or all(each.id != leave.id for each in _exits(node)):
        return None
    condition = node.child_by_field_name("condition")
    return without_parentheses(condition) if condition is not None else None


def _target(node: Node) -> Node:
    """Return the variable that `(i = atomic_inc(next))` sets, or the expression itself."""
    node = without_parentheses(node)
    target = node.child_by_field_name("left") if node.type == "assignment_expression" else None
    return target if target is not None else node


def _draws_left(at: int, bound: Run) -> Remaining:
    def run(f: Lanes) -> float | None:
        draws: Draws | None = f.draws.get(at)
        if draws is None or not draws.step:
            return None
        return float(np.maximum((np.mean(bound(f)) - draws.last) / draws.step, 0.0))

    return run
