"""Declarations -> types. Reads declarators of the C grammar with OpenCL's words masked (see `masking`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from model.opencl.builtin_types import INT, LONG, builtin_type, sized_type
from model.opencl.builtins import INTEGER_CONSTANTS
from model.opencl.constants import character, fold, number, string_bytes
from model.opencl.masking import Masked, mask
from model.opencl.members import Alignment, Members
from model.opencl.syntax import children, find, parse, without_parentheses
from model.opencl.types import (
    AddressSpace,
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
    nesting,
)

_SPACES = {s.value: s for s in AddressSpace}
_ALIGNED = re.compile(r"\b(?:__)?aligned(?:__)?\b\s*(?:\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))?")
_PACKED = re.compile(r"\b(?:__)?packed(?:__)?\b")
_VECTOR = re.compile(r"\b(?:__)?(ext_vector_type|vector_size)(?:__)?\s*\(([^()]+)\)")
_MOST_ALIGNED_BYTES = 16  # what `aligned` without a number asks for, as Clang has it on CPUs and GPUs alike
MAX_TYPE_DEPTH = 60


@dataclass(slots=True)
class Names:
    """What names mean at one place of a program: typedefs, struct tags, integer constants.

    `alignments`: in bytes, of typedefs that are given another than their type has.
    """

    typedefs: dict[str, Type] = field(default_factory=dict)
    tags: dict[str, StructType] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    alignments: dict[str, int] = field(default_factory=dict)

    def type_named(self, name: str) -> Type | None:
        return self.typedefs.get(name) or builtin_type(name)

    def child(self) -> Names:
        return Names(dict(self.typedefs), dict(self.tags), dict(self.constants), dict(self.alignments))


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
        """Return the type that a declaration's specifiers name."""
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
                return self.read_enum(node)
            case _:
                return OpaqueType(self.text(node)[:40], is_unknown=True)

    def _struct(self, node: Node, depth: int) -> Type:
        tag_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        tag = self.text(tag_node) if tag_node else f"anonymous@{node.start_byte}"
        if body is None:
            return self.names.tags.get(tag) or OpaqueType(f"struct {tag}", is_unknown=True)
        said = self._attributes(node.start_byte, body.start_byte) + self._attributes_behind(node)
        members = Members(is_packed=bool(_PACKED.search(said)))
        since = body.start_byte
        for member in body.children:
            if member.type == "field_declaration":
                self._members(member, since, members, depth)
            since = member.end_byte
        struct = members.struct(tag, self._aligned(said), is_union=node.type == "union_specifier")
        self.names.tags[tag] = struct
        return struct

    def _members(self, node: Node, since: int, members: Members, depth: int) -> None:
        """Add the members of one declaration in a struct; attributes before it are searched from `since` on."""
        base = self.base_type(node, depth + 1)
        specifier = node.child_by_field_name("type")
        if specifier is None:
            return
        shared = self._attributes(since, specifier.start_byte)
        declarators = node.children_by_field_name("declarator")
        if not declarators and isinstance(base, StructType):
            members.add_unnamed(base, self._alignment(shared, base, specifier))
        behind = specifier.end_byte
        if specifier.child_by_field_name("body") is None and declarators:
            shared += self._attributes(behind, declarators[0].start_byte)
            behind = declarators[0].start_byte
        for declarator, following in zip(declarators, [*declarators[1:], None], strict=False):
            end = self.masked.text.rfind(",", declarator.end_byte, following.start_byte) if following else node.end_byte
            named = self.declarator(declarator, base, None)
            if named is not None:
                said = shared + self._attributes(behind, end)
                members.add(*named, self._alignment(said, named[1], specifier))
            behind = end

    def _alignment(self, attributes: str, kind: Type, specifier: Node) -> Alignment:
        """Return what attributes and the name of the type say of a member."""
        own = kind.align_bytes
        if not isinstance(kind, PointerType) and specifier.type == "type_identifier":
            own = self.names.alignments.get(self.text(specifier), own)
        return Alignment(self._aligned(attributes), bool(_PACKED.search(attributes)), own)

    def _aligned(self, attributes: str) -> int:
        """Return the alignment in bytes that attributes ask for; 0 where they ask for none."""
        return max((self._bytes(match[1]) for match in _ALIGNED.finditer(attributes)), default=0)

    def _bytes(self, written: str | None) -> int:
        if written is None:
            return _MOST_ALIGNED_BYTES
        if written.strip().isdigit():
            return int(written)
        return max(0, self.constant_in(written) or 0)

    def constant_in(self, written: str) -> int | None:
        """Return the value of a constant integer expression in an attribute; None where it is not one."""
        masked = mask(f"int _[{written}];")
        reader = Declarations(masked, self.names)
        return next((reader._length(node) for node in find(parse(masked.text).root_node, "array_declarator")), None)

    def _attributes(self, start: int, end: int) -> str:
        """Return the attributes written in [start, end), one behind the other."""
        return " ".join(w for w in self.masked.between(start, end) if w.startswith("__attribute"))

    def _attributes_behind(self, node: Node) -> str:
        """Return the attributes between a type's closing brace and whatever follows it."""
        text = self.masked.text
        end = node.end_byte
        while end < len(text) and text[end].isspace():
            end += 1
        return self._attributes(node.end_byte, end)

    def read_enum(self, node: Node) -> ScalarType:
        """Add the enumerators; the type of them all is as wide as the widest (as in Clang)."""
        name_node, body, value = node.child_by_field_name("name"), node.child_by_field_name("body"), 0
        tag = f"enum {self.text(name_node)}" if name_node else ""
        kind = INT
        for enumerator in children(body, "enumerator") if body else ():
            name, given = enumerator.child_by_field_name("name"), enumerator.child_by_field_name("value")
            if given is not None:
                value = self.constant(given) or 0
            if name is not None:
                self.names.constants[self.text(name)] = value
            kind = kind if -(1 << 31) <= value < 1 << 32 else LONG
            value += 1
        if body is None:
            known = self.names.typedefs.get(tag)
            return known if isinstance(known, ScalarType) else INT
        if kind is not INT and tag:
            self.names.typedefs[tag] = kind
        return kind

    def type_descriptor(self, node: Node) -> Type:
        """`(float4 *)`: of casts, sizeof and compound literals."""
        base = self.base_type(node)
        declarator = node.child_by_field_name("declarator")
        # An address space in front is blanked for the grammar, so the type begins after it.
        whole = node.parent if node.parent is not None and node.parent.type == "cast_expression" else node
        space = self.space(whole.start_byte, node.end_byte)
        while declarator is not None:
            if declarator.type == "abstract_pointer_declarator":
                base = PointerType(base, space or AddressSpace.PRIVATE)
            elif declarator.type == "abstract_array_declarator":
                base = ArrayType(base, self._length(declarator))
            declarator = declarator.child_by_field_name("declarator")
        return base

    def declarator(self, node: Node, base: Type, space: AddressSpace | None) -> tuple[str, Type] | None:
        """Return the name and type of one declarator; `space` is what its pointer points into."""
        for _ in range(MAX_TYPE_DEPTH):
            match node.type:
                case "identifier" | "field_identifier" | "type_identifier":
                    return self.text(node), base
                case "pointer_declarator":
                    words = {self.text(q) for q in children(node, "type_qualifier")}
                    base = PointerType(
                        base,
                        space or AddressSpace.PRIVATE,
                        is_restrict="restrict" in words,
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
        """Return the address space written between two offsets."""
        return next((_SPACES[w] for w in self.masked.between(start, end) if w in _SPACES), None)

    # --- declarations ------------------------------------------------------------------------------------

    def declared(self, node: Node, since: int) -> Iterator[Declared]:
        """Yield the variables of a `declaration`; qualifiers are looked for from offset `since` on."""
        base = self.base_type(node)
        space = self.space(since, node.end_byte)
        is_const = any(self.text(q) == "const" for q in children(node, "type_qualifier"))
        for declarator in node.children_by_field_name("declarator"):
            named = self.declarator(declarator, base, space)
            if named is not None:
                value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
                never_changes = is_const or (space is AddressSpace.CONSTANT and not isinstance(named[1], PointerType))
                yield Declared(named[0], named[1], space, value, declarator, never_changes)

    def parameter(self, node: Node, since: int) -> Declared | None:
        """Return a `parameter_declaration` (arrays decay to pointers)."""
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
        specifier = node.child_by_field_name("type")
        has_body = specifier is not None and specifier.child_by_field_name("body") is not None
        # Those behind a closing brace are the struct's own.
        behind = node.start_byte if specifier is None or not has_body else specifier.end_byte
        first = node.child_by_field_name("declarator")
        said = self._attributes(first.start_byte if has_body and first is not None else behind, node.end_byte)
        for declarator in node.children_by_field_name("declarator"):
            named = self.declarator(declarator, base, space)
            if named is not None and builtin_type(named[0]) is None:
                name, kind = named[0], _vector(named[1], said)
                if nesting(kind) > MAX_TYPE_DEPTH:  # each typedef may add a few levels to the one before
                    kind = OpaqueType("deeply nested type", is_unknown=True)
                self.names.typedefs[name] = kind
                aligned = self._aligned(said)
                if aligned and not isinstance(kind, PointerType):
                    self.names.alignments[name] = aligned
                elif name in self.names.alignments:
                    self.names.alignments[name] = kind.align_bytes

    # --- constants ---------------------------------------------------------------------------------------

    def constant(self, node: Node, depth: int = 0) -> int | None:
        """Return the value of a constant integer expression; None where it is not one."""
        if depth > MAX_TYPE_DEPTH:
            return None
        match node.type:
            case "number_literal":
                value = number(self.text(node))
                return value if isinstance(value, int) else None
            case "char_literal":
                return character(self.text(node))
            case "identifier":
                name = self.text(node)
                return self.names.constants.get(name, INTEGER_CONSTANTS.get(name))
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
            case "comma_expression":
                last = node.child_by_field_name("right")
                return self.constant(last, depth + 1) if last else None
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
        value = without_parentheses(value) if value is not None else None
        if value is not None and value.type in ("string_literal", "concatenated_string"):
            strings = [value] if value.type == "string_literal" else list(children(value, "string_literal"))
            return sum(string_bytes(self.text(each)) - 1 for each in strings) + 1
        kind = self.names.type_named(self.text(value)) if value is not None and value.type == "identifier" else None
        return kind.size_bytes if kind else None


def _vector(kind: Type, attributes: str) -> Type:
    """`kind` as Clang's own words for vectors make it: so many elements, or so many bytes of them."""
    said = _VECTOR.search(attributes)
    if said is None or not isinstance(kind, ScalarType) or not said[2].strip().isdigit():
        return kind
    width = int(said[2]) // (kind.size_bytes if said[1] == "vector_size" else 1)
    return VectorType(kind, width) if width in (2, 3, 4, 8, 16) else kind
