"""How often a loop can still go round, where a part of its condition counts: `i < n && ...` with `i += 32`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.syntax import find
from model.opencl.types import ScalarType
from model.sampling.code import Code, Run
from model.sampling.compiler import Compiler
from model.sampling.dispatch import expression
from model.sampling.places import CHANGING
from model.sampling.values import is_float

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

Remaining = Callable[[Any], float | None]
_UP = frozenset({"<", "<="})
_FROM_MEMORY = ("subscript_expression", "pointer_expression", "field_expression")


def remaining_iterations(c: Compiler, condition: Node | None, loop: Node) -> Remaining | None:
    """Estimate from the first conjunct that compares whole numbers, one of which is a variable that goes by steps.

    A bound may be in memory, as in `k < rows[row + 1]`, where the loop leaves that as it is. Looking at it counts for
    no access of the kernel.
    """
    if condition is None:
        return None
    counters = _counters(c, loop)
    wanted, c.wanted = c.wanted, set()
    try:
        for part in _conjuncts(condition):
            sign = c.reader.operator(part)
            left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
            if sign not in ("<", "<=", ">", ">=") or left is None or right is None:
                continue
            counter = next((each for each in (left, right) if c.reader.text(each) in counters), None)
            if counter is None or not all(_is_kept(c, each, loop) for each in (left, right)):
                continue  # `x * x + y * y < limit` says nothing of how far there is to go
            step = counters[c.reader.text(counter)]
            codes = compiled_numbers(c, [left, right, *filter(None, [step])])
            if codes is not None:
                a, b = codes[0].run, codes[1].run
                by = codes[2].run if step is not None else None
                return _distance(a, b, by) if sign in _UP else _distance(b, a, by)
    finally:
        c.wanted = wanted
    return None


def compiled_numbers(c: Compiler, nodes: Sequence[Node]) -> list[Code] | None:
    """Return whole numbers as code; None where one is no such number, or has branches of its own."""
    sites, cost = len(c.sites.sites), c.cost
    codes = [expression(c, node) for node in nodes]
    c.cost = cost
    if all(_counts(code) for code in codes) and len(c.sites.sites) == sites:
        return codes
    del c.sites.sites[sites:], c.sites.taints[sites:]
    return None


def _counters(c: Compiler, loop: Node) -> dict[str, Node | None]:
    """Return variables that one step alone changes in a loop, with its size; None where that is one."""
    steps, others = dict[str, Node | None](), set[str]()
    for node in find(loop, "update_expression", "assignment_expression"):
        target = node.child_by_field_name("argument" if node.type == "update_expression" else "left")
        value = node.child_by_field_name("right")
        name = c.reader.text(target) if target is not None else ""
        is_step = value is None or c.reader.operator(node) in ("+=", "-=")
        if not is_step or (name in steps and value is not None) or steps.get(name) is not None:
            others.add(name)
        else:
            steps[name] = value
    return {
        name: step for name, step in steps.items() if name not in others and (step is None or is_fixed(c, step, loop))
    }


def is_fixed(c: Compiler, value: Node, loop: Node) -> bool:
    """Return whether a number is the same in each iteration: of what the loop does not set, and not from memory."""
    changed = {
        c.reader.text(target)
        for node in find(loop, "update_expression", "assignment_expression", "init_declarator")
        for field in ("argument", "left", "declarator")
        if (target := node.child_by_field_name(field)) is not None
    }
    names = {c.reader.text(node) for node in (value, *find(value, "identifier"))}
    is_loaded = value.type in _FROM_MEMORY or any(find(value, *_FROM_MEMORY))
    return not is_loaded and changed.isdisjoint(names)


def _is_kept(c: Compiler, side: Node, loop: Node) -> bool:
    """Return whether what a side of the condition reads from memory is nothing that the loop could write."""
    if any(find(side, "call_expression", *CHANGING)):
        return False
    loads = [side, *find(side, *_FROM_MEMORY)]
    if not any(node.type in _FROM_MEMORY for node in loads):
        return True
    names = {c.reader.text(name) for node in loads for name in (node, *find(node, "identifier"))}
    touched = [
        target
        for node in find(loop, "assignment_expression", "update_expression", "call_expression")
        for field in ("left", "argument", "arguments")
        if (target := node.child_by_field_name(field)) is not None and target.type != "identifier"
    ]
    return all(names.isdisjoint(map(c.reader.text, find(target, "identifier"))) for target in touched)


def _counts(code: Code) -> bool:
    return isinstance(code.type, ScalarType) and not is_float(code.type)


def _distance(low: Run, high: Run, step: Run | None) -> Remaining:
    def run(f: Lanes) -> float | None:
        a, b = np.asarray(low(f), np.float64), np.asarray(high(f), np.float64)
        by = np.maximum(np.abs(np.asarray(step(f), np.float64)), 1.0) if step is not None else 1.0
        apart = np.broadcast_to((b - a) / by, (f.width,))
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
