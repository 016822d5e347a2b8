"""Declarations -> types. Reads declarators of the C grammar with OpenCL's words masked (see `masking`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from model.opencl.builtin_types import INT, builtin_type, sized_type
from model.opencl.masking import Masked
from model.opencl.syntax import children
from model.opencl.types import AddressSpace, ArrayType, OpaqueType, PointerType, StructType, Type

_SPACES = {s.value: s for s in AddressSpace}
_PACKED = re.compile(r"\bpacked\b")
MAX_TYPE_DEPTH = 60


@dataclass(slots=True)
class Names:
    """What names mean at one place of a program: typedefs, struct tags, integer constants."""

    typedefs: dict[str, Type] = field(default_factory=dict)
    tags: dict[str, StructType] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)

    def type_named(self, name: str) -> Type | None:
        return self.typedefs.get(name) or builtin_type(name)

    def child(self) -> Names:
        return Names(dict(self.typedefs), dict(self.tags), dict(self.constants))


@dataclass(frozen=True, slots=True)
class Declared:
    """One declarator: its name, type, initialiser, address space (None where not written) and place."""

    name: str
    type: Type
    space: AddressSpace | None
    value: Node | None
    node: Node
    is_const: bool = False


class Declarations:
    """Reads declarations of one masked text; `names` grows as typedefs, structs and enums are met."""

    def __init__(self, masked: Masked, names: Names) -> None:
        self.masked = masked
        self.names = names

    def text(self, node: Node) -> str:
        return self.masked.text[node.start_byte : node.end_byte]

    # --- types -------------------------------------------------------------------------------------------

    def base_type(self, node: Node, depth: int = 0) -> Type:
        """The type that a declaration's specifiers name."""
        specifier = node.child_by_field_name("type")
        if specifier is None:
            return INT
        return self.specified(specifier, depth)

    def specified(self, node: Node, depth: int = 0) -> Type:
        if depth > MAX_TYPE_DEPTH:
            return OpaqueType("deeply nested type", is_unknown=True)
        match node.type:
            case "primitive_type" | "type_identifier" | "identifier":
                name = self.text(node)
                return self.names.type_named(name) or OpaqueType(name, is_unknown=True)
            case "sized_type_specifier":
                return sized_type(self.text(node).split())
            case "struct_specifier" | "union_specifier":
                return self._struct(node, depth)
            case "enum_specifier":
                self.read_enum(node)
                return INT
            case _:
                return OpaqueType(self.text(node)[:40], is_unknown=True)

    def _struct(self, node: Node, depth: int) -> Type:
        tag_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        tag = self.text(tag_node) if tag_node else f"anonymous@{node.start_byte}"
        if body is None:
            return self.names.tags.get(tag) or OpaqueType(f"struct {tag}", is_unknown=True)
        members: list[tuple[str, Type]] = []
        for member in children(body, "field_declaration"):
            base = self.base_type(member, depth + 1)
            for declarator in member.children_by_field_name("declarator"):
                named = self.declarator(declarator, base, None)
                if named is not None:
                    members.append((named[0], named[1]))
        attributes = " ".join(self.masked.between(node.start_byte, node.end_byte + 60))
        struct = StructType(tag, tuple(members), node.type == "union_specifier", bool(_PACKED.search(attributes)))
        self.names.tags[tag] = struct
        return struct

    def read_enum(self, node: Node) -> None:
        body, value = node.child_by_field_name("body"), 0
        for enumerator in children(body, "enumerator") if body else ():
            name, given = enumerator.child_by_field_name("name"), enumerator.child_by_field_name("value")
            if given is not None:
                value = self.constant(given) or 0
            if name is not None:
                self.names.constants[self.text(name)] = value
            value += 1

    def type_descriptor(self, node: Node) -> Type:
        """`(float4 *)`: of casts, sizeof and compound literals."""
        base = self.base_type(node)
        declarator = node.child_by_field_name("declarator")
        space = self.space(node.start_byte, node.end_byte)
        while declarator is not None:
            if declarator.type == "abstract_pointer_declarator":
                base = PointerType(base, space or AddressSpace.PRIVATE)
            elif declarator.type == "abstract_array_declarator":
                base = ArrayType(base, self._length(declarator))
            declarator = declarator.child_by_field_name("declarator")
        return base

    def declarator(self, node: Node, base: Type, space: AddressSpace | None) -> tuple[str, Type] | None:
        """The name and type of one declarator; `space` is what its pointer points into."""
        for _ in range(MAX_TYPE_DEPTH):
            match node.type:
                case "identifier" | "field_identifier" | "type_identifier":
                    return self.text(node), base
                case "pointer_declarator":
                    words = {self.text(q) for q in children(node, "type_qualifier")}
                    base = PointerType(
                        base,
                        space or AddressSpace.PRIVATE,
                        is_restrict=bool(words & {"restrict", "__restrict", "__restrict__"}),
                    )
                case "array_declarator":
                    base = ArrayType(base, self._length(node))  # the outermost node holds the innermost length
                case "init_declarator" | "parenthesized_declarator" | "attributed_declarator":
                    pass
                case "function_declarator":
                    return None
                case _:
                    return None
            inner = node.child_by_field_name("declarator")
            if inner is None:
                inner = next(iter(children(node, "identifier", "pointer_declarator", "array_declarator")), None)
            if inner is None:
                return ("", base) if node.type == "pointer_declarator" else None
            node = inner
        return None

    def _length(self, node: Node) -> int | None:
        size = node.child_by_field_name("size")
        return self.constant(size) if size is not None else None

    def space(self, start: int, end: int) -> AddressSpace | None:
        """The address space written between two offsets."""
        return next((_SPACES[w] for w in self.masked.between(start, end) if w in _SPACES), None)

    # --- declarations ------------------------------------------------------------------------------------

    def declared(self, node: Node, since: int) -> Iterator[Declared]:
        """The variables of a `declaration`; qualifiers are looked for from offset `since` on."""
        base = self.base_type(node)
        space = self.space(since, node.end_byte)
        is_const = any(self.text(q) == "const" for q in children(node, "type_qualifier"))
        for declarator in node.children_by_field_name("declarator"):
            named = self.declarator(declarator, base, space)
            if named is not None:
                value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
                yield Declared(named[0], named[1], space, value, declarator, is_const)

    def parameter(self, node: Node, since: int) -> Declared | None:
        """A `parameter_declaration` (arrays decay to pointers)."""
        base = self.base_type(node)
        declarator = node.child_by_field_name("declarator")
        space = self.space(since, node.end_byte)
        is_const = any(self.text(q) == "const" for q in children(node, "type_qualifier"))
        if declarator is None:
            return None if base == OpaqueType("void") else Declared("", base, space, None, node, is_const)
        if declarator.type in ("abstract_pointer_declarator", "abstract_array_declarator"):
            return Declared("", PointerType(base, space or AddressSpace.PRIVATE), space, None, node, is_const)
        named = self.declarator(declarator, base, space)
        if named is None:
            return None
        name, kind = named
        if isinstance(kind, ArrayType):
            kind = PointerType(kind.element, space or AddressSpace.PRIVATE)
        if isinstance(kind, PointerType):
            volatile = any(self.text(q) == "volatile" for q in children(node, "type_qualifier"))
            kind = PointerType(
                kind.pointee, kind.space, is_const or space is AddressSpace.CONSTANT, kind.is_restrict, volatile
            )
        return Declared(name, kind, space, None, node, is_const)

    def read_typedef(self, node: Node) -> None:
        base = self.base_type(node)
        space = self.space(node.start_byte, node.end_byte)
        for declarator in node.children_by_field_name("declarator"):
            named = self.declarator(declarator, base, space)
            if named is not None and builtin_type(named[0]) is None:
                self.names.typedefs[named[0]] = named[1]

    # --- constants ---------------------------------------------------------------------------------------

    def constant(self, node: Node, depth: int = 0) -> int | None:
        """The value of a constant integer expression; None where it is not one."""
        if depth > MAX_TYPE_DEPTH:
            return None
        match node.type:
            case "number_literal":
                value = number(self.text(node))
                return value if isinstance(value, int) else None
            case "char_literal":
                text = self.text(node)
                return ord(text[1]) if len(text) == 3 else None
            case "identifier":
                return self.names.constants.get(self.text(node))
            case "parenthesized_expression":
                return self.constant(node.named_children[0], depth + 1) if node.named_children else None
            case "cast_expression":
                value_node = node.child_by_field_name("value")
                return self.constant(value_node, depth + 1) if value_node else None
            case "sizeof_expression":
                return self._sizeof(node)
            case "unary_expression":
                argument = node.child_by_field_name("argument")
                value = self.constant(argument, depth + 1) if argument else None
                return (
                    None
                    if value is None
                    else {"-": -value, "+": value, "~": ~value, "!": int(not value)}.get(self.operator(node))
                )
            case "binary_expression":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                a = self.constant(left, depth + 1) if left else None
                b = self.constant(right, depth + 1) if right else None
                return None if a is None or b is None else fold(self.operator(node), a, b)
            case "conditional_expression":
                parts = [node.child_by_field_name(f) for f in ("condition", "consequence", "alternative")]
                values = [self.constant(p, depth + 1) if p else None for p in parts]
                return None if values[0] is None else values[1] if values[0] else values[2]
        return None

    def operator(self, node: Node) -> str:
        operator = node.child_by_field_name("operator")
        return self.text(operator) if operator else ""

    def _sizeof(self, node: Node) -> int | None:
        described = node.child_by_field_name("type")
        if described is not None:
            return self.type_descriptor(described).size_bytes or None
        value = node.child_by_field_name("value")
        while value is not None and value.type == "parenthesized_expression" and value.named_children:
            value = value.named_children[0]
        kind = self.names.type_named(self.text(value)) if value is not None and value.type == "identifier" else None
        return kind.size_bytes if kind else None


_FOLD: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)), "||": lambda a, b: int(bool(a) or bool(b)),
}  # fmt: skip


def fold(operator: str, a: int, b: int) -> int | None:
    """`a operator b` in C's integers (division truncates); None where C leaves it undefined."""
    if operator in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            return None
        return a << b if operator == "<<" else a >> b
    function = _FOLD.get(operator)
    return function(a, b) if function else None


_INTEGER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9][0-9]*))(?P<suffix>[uUlL]*)\Z"
)


def number(text: str) -> int | float | None:
    """The value of a number literal; the grammar makes its sign a part of it."""
    if text[:1] in ("-", "+"):
        value = number(text[1:])
        return -value if value is not None and text[0] == "-" else value
    match = _INTEGER.match(text)
    if match:
        for group, base in (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10)):
            if match[group] is not None:
                return int(match[group], base)
    try:
        return float.fromhex(text.rstrip("fFlLhH")) if text[:2] in ("0x", "0X") else float(text.rstrip("fFlLhH "))
    except (ValueError, OverflowError):
        return None
