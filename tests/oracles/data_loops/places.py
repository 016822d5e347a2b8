"""The marked places of a kernel file: `COUNT(name);` first in a loop's body or in one side of an `if`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Node

from model.opencl.syntax import parse

_MARK = re.compile(r"\bCOUNT\((\w+)\);")
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})


class Side(StrEnum):
    """What of a statement a mark stands in."""

    BODY = "loop"
    THEN = "if"
    OTHERWISE = "else"


@dataclass(frozen=True, slots=True)
class Place:
    """`line` is that of the loop or `if`, from 0."""

    name: str
    function: str
    side: Side
    line: int


def places_in(source: str) -> list[Place]:
    """In the order of the source, which is also that of the twin's counters. Raises ValueError for a mark elsewhere."""
    return [_place(call) for call in _marks(parse(source).root_node)]


def with_counters(source: str, address: int) -> str:
    """The twin: the n-th mark adds one to the n-th of the 64-bit counters at `address`, and lines stay as they are."""
    numbers = iter(range(len(_MARK.findall(source))))
    return _MARK.sub(lambda _: f"atom_inc((volatile __global ulong *){address}ul + {next(numbers)});", source)


def _marks(node: Node) -> Iterator[Node]:
    function = node.child_by_field_name("function")
    if node.type == "call_expression" and function is not None and function.text == b"COUNT":
        yield node
    for child in node.named_children:
        yield from _marks(child)


def _place(call: Node) -> Place:
    arguments = call.child_by_field_name("arguments")
    assert arguments is not None
    name = _text(arguments.named_children[0])
    statement = call.parent
    block = statement.parent if statement is not None else None
    if block is None or block.type != "compound_statement" or block.named_children[0] != statement:
        raise ValueError(f"{name}: a mark stands first in the block of a loop or an `if`")
    owner = block.parent
    side = Side.BODY
    if owner is not None and owner.type == "else_clause":
        side, owner = Side.OTHERWISE, owner.parent
    elif owner is not None and owner.type == "if_statement":
        side = Side.THEN
    if owner is None or owner.type not in _LOOPS | {"if_statement"}:
        raise ValueError(f"{name}: a mark stands in a loop or an `if`")
    return Place(name, _function_of(owner), side, owner.start_point[0])


def _function_of(node: Node) -> str:
    while node.parent is not None and node.type != "function_definition":
        node = node.parent
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        declarator = declarator.child_by_field_name("declarator")
    return _text(declarator) if declarator is not None else ""


def _text(node: Node) -> str:
    return (node.text or b"").decode()
