"""Arrays and structs whose initialiser says what they hold: which number stands at which byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from model.opencl.builtin_types import INT
from model.opencl.types import ArrayType, ScalarType, StructType, Type, VectorType
from model.work.expressions.floats import known_value
from model.work.expressions.numbers import Value as Number
from model.work.expressions.symbolic import ZERO, Expression

MAX_TABLE = 4096  # initialisers read; longer tables are taken for unknown

Read = Callable[[Node, ScalarType], Expression]
Table = dict[int, Expression]  # by byte


def completed_type(kind: ArrayType, value: Node | None) -> ArrayType:
    """`int t[] = {1, 2, 3}` has three elements."""
    if kind.length is None and value is not None and value.type == "initializer_list":
        return ArrayType(kind.element, len(_entries(value)))
    return kind


def table_of(node: Node, kind: Type, read: Read, *, is_whole: bool = False) -> Table | None:
    """Return what `{...}` puts where; None for what is too long or too intricate to follow.

    `is_whole`: what no initialiser is for is 0, as C has it; otherwise it is left out.
    """
    table: Table = {}
    for at, scalar, entry in _scalars(node, kind, 0, read):
        if len(table) >= MAX_TABLE or scalar is None:
            return None
        table[at] = read(entry, scalar)
    if is_whole:
        for at in _places(kind, 0):
            if len(table) >= MAX_TABLE:
                return None
            table.setdefault(at, ZERO)
    return table


def numbers_of(table: Table) -> dict[int, Number] | None:
    """Return the table in plain numbers; None where one is not known."""
    numbers: dict[int, Number] = {}
    for at, value in table.items():
        number = value.constant if value.constant is not None else known_value(value)
        if number is None:
            return None
        numbers[at] = number
    return numbers


def _entries(node: Node) -> list[Node]:
    return [c for c in node.named_children if c.type != "comment"]


def entries_by_part(
    node: Node, parts: Sequence[str | int], index_of: Callable[[Node], int | None]
) -> Iterator[tuple[int | None, Node]]:
    """Yield the number of the part that each entry of `{...}` is for: the next one, or that which `.name =` names.

    None for an entry that is for no part that is known, such as `[0 ... 3] = 1`; those after it are not known, either.
    """
    numbers = {part: number for number, part in enumerate(parts)}
    following = 0
    for entry in _entries(node):
        value = entry
        if entry.type == "initializer_pair":
            designators = entry.children_by_field_name("designator")
            inner = entry.child_by_field_name("value")
            chosen = _designated(designators[0], index_of) if len(designators) == 1 else None
            if inner is None or chosen not in numbers:
                yield None, entry
                return
            following, value = numbers[chosen], inner
        yield following if following < len(parts) else None, value
        following += 1


def _designated(designator: Node, index_of: Callable[[Node], int | None]) -> str | int | None:
    if not designator.named_children or not designator.text:
        return None
    if designator.type == "field_designator":
        return designator.text.decode().lstrip(".").strip()
    return index_of(designator.named_children[0]) if designator.type == "subscript_designator" else None


def _scalars(node: Node, kind: Type, at: int, read: Read) -> Iterator[tuple[int, ScalarType | None, Node]]:
    """(byte, type, initialiser) of each scalar; a None type for what is not understood."""
    names: Sequence[str | int]
    match kind:
        case ArrayType():
            count = kind.length if kind.length is not None else len(_entries(node))
            names = range(min(count, MAX_TABLE + 1))
            parts = ((at + i * kind.element.size_bytes, kind.element) for i in names)
        case StructType():
            names = [name for name, _ in kind.members[:1]] if kind.is_union else [name for name, _ in kind.members]
            parts = ((at + offset, member) for (_, member), offset in zip(kind.members, kind.offsets(), strict=True))
        case _:
            yield at, None, node
            return
    places = list(parts)
    for number, entry in entries_by_part(node, names, lambda index: read(index, INT).constant):
        where, part = places[number] if number is not None else (at, None)
        if part is not None and entry.type == "initializer_list":
            yield from _scalars(entry, part, where, read)
        else:
            yield where, part if isinstance(part, ScalarType) else None, entry


def _places(kind: Type, at: int) -> Iterator[int]:
    """Yield the first byte of every scalar."""
    match kind:
        case ScalarType():
            yield at
        case VectorType(element=lane):
            yield from (at + i * lane.size_bytes for i in range(kind.width))
        case ArrayType(element=inner):
            for i in range(kind.length or 0):
                yield from _places(inner, at + i * inner.size_bytes)
        case StructType():
            for (_, member), offset in zip(kind.members, kind.offsets(), strict=True):
                yield from _places(member, at + offset)
