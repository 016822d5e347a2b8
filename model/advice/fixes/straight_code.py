"""Statements that run one after the other, and the places of buffers that they load from and store to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from model.advice.fixes.accesses import (
    BLOCKING,
    array_names,
    assigned_names,
    declared_names,
    is_stored,
    may_overlap,
    squeezed,
)
from model.advice.fixes.kernel_source import KernelSource
from model.opencl.syntax import without_parentheses
from model.opencl.types import PointerType

_NUMBER = re.compile(r"(\d+)[uUlL]*")
_PURE_CALLS = re.compile(r"get_\w+|mul24|mad24|min|max")


@dataclass(frozen=True, slots=True)
class Place:
    """`x[rest + constant]` in the statement numbered `statement` of its run; `index` as it is written."""

    node: Node
    statement: int
    rest: str
    constant: int
    index: str


def straight_runs(source: KernelSource, block: Node) -> Iterator[list[Node]]:
    """Yield statements of a block that run one after the other: none waits, jumps, or hides what it stores to."""
    run: list[Node] = []
    for node in block.named_children:
        if node.type == "comment":
            continue
        if _is_straight(source, node):
            run.append(node)
        else:
            if run:
                yield run
            run = []
    if run:
        yield run


def _is_straight(source: KernelSource, node: Node) -> bool:
    if node.type not in ("declaration", "expression_statement"):
        return False
    if any(BLOCKING.fullmatch(name) for name, _ in source.calls(node)):
        return False
    if next(source.nodes("pointer_expression", "comma_expression", "gnu_asm_expression", inside=node), None):
        return False
    top = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
    return all(
        each == top or each.child_by_field_name("left") is None or not _is_element(each.child_by_field_name("left"))
        for each in source.nodes("assignment_expression", inside=node)
    ) and all(
        each == top or not _is_element(each.child_by_field_name("argument"))
        for each in source.nodes("update_expression", inside=node)
    )


def _is_element(target: Node | None) -> bool:
    while target is not None and target.type in ("field_expression", "parenthesized_expression"):
        target = target.child_by_field_name("argument") or next(iter(target.named_children), None)
    return target is not None and target.type == "subscript_expression"


def place(source: KernelSource, node: Node, statement: int) -> Place | None:
    """Take the index of `x[i + 3]` apart; None where it might not be the same whenever it is computed."""
    index = node.child_by_field_name("index")
    impure = ("subscript_expression", "field_expression", "assignment_expression", "update_expression")
    if index is None or next(source.nodes(*impure, inside=index), None) is not None:
        return None
    if any(not _PURE_CALLS.fullmatch(name) for name, _ in source.calls(index)):
        return None
    written = source.text(index)
    if source.raw[node.start_byte : node.end_byte] != source.text(node):
        return None  # a comment inside
    index = without_parentheses(index)
    if (number := _NUMBER.fullmatch(source.text(index))) is not None:
        return Place(node, statement, "", int(number[1]), written)
    left, right = index.child_by_field_name("left"), index.child_by_field_name("right")
    operator = index.child_by_field_name("operator")
    if index.type == "binary_expression" and left is not None and right is not None and operator is not None:
        for rest, other in ((left, right), (right, left)):
            number = _NUMBER.fullmatch(source.text(other))
            if number is not None and (operator.type == "+" or (operator.type == "-" and other == right)):
                constant = int(number[1]) * (1 if operator.type == "+" else -1)
                return Place(node, statement, squeezed(source.text(rest)), constant, written)
    return Place(node, statement, squeezed(source.text(index)), 0, written)


def keeps_indices(source: KernelSource, places: Sequence[Place], between: Sequence[Node]) -> bool:
    """Return whether the variables of these indices are known before the statements, and change in none of them."""
    names = {
        source.text(name)
        for each in places
        for name in source.nodes("identifier", inside=each.node.child_by_field_name("index"))
    }
    changed = {name for statement in between for name in assigned_names(source, statement)}
    changed |= {name for statement in between for name in declared_names(source, statement)}
    return not names & changed


def stored_to(source: KernelSource, statements: Sequence[Node], kind: PointerType) -> tuple[str, ...] | None:
    """Return the buffers stored to that may overlap one of this type; None where not all stores are in sight."""
    return _touched(source, statements, kind, stores=True)


def loaded_from(source: KernelSource, statements: Sequence[Node], kind: PointerType) -> tuple[str, ...] | None:
    """Return the buffers loaded from that may overlap one of this type; None where not all loads are in sight."""
    return _touched(source, statements, kind, stores=False)


def _touched(
    source: KernelSource, statements: Sequence[Node], kind: PointerType, *, stores: bool
) -> tuple[str, ...] | None:
    pointers = {p.name: p.type for p in source.kernel.parameters if isinstance(p.type, PointerType)}
    arrays = {each for node in source.nodes("declaration") for each in array_names(source, node)}
    found = set[str]()
    for statement in statements:
        if "->" in source.text(statement):
            return None
        if not stores and any(re.fullmatch(r"vload\w*|read_\w+", name) for name, _ in source.calls(statement)):
            return None
        for node in source.nodes("subscript_expression", inside=statement):
            if is_stored(node) is not stores:
                continue
            base = node.child_by_field_name("argument")
            while base is not None and base.type in ("subscript_expression", "field_expression"):
                base = base.child_by_field_name("argument")
            name = source.text(base) if base is not None and base.type == "identifier" else ""
            if name in arrays:
                continue
            if name not in pointers:
                return None
            if may_overlap(kind, pointers[name]):
                found.add(name)
    return tuple(sorted(found))
