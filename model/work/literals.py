"""Literals, casts and initialisers: source text that names a type or a value outright."""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from model.opencl.builtin_types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, sized_type
from model.opencl.builtins import INTEGER_CONSTANTS
from model.opencl.constants import number as number_of
from model.opencl.types import (
    AddressSpace,
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.work.operators import components
from model.work.stores import Stores
from model.work.symbolic import ZERO, Expression, number, opaque
from model.work.tables import completed_type, entries_by_part
from model.work.unknowns import UnknownKind
from model.work.values import (
    UNKNOWN_TYPE,
    Aggregate,
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    expression_of,
)

_SUFFIX = re.compile(r"[uUlLfF]*\Z")


@lru_cache(4096)
def _number_and_type(text: str) -> tuple[int | str, ScalarType]:
    """Return the value of a literal (a float's by name) and its type (OpenCL C 3.0, section 6.4.2)."""
    value, suffix = number_of(text), _SUFFIX.search(text)
    letters = suffix[0].lower() if suffix else ""
    if not isinstance(value, int):
        return repr(value), FLOAT if "f" in letters else DOUBLE
    words = ["unsigned"] * ("u" in letters) + ["long"] * ("l" in letters)
    kind = sized_type(words)
    if not words and value > INTEGER_CONSTANTS["INT_MAX"]:
        kind = UINT if value <= INTEGER_CONSTANTS["UINT_MAX"] else LONG
    return value, kind


class Literals(Stores):
    """`number_literal`, `cast`, `vector_literal`, `braced`, `size_of`."""

    def nothing(self, what: str = "") -> Value:
        self.unreadable(UnknownKind.EXPRESSION, what)
        return Scalar(self.unknown("code that could not be read"), INT)

    def number_literal(self, node: Node) -> Value:
        value, kind = _number_and_type(self.reader.text(node))
        if isinstance(value, int):
            return Scalar(number(value), kind)
        if kind is DOUBLE:
            # The C grammar knows no `1.0h`: its suffix is masked.
            if "half" in self.reader.masked.between(node.start_byte, node.end_byte):
                kind = HALF
            elif "-cl-single-precision-constant" in self.program.options.flags:
                kind = FLOAT
        return Scalar(opaque("literal", value), kind)

    def type_in_parentheses(self, node: Node) -> Type | None:
        """`(float4)` where the grammar saw an expression."""
        if node.type != "parenthesized_expression" or len(node.named_children) != 1:
            return None
        name = node.named_children[0]
        if name.type not in ("identifier", "primitive_type", "type_identifier"):
            return None
        text = self.reader.text(name)
        return self.reader.names.type_named(text) if self.lookup(text) is None else None

    def cast(self, kind: Type, value: Value) -> Value:
        if isinstance(kind, PointerType) and isinstance(value, Pointer):
            space = kind.space if kind.space is not AddressSpace.PRIVATE else value.type.space
            return Pointer(value.memory, value.offset, PointerType(kind.pointee, space))
        if isinstance(kind, PointerType):
            return Pointer(None, expression_of(value), kind)
        if isinstance(kind, OpaqueType):
            if kind.is_unknown:
                self.unreadable(UnknownKind.TYPE, kind.name)
            return value
        return self.convert(value, kind, explicit=True)

    def vector_literal(self, kind: Type, values: list[Value]) -> Value:
        """`(float4)(a, b, c, d)`, `(float4)(v2, a, b)`, `(float4)(a)`; for scalars, the last operand of a comma."""
        if not isinstance(kind, VectorType):
            return self.cast(kind, values[-1]) if values else self.nothing()
        if len(values) == 1 and not isinstance(values[0], Vector):
            return self.convert(values[0], kind)
        parts: list[Expression] = []
        for value in values:
            element = VectorType(kind.element, value.type.width) if isinstance(value, Vector) else kind.element
            parts.extend(components(self.convert(value, element)))
        parts = (parts + [ZERO] * kind.width)[: kind.width]
        return Vector(tuple(parts), kind)

    def compound_literal(self, node: Node) -> Value:
        kind_node, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if kind_node is None or value is None:
            return self.nothing()
        return self.braced(value, self.reader.type_descriptor(kind_node))

    def braced(self, node: Node, kind: Type) -> Value:
        """`{a, b, ...}` as a value of type `kind`."""
        if isinstance(kind, StructType):
            return self._braced_struct(node, kind)
        values = [
            self.value(c)
            for c in node.named_children
            if c.type not in ("initializer_pair", "initializer_list", "comment")
        ]
        for pair in (c for c in node.named_children if c.type == "initializer_pair"):
            inner = pair.child_by_field_name("value")
            if inner is not None and inner.type != "initializer_list":
                self.value(inner)
        match kind:
            case VectorType():
                return self.vector_literal(kind, values) if len(values) != 1 else self.convert(values[0], kind)
            case ScalarType() if values:
                return self.convert(values[0], kind)
            case _:
                return Other("", kind)

    def _braced_struct(self, node: Node, kind: StructType) -> Value:
        """Member by member, by place or by name; arrays in it are memory of their own, which is not followed here."""
        held: dict[str, Value] = {}
        is_known = not kind.is_union
        members = [name for name, _ in kind.members]
        for number_, entry in entries_by_part(node, members, lambda _: None):
            is_list = entry.type == "initializer_list"
            name, member = kind.members[number_] if number_ is not None and is_known else ("", UNKNOWN_TYPE)
            if isinstance(member, StructType | VectorType) and is_list:
                held[name] = self.braced(entry, member)
                continue
            value = self.braced(entry, UNKNOWN_TYPE) if is_list else self.value(entry)
            if isinstance(member, ScalarType | VectorType) or (isinstance(member, StructType) and value.type == member):
                held[name] = self.convert(value, member) if not isinstance(member, StructType) else value
            elif not isinstance(member, ArrayType) or not is_list:
                is_known = False  # braces left away: what follows is for members of this one
        if is_known:  # C sets the others to 0
            zero = Scalar(ZERO, INT)
            rest = ((n, k) for n, k in kind.members if n not in held and isinstance(k, ScalarType | VectorType))
            held |= {name: self.convert(zero, member) for name, member in rest}
        return Aggregate(tuple(held.items()), kind)

    def size_of(self, node: Node) -> Value:
        known = self.reader.constant(node)
        if known is None:
            argument = node.child_by_field_name("value")
            while argument is not None and argument.type == "parenthesized_expression" and argument.named_children:
                argument = argument.named_children[0]
            if argument is not None:
                known = self._size_of_expression(argument)
        return Scalar(number(known) if known is not None else self.free_name("sizeof"), ULONG)

    def _size_of_expression(self, node: Node) -> int | None:
        """Return what `sizeof expression` is; the expression is not evaluated."""
        self.dry += 1
        declared = self.program.globals.get(self.reader.text(node)) if node.type == "identifier" else None
        if declared is not None and self.lookup(declared.name) is None:
            kind: Type = declared.type
            if isinstance(kind, ArrayType):
                kind = completed_type(kind, declared.value)
        else:
            place = self.place(node) if node.type != "call_expression" else None
            kind = place.type if place is not None else self.value(node).type
        self.dry -= 1
        return kind.size_bytes or None
