"""What a kernel's text does to variables and buffers: the questions that several rules for fixes ask."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from model.advice.fixes.kernel_source import KernelSource
from model.opencl.types import AddressSpace, PointerType

# What writes through a pointer, waits for others, or could leave the loop without passing its end.
BLOCKING = re.compile(
    r"(?:atom|vstore|async|write_|prefetch|sub_group|work_group|read_pipe)\w*|\w*fence|barrier|printf"
    r"|fract|modf|sincos|frexp|remquo|lgamma_r"
)


def place_of(use: Node) -> Node | None:
    """Return the whole of `x[i]` for its `x`."""
    at = use.parent
    is_base = at is not None and at.type == "subscript_expression" and at.child_by_field_name("argument") == use
    return at if is_base else None


def assigned_names(source: KernelSource, inside: Node) -> Iterator[str]:
    """Yield the variables that are assigned to, as a whole or in part; what pointers point to is none."""
    for node in source.nodes("assignment_expression", "update_expression", inside=inside):
        target = node.child_by_field_name("left") or node.child_by_field_name("argument")
        while target is not None and target.type in ("field_expression", "parenthesized_expression"):
            target = target.child_by_field_name("argument") or next(iter(target.named_children), None)
        if target is not None and target.type == "identifier":
            yield source.text(target)


def declared_names(source: KernelSource, declaration: Node) -> Iterator[str]:
    for declarator in declaration.children_by_field_name("declarator"):
        at: Node | None = declarator
        while at is not None and at.type != "identifier":
            at = at.child_by_field_name("declarator")
        if at is not None:
            yield source.text(at)


def is_stored(place: Node) -> bool:
    at: Node = place
    while at.parent is not None and at.parent.type in ("field_expression", "parenthesized_expression"):
        at = at.parent
    above = at.parent
    if above is None:
        return False
    return above.type == "update_expression" or (
        above.type == "assignment_expression" and above.child_by_field_name("left") == at
    )


def is_unconditional(place: Node, body: Node) -> bool:
    """Return whether each iteration that begins comes to `place`: no condition and no inner loop is around it."""
    inner, at = place, place.parent
    while at is not None and inner != body:
        if at.type in ("if_statement", "switch_statement", "while_statement", "for_statement", "do_statement"):
            return False
        if at.type == "conditional_expression" and at.child_by_field_name("condition") != inner:
            return False
        if at.type == "binary_expression" and at.child_by_field_name("right") == inner:
            operator = at.child_by_field_name("operator")
            if operator is not None and operator.type in ("&&", "||"):
                return False
        inner = at
        at = inner.parent
    return inner == body


def array_names(source: KernelSource, declaration: Node) -> Iterator[str]:
    for array in source.nodes("array_declarator", inside=declaration):
        name = array.child_by_field_name("declarator")
        if name is not None and name.type == "identifier":
            yield source.text(name)


def may_overlap(one: PointerType, other: PointerType) -> bool:
    if AddressSpace.CONSTANT in (one.space, other.space) or one.space != other.space:
        return False
    return not (one.is_restrict or other.is_restrict)


def new_name(source: KernelSource, wanted: str) -> str:
    taken = source.words | source.program.definitions.keys()
    return next(name for name in (wanted, *(f"{wanted}{n}" for n in range(2, 1000))) if name not in taken)


def squeezed(text: str) -> str:
    return "".join(text.split())
