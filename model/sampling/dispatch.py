"""Compiling any expression, statement or place: its type of node says which function does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from model.opencl.types import Type
from model.sampling.code import Code, Place
from model.sampling.compiler import Compiler, Step

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_SHORT = 8  # NumPy calls


def expression(c: Compiler, node: Node) -> Code:
    """Compile any expression."""
    with c.inside(node):
        compiled = c.by_node.expressions.get(node.type)
        if compiled is None:
            raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
        return compiled(c, node)


def statement(c: Compiler, node: Node) -> Step:
    """Compile any statement."""
    with c.inside(node):
        compiled = c.by_node.statements.get(node.type)
        if compiled is None:
            raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
        return compiled(c, node)


def place(c: Compiler, node: Node) -> Place | None:
    """Return the place that an expression names; None for a mere value."""
    compiled = c.by_node.places.get(node.type)
    return compiled(c, node) if compiled is not None else None


def required_place(c: Compiler, node: Node) -> Place:
    found = place(c, node)
    if found is None:
        raise c.refuse(f"`{c.text(node)[:40]}` cannot be set", node)
    return found


def type_of(c: Compiler, node: Node) -> Type:
    """Return the type of an expression that is not evaluated; of an array the array's."""
    sites, accesses, cost = len(c.sites.sites), len(c.sites.accesses), c.cost
    found = place(c, node)
    kind = found.type if found is not None else expression(c, node).type
    del c.sites.sites[sites:], c.sites.taints[sites:], c.sites.accesses[accesses:]
    c.cost = cost
    return kind


def nothing(_f: Lanes) -> bool:
    return False


def charged_when_run(c: Compiler, compiled: Callable[[], Step]) -> Step:
    """Compile what may never run: it costs when lanes come to it, not whenever they pass.

    What is short is charged with its surroundings, as looking at the meter has a price as well.
    """
    around, c.cost = c.cost, 0
    step = compiled()
    cost, c.cost = c.cost, around
    if cost <= _SHORT:
        c.cost += cost
        return step

    def run(f: Lanes) -> bool:
        f.meter.spend(cost, f.width)
        return step(f)

    return run


def block(c: Compiler, nodes: Sequence[Node]) -> Step:
    """Compile statements one behind the other."""
    steps = [s for s in (statement(c, n) for n in c.jumps.structured(nodes) if n.type != "comment") if s is not nothing]
    if not steps:
        return nothing
    if len(steps) == 1:
        return steps[0]

    def run(f: Lanes) -> bool:
        left = False
        for step in steps:
            left = step(f)
            if left:
                break
        return left

    return run
