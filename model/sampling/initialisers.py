"""Initialisers: `{...}` for vectors, structs and arrays, nested as C allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.constants import string_bytes
from model.opencl.types import ArrayType, ScalarType, StructType, Type, VectorType
from model.sampling.code import Code, Place, Run
from model.sampling.compiler import PRIVATE_BASE, Compiler
from model.sampling.conversions import converted
from model.sampling.dispatch import expression, type_of
from model.sampling.places import assigned_as, load, store, stored, value_of
from model.sampling.values import Array, Value, dtype_of, element_of, rows_of, with_element

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

MAX_ELEMENTS = 1 << 16


def completed(c: Compiler, kind: ArrayType, value: Node | None) -> ArrayType:
    """`int t[] = {1, 2, 3}` has three elements; refuses a length that nobody knows."""
    length = kind.length
    if length is None and value is not None:
        if value.type == "initializer_list":
            length = _length(c, kind, value)
        elif value.type == "string_literal":
            length = string_bytes(c.text(value))
    if length is None:
        raise c.refuse("the length of an array is not known")
    if length < 0 or length * max(1, kind.element.size_bytes) > 1 << 28:
        raise c.refuse("an array is too large to be interpreted")
    return ArrayType(kind.element, length)


def _length(c: Compiler, kind: ArrayType, value: Node) -> int:
    at = most = 0
    scalars = _scalars(kind.element)
    flat = 0
    for entry in _entries(value):
        if entry.type == "initializer_pair":
            number = _designated(c, entry)
            at = number if number is not None else at
        if entry.type in ("initializer_list", "initializer_pair") or scalars == 1 or _is_whole(c, entry):
            at += 1
        else:
            flat += 1
            at += flat % scalars == 0
        most = max(most, at + (1 if scalars > 1 and flat % scalars else 0))
    return most


def _is_whole(c: Compiler, entry: Node) -> bool:
    """Return a vector or struct as one expression."""
    return entry.type == "compound_literal_expression" or (
        entry.type == "call_expression" and c.text(entry).startswith("(")
    )


def _scalars(kind: Type) -> int:
    match kind:
        case ArrayType():
            return (kind.length or 0) * _scalars(kind.element)
        case StructType():
            return sum(_scalars(member) for _, member in kind.members)
        case _:
            return 1


def _entries(node: Node) -> list[Node]:
    return [n for n in node.named_children if n.type != "comment"]


def _designated(c: Compiler, pair: Node) -> int | None:
    designator = next((n for n in pair.named_children if n.type == "subscript_designator"), None)
    if designator is None or not designator.named_children:
        return None
    return c.reader.constant(designator.named_children[0])


def initialise(c: Compiler, place: Place, value: Node) -> list[Run]:
    """Set a variable in memory from its initialiser; what that leaves out is 0."""
    if value.type == "string_literal":
        return []
    if value.type != "initializer_list":
        return [stored(c, place, expression(c, value))]
    steps = [_zeroed(place)]
    entries = iter(_entries(value))
    _fill(c, place, entries, steps)
    return steps


def _zeroed(place: Place) -> Run:
    address, size = place.address, place.type.size_bytes

    def run(f: Lanes) -> None:
        if address is not None and size:
            f.memory.clear(f, address(f), size)

    return run


def _fill(
    c: Compiler, place: Place, entries: Iterator[Node], steps: list[Run], pending: list[Node] | None = None
) -> None:
    """Take as many entries as `place` has parts. `pending`: one that was looked at already."""
    parts = _parts(place)
    number = 0
    queue = pending if pending is not None else []
    while True:
        entry = queue.pop() if queue else next(entries, None)
        if entry is None:
            return
        if entry.type == "initializer_pair":
            found = _pair(c, place, entry)
            if found is None:
                raise c.refuse("an initialiser is not understood", entry)
            number, entry = found
        if number >= len(parts):
            queue.append(entry)
            if pending is None:
                return
            return
        part = parts(number)
        number += 1
        if entry.type == "initializer_list":
            if isinstance(part.type, ArrayType | StructType):
                _fill(c, part, iter(_entries(entry)), steps)
            else:
                steps.append(store(c, part, braced(c, entry, part.type)))
        elif isinstance(part.type, ArrayType | StructType) and not _is_struct_value(c, entry, part.type):
            queue.append(entry)
            inner = queue
            _fill(c, part, entries, steps, inner)
        else:
            steps.append(stored(c, part, expression(c, entry)))
        if pending is not None and number >= len(parts):
            return


def _is_struct_value(c: Compiler, entry: Node, kind: Type) -> bool:
    if entry.type == "string_literal":
        return False
    return isinstance(kind, StructType) and type_of(c, entry) == kind


def _pair(c: Compiler, place: Place, pair: Node) -> tuple[int, Node] | None:
    """`.member = value` or `[3] = value`."""
    value = pair.child_by_field_name("value")
    designators = [n for n in pair.named_children if n.type in ("field_designator", "subscript_designator")]
    if value is None or len(designators) != 1:
        return None
    if isinstance(place.type, StructType) and designators[0].type == "field_designator":
        name = c.text(designators[0]).lstrip(". ")
        number = next((n for n, (member, _) in enumerate(place.type.members) if member == name), None)
        return None if number is None else (number, value)
    number = _designated(c, pair)
    return None if number is None else (number, value)


class _Parts:
    """The elements of an array or the members of a struct, as places."""

    def __init__(self, place: Place) -> None:
        self._place = place
        kind = place.type
        match kind:
            case ArrayType():
                self._count = min(kind.length or 0, MAX_ELEMENTS)
            case StructType():
                self._count = 1 if kind.is_union else len(kind.members)
            case _:
                self._count = 1

    def __len__(self) -> int:
        return self._count

    def __call__(self, number: int) -> Place:
        place, kind = self._place, self._place.type
        match kind:
            case ArrayType():
                return _shifted(place, kind.element, number * kind.element.size_bytes)
            case StructType():
                return _shifted(place, kind.members[number][1], kind.offsets()[number])
            case _:
                return place


def _parts(place: Place) -> _Parts:
    return _Parts(place)


def _shifted(place: Place, kind: Type, by: int) -> Place:
    base = place.address
    if base is None or not by:
        return replace(place, type=kind)
    return replace(place, type=kind, address=lambda f: base(f) + by)


def braced(c: Compiler, node: Node, kind: Type) -> Code:
    """Compile `{a, b, ...}` as a value."""
    entries = _entries(node)
    match kind:
        case VectorType():
            values = [expression(c, n) for n in entries]
            if len(values) == 1 and isinstance(values[0].type, VectorType):
                return values[0]
            while len(values) < kind.width and all(isinstance(v.type, ScalarType) for v in values):
                values.append(_zero(kind.element))
            return vector_of(c, kind, values, node)
        case StructType() | ArrayType():
            if isinstance(kind, ArrayType):
                kind = completed(c, kind, node)
            at = np.int64(c.layout.private(kind))
            c.used.add(PRIVATE_BASE)
            place = Place(kind, address=lambda f: f.values[PRIVATE_BASE] + at, pointer=frozenset((f"&%private {at} ",)))
            steps = initialise(c, place, node)
            if isinstance(kind, ArrayType):
                return _after(steps, value_of(c, place))
            return _after(steps, load(c, place))
        case _:
            if len(entries) != 1:
                return _zero(kind) if not entries else expression(c, entries[0])
            return expression(c, entries[0])


def vector_of(c: Compiler, kind: VectorType, values: list[Code], node: Node) -> Code:
    """`(float4)(a, b.xy, c)`."""
    if len(values) == 1 and not isinstance(values[0].type, VectorType):
        return assigned_as(values[0], kind)
    parts = [converted(v, with_element(v.type, kind.element)) for v in values]
    if sum(rows_of(p.type) or 1 for p in parts) != kind.width:
        raise c.refuse(f"`{c.text(node)[:40]}` does not have {kind.width} components", node)
    taint = frozenset().union(*(p.taint for p in parts))
    c.cost += 2 + len(parts)
    if all(p.constant is not None for p in parts):
        value = np.concatenate([np.reshape(p.constant, (-1, 1)) for p in parts])
        return Code(lambda _: value, kind, None, value)
    runs = [p.run for p in parts]
    spans, at = [], 0
    for part in parts:
        rows = rows_of(part.type)
        spans.append(slice(at, at + rows) if rows else at)
        at += rows or 1
    dtype, count = dtype_of(kind.element), kind.width

    def run(f: Lanes) -> Value:
        given = [each(f) for each in runs]
        width = max([v.shape[-1] if v.ndim else 1 for v in given])
        out: Array = np.empty((count, width), dtype)
        for span, value in zip(spans, given, strict=True):
            out[span] = value
        return out

    return Code(run, kind, None, None, all(p.is_pure for p in parts), taint)


def _after(steps: list[Run], value: Code) -> Code:
    run = value.run

    def all_of(f: Lanes) -> Value:
        for step in steps:
            step(f)
        return run(f)

    return Code(all_of, value.type, is_pure=False, taint=value.taint)


def _zero(kind: Type) -> Code:
    rows, dtype = rows_of(kind), dtype_of(element_of(kind))
    value: Any = np.zeros((rows, 1), dtype) if rows else dtype.type(0)
    return Code(lambda _: value, kind, None, value)
