"""Arrays whose initialiser says what they hold: which number stands at which byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node

from model.opencl.types import ArrayType, ScalarType, StructType, Type
from model.work.floats import known_value
from model.work.numbers import Value as Number
from model.work.symbolic import Expression

MAX_TABLE = 4096  # initialisers read; longer tables are taken for unknown

Read = Callable[[Node, ScalarType], Expression]
Table = dict[int, Expression]  # by byte


def completed_type(kind: ArrayType, value: Node | None) -> ArrayType:
    """`int t[] = {1, 2, 3}` has three elements."""
    if kind.length is None and value is not None and value.type == "initializer_list":
        return ArrayType(kind.element, len(_entries(value)))
    return kind


def table_of(node: Node, kind: ArrayType, read: Read) -> Table | None:
    """What `{...}` puts where; None for what is too long or too intricate to follow."""
    table: Table = {}
    for at, scalar, entry in _scalars(node, kind, 0):
        if len(table) >= MAX_TABLE or scalar is None:
            return None
        table[at] = read(entry, scalar)
    return table


def numbers_of(table: Table) -> dict[int, Number] | None:
    """The table in plain numbers; None where one is not known."""
    numbers: dict[int, Number] = {}
    for at, value in table.items():
        number = value.constant if value.constant is not None else known_value(value)
        if number is None:
            return None
        numbers[at] = number
    return numbers


def _entries(node: Node) -> list[Node]:
    return [c for c in node.named_children if c.type != "comment"]


def _scalars(node: Node, kind: Type, at: int) -> Iterator[tuple[int, ScalarType | None, Node]]:
    """(byte, type, initialiser) of each scalar; a None type for what is not understood."""
    entries = _entries(node)
    match kind:
        case ArrayType():
            parts = [(at + i * kind.element.size_bytes, kind.element) for i in range(len(entries))]
        case StructType():
            parts = [(at + offset, member) for (_, member), offset in zip(kind.members, kind.offsets(), strict=True)]
        case _:
            yield at, None, node
            return
    for entry, (where, part) in zip(entries, parts, strict=False):
        if entry.type == "initializer_list":
            yield from _scalars(entry, part, where)
        elif isinstance(part, ScalarType) and entry.type != "initializer_pair":
            yield where, part, entry
        else:
            yield where, None, entry
