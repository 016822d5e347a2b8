"""How often a loop can still go round, where a part of its condition counts: `i < n && ...` with `i++`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.syntax import find
from model.opencl.types import ScalarType
from model.sampling.code import Code, Run
from model.sampling.compiler import Compiler
from model.sampling.dispatch import expression
from model.sampling.values import is_float

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

Remaining = Callable[[Any], float | None]
_UP, _DOWN = frozenset({"<", "<=", "!="}), frozenset({">", ">=", "!="})


def remaining_iterations(c: Compiler, condition: Node | None, loop: Node) -> Remaining | None:
    """Estimate from the first conjunct that compares whole numbers, one of which is a variable that steps by one."""
    if condition is None:
        return None
    counters = _counters(c, loop)
    for part in _conjuncts(condition):
        sign = c.reader.operator(part)
        left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
        if sign not in ("<", "<=", ">", ">=") or left is None or right is None:
            continue
        if c.reader.text(left) not in counters and c.reader.text(right) not in counters:
            continue  # `x * x + y * y < limit` says nothing of how far there is to go
        sites, accesses, cost = len(c.sites.sites), len(c.sites.accesses), c.cost
        a, b = expression(c, left), expression(c, right)
        c.cost = cost
        if _counts(a) and _counts(b) and len(c.sites.sites) == sites and len(c.sites.accesses) == accesses:
            return _distance(a.run, b.run) if sign in _UP else _distance(b.run, a.run)
        del c.sites.sites[sites:], c.sites.taints[sites:], c.sites.accesses[accesses:]
    return None


def _counters(c: Compiler, loop: Node) -> set[str]:
    """Variables that nothing but `++`, `--` and steps by one change in a loop."""
    steps, others = set[str](), set[str]()
    for node in find(loop, "update_expression", "assignment_expression"):
        target = node.child_by_field_name("argument" if node.type == "update_expression" else "left")
        value = node.child_by_field_name("right")
        is_step = value is None or (c.reader.operator(node) in ("+=", "-=") and c.reader.text(value) == "1")
        (steps if is_step else others).add(c.reader.text(target) if target is not None else "")
    return steps - others


def _counts(code: Code) -> bool:
    return isinstance(code.type, ScalarType) and not is_float(code.type) and code.is_pure


def _distance(low: Run, high: Run) -> Remaining:
    def run(f: Lanes) -> float | None:
        a, b = np.asarray(low(f), np.float64), np.asarray(high(f), np.float64)
        apart = np.broadcast_to(b - a, (f.width,))
        if f.mask is not None:
            apart = apart[f.mask]
        return float(np.maximum(apart, 0).mean()) if len(apart) else None

    return run


def _conjuncts(node: Node) -> list[Node]:
    stack, found = [node], []
    while stack:
        at = stack.pop()
        if at.type == "parenthesized_expression":
            stack.extend(at.named_children)
        elif at.type == "binary_expression":
            sign = at.child_by_field_name("operator")
            if sign is not None and sign.type == "&&":
                stack.extend(
                    n for n in (at.child_by_field_name("right"), at.child_by_field_name("left")) if n is not None
                )
            else:
                found.append(at)
    return found
