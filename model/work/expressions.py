"""Expressions of the source -> symbolic values, counting what they cost on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tree_sitter import Node

from model.opencl.builtin_types import DOUBLE, FLOAT, INT, LONG
from model.opencl.builtins import FLOAT_CONSTANTS, INTEGER_CONSTANTS
from model.opencl.declarations import Declared
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
from model.work.builder import Builder, PendingBranch, cheap_enough
from model.work.counts import OpKind
from model.work.fused_integers import operations_saved
from model.work.literals import Literals
from model.work.operations import operation
from model.work.operators import components
from model.work.places import Location, Slot
from model.work.swizzle import picked, swizzled
from model.work.symbolic import ZERO, Expression, number, opaque
from model.work.tables import completed_type, table_of
from model.work.values import (
    UNKNOWN_TYPE,
    Aggregate,
    Memory,
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    common_type,
    is_float,
    numbers_in,
    scalar_of,
)

_CAST_LIKE = frozenset({"+", "-", "*", "&"})


class Expressions(Literals):
    """`value(node)` for every kind of expression node; calls are in `calls`."""

    def value(self, node: Node) -> Value:
        self.at(node)
        match node.type:
            case "identifier":
                return self._name(node)
            case "number_literal":
                return self.number_literal(node)
            case "char_literal":
                return Scalar(number(self.reader.constant(node) or 0), INT)
            case "true" | "false":
                return Scalar(number(int(node.type == "true")), INT)
            case "null":
                return Scalar(ZERO, INT)
            case "parenthesized_expression":
                return self.value(node.named_children[0]) if node.named_children else self.nothing()
            case "compound_statement":
                return self.block_value(node)
            case "string_literal" | "concatenated_string":
                return Other("", OpaqueType("string"))
            case "comma_expression":
                for child in node.named_children[:-1]:
                    self.value(child)
                return self.value(node.named_children[-1])
            case "binary_expression":
                return self._binary(node)
            case "unary_expression":
                argument = node.child_by_field_name("argument")
                return self.unary(self.reader.operator(node), self.value(argument)) if argument else self.nothing()
            case "pointer_expression":
                return self._pointer(node)
            case "update_expression":
                return self._update(node)
            case "assignment_expression":
                return self._assignment(node)
            case "conditional_expression":
                return self._conditional(node)
            case "cast_expression":
                kind, inner = node.child_by_field_name("type"), node.child_by_field_name("value")
                return (
                    self.cast(self.reader.type_descriptor(kind), self.value(inner))
                    if kind and inner
                    else self.nothing()
                )
            case "call_expression":
                return self.call(node)
            case "subscript_expression" | "field_expression":
                return self._member(node)
            case "sizeof_expression" | "alignof_expression":
                return self.size_of(node)
            case "compound_literal_expression":
                return self.compound_literal(node)
            case "initializer_list":
                return self.braced(node, UNKNOWN_TYPE)
            case _:
                return self.nothing(node.type)

    def call(self, node: Node) -> Value:
        raise NotImplementedError

    def block_value(self, node: Node) -> Value:
        raise NotImplementedError

    # --- leaves ------------------------------------------------------------------------------------------

    def _name(self, node: Node) -> Value:
        name = self.reader.text(node)
        key = self.lookup(name)
        if key is not None:
            held = self.held(key)
            if isinstance(held, Pointer) and not isinstance(self.types[key], PointerType | ArrayType):
                place = self.place(node)  # a number or a struct in local memory
                return self.load(place) if place is not None else held
            return held
        if name in self.reader.names.constants:
            return Scalar(number(self.reader.names.constants[name]), INT)
        if name in INTEGER_CONSTANTS:
            value = INTEGER_CONSTANTS[name]
            return Scalar(number(value), INT if abs(value) < 1 << 31 else LONG)
        if name in FLOAT_CONSTANTS:
            return Scalar(
                opaque("literal", name),
                DOUBLE if name.startswith(("M_", "DBL")) and not name.endswith(("_F", "_H")) else FLOAT,
            )
        declared = self.program.globals.get(name)
        if declared is not None:
            return self._global(declared)
        if not node.text:
            return self.nothing()
        return Scalar(self.free_name(name), INT)

    def _global(self, declared: Declared) -> Value:
        """Return a variable at program scope; what a constant one holds is read from its initialiser."""
        name, kind, space = declared.name, declared.type, declared.space or AddressSpace.CONSTANT
        if isinstance(kind, ArrayType):
            kind = completed_type(kind, declared.value)
            if name not in self.memories:
                self.memories[name] = Memory(name, space, kind)
                if space is AddressSpace.CONSTANT and declared.value is not None:
                    self._read_table(name, kind, declared.value)
            return Pointer(self.memories[name], ZERO, PointerType(kind.element, space))
        if isinstance(kind, StructType):
            return self.load(self.global_place(declared))
        if isinstance(kind, ScalarType):
            return Scalar(opaque("literal", name) if is_float(kind) else opaque("load", name, ZERO, 0), kind)
        return self.fresh_value(kind, f"`{name}`", name)

    def global_place(self, declared: Declared) -> Location:
        name, kind, space = declared.name, declared.type, declared.space or AddressSpace.CONSTANT
        if name not in self.memories:
            self.memories[name] = Memory(name, space, kind)
            if space is AddressSpace.CONSTANT and declared.value is not None:
                self._read_table(name, kind, declared.value)
        return Location(self.memories[name], ZERO, kind, space=space)

    def _read_table(self, name: str, kind: Type, value: Node) -> None:
        reader, self.reader = self.reader, self.program.reader_of_global(name, self.names)
        self.dry += 1
        table = table_of(value, kind, self.initial, is_whole=True)
        self.dry -= 1
        self.reader = reader
        if table is not None:
            self.tables[name] = table

    def initial(self, node: Node, kind: ScalarType) -> Expression:
        """Return an initialiser as a value of type `kind`."""
        return components(self.convert(self.value(node), kind))[0]

    # --- operators ---------------------------------------------------------------------------------------

    def _binary(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = self.reader.operator(node)
        if left is None or right is None:
            return self.nothing()
        kind = self.type_in_parentheses(left)
        if kind is not None and operator in _CAST_LIKE:
            # `(uint) - x` is a cast of `-x`, which the grammar cannot know.
            return self.cast(kind, self.unary(operator, self.value(right)))
        if operator in ("&&", "||"):
            return self._short_circuit(node, operator, left, right)
        fused = self._fused_integers(node)
        counted, block = len(self.block.ops), self.block
        a, b = self.value(left), self.value(right)
        self.at(node)
        if fused and not is_float(a.type) and not is_float(b.type):
            result = self.binary(operator, a, b)
            block.fused += max(0, min(fused, len(block.ops) - counted - 1)) * max(1, result.type.size_bytes // 4)
            return result
        if operator in ("+", "-") and (is_float(a.type) or is_float(b.type)):
            # By default OpenCL C contracts within an expression; of two products the left one is fused.
            product = a if _is_product(left) and is_float(a.type) else b if _is_product(right) else None
            if product is not None and is_float(product.type):
                return self.fused(operator, a, b, product=product)
        return self.binary(operator, a, b)

    def _fused_integers(self, node: Node) -> int:
        """Return how many operations of the tree that begins here GPUs fuse with others; 0 within a tree."""
        known = self.fused_at.get(node.id)
        if known is None:
            known, inner = operations_saved(node)
            self.fused_at |= {node.id: known, **dict.fromkeys(inner, 0)}
        return known

    def _short_circuit(self, node: Node, operator: str, left: Node, right: Node) -> Value:
        first = self.truth(self.value(left))
        if first.constant is not None and bool(first.constant) == (operator == "||"):
            return Scalar(number(int(operator == "||")), INT)
        with self.aside() as side:
            second = self.truth(self.value(right))
        self.join(node, first if operator == "&&" else operation("not", first), side, self.new_block())
        result = operation("and" if operator == "&&" else "or", first, second)
        self.cost(OpKind.INTEGER, INT, result)
        return Scalar(result, INT)

    def _conditional(self, node: Node) -> Value:
        parts = [node.child_by_field_name(f) for f in ("condition", "consequence", "alternative")]
        if parts[0] is None or parts[1] is None or parts[2] is None:
            return self.nothing()
        chooser = self.value(parts[0])
        condition = self.truth(chooser)
        if condition.constant is not None:
            return self.value(parts[1] if condition.constant else parts[2])
        with self.aside() as yes:
            a = self.value(parts[1])
        with self.aside() as no:
            b = self.value(parts[2])
        self.join(node, condition, yes, no)
        return self.selected(condition, a, b)

    def selected(self, condition: Expression, a: Value, b: Value) -> Value:
        """`condition ? a : b`, as one value."""
        if isinstance(a, Pointer) and isinstance(b, Pointer):
            return Pointer(
                a.memory if a.memory == b.memory else None, operation("select", condition, a.offset, b.offset), a.type
            )
        if isinstance(a, Aggregate) and isinstance(b, Aggregate) and a.type == b.type:
            yes, no = dict(self.whole_struct(a).members), dict(self.whole_struct(b).members)
            for name, x in yes.items():
                no[name] = x if x == no.get(name, x) else self.selected(condition, x, no[name])
            return Aggregate(tuple(no.items()), a.type)
        if not isinstance(a, Scalar | Vector) or not isinstance(b, Scalar | Vector):
            return a
        kind = common_type(a.type, b.type)
        left, right = self.convert(a, kind), self.convert(b, kind)
        parts = tuple(
            operation("select", condition, x, y) for x, y in zip(components(left), components(right), strict=True)
        )
        self.cost(OpKind.INTEGER, scalar_of(kind), *parts)
        return Vector(parts, kind) if isinstance(kind, VectorType) else Scalar(parts[0], scalar_of(kind))

    def either(self, condition: Expression, a: Value, b: Value) -> Value:
        """`a` where `condition` holds, else `b`; as control flow merges them."""
        match a, b:
            case Scalar(), Scalar():
                return Scalar(operation("select", condition, a.value, b.value), a.type)
            case Vector(), Vector() if a.type == b.type:
                parts = (operation("select", condition, x, y) for x, y in zip(a.components, b.components, strict=True))
                return Vector(tuple(parts), a.type)
            case Pointer(), Pointer():
                memory = a.memory if a.memory == b.memory else None
                return Pointer(memory, operation("select", condition, a.offset, b.offset), a.type)
            case Aggregate(), Aggregate() if a.type == b.type:
                return self.selected(condition, a, b)
            case _:
                rests = (*numbers_in(a), *numbers_in(b))
                return self.fresh_value(a.type, "a value that a branch decides", rests=rests)

    def merged(self, condition: Expression, yes: dict[int, Value], no: dict[int, Value]) -> dict[int, Value]:
        """Return what variables hold after both ways."""
        merged = dict(no)
        for key, a in yes.items():
            b = no.get(key)
            if b is not None and a is not b and a != b:
                merged[key] = self.either(condition, a, b)
        return merged

    @contextmanager
    def aside(self) -> Iterator[Builder]:
        """Count into a block of its own, which may or may not run."""
        side, block, mark = self.new_block(), self.block, len(self.found)
        self.block = side
        try:
            yield side
        finally:
            self.block = block
            self.lose(mark, block.level)

    def join(self, node: Node, condition: Expression, yes: Builder, no: Builder) -> None:
        """Cheap arithmetic is computed anyway and selected from; all else runs where the condition holds."""
        if cheap_enough(yes, no):
            self.block.ops += yes.ops + no.ops
            for op in yes.ops + no.ops:
                self.find(op.results, self.block)
        else:
            share = self.share_of(condition)
            self.block.inner.append(PendingBranch(condition, yes, no, self.line, share, self.site(node)))

    # --- places ------------------------------------------------------------------------------------------

    def _pointer(self, node: Node) -> Value:
        argument = node.child_by_field_name("argument")
        if argument is None:
            return self.nothing()
        if self.reader.operator(node) == "*":
            place = self.place(node)
            return self.load(place) if place is not None else self.nothing()
        return self.address_of(argument)

    def address_of(self, node: Node) -> Value:
        place = self.place(node)
        if isinstance(place, Slot):
            return self.pointer_to(place)
        if isinstance(place, Location):
            kind = place.type.element if isinstance(place.type, VectorType) and place.swizzle else place.type
            space = place.memory.space if place.memory else AddressSpace.PRIVATE
            return Pointer(place.memory, place.offset, PointerType(kind, space))
        value = self.value(node)
        return (
            value
            if isinstance(value, Pointer)
            else Pointer(None, self.unknown("an address"), PointerType(value.type, AddressSpace.PRIVATE))
        )

    def _member(self, node: Node) -> Value:
        place = self.place(node)
        if place is not None:
            return self.load(place)
        argument = node.child_by_field_name("argument")
        base = self.value(argument) if argument else self.nothing()
        field = node.child_by_field_name("field")
        if field is not None and isinstance(base, Vector):
            swizzle = swizzled(self.reader.text(field), base.type.width)
            return picked(base, swizzle) if swizzle else self.nothing()
        if field is not None and isinstance(base, Aggregate):
            kind = base.type.member(self.reader.text(field)) or UNKNOWN_TYPE
            return base.member(self.reader.text(field)) or self.fresh_value(kind, "a member")
        if isinstance(base, Vector):
            index = node.child_by_field_name("index")
            if index is not None:
                self.value(index)
            return Scalar(self.unknown("a component"), base.type.element)
        return Other("", UNKNOWN_TYPE) if isinstance(base, Other) else self.nothing()

    def _update(self, node: Node) -> Value:
        argument = node.child_by_field_name("argument")
        place = self.place(argument) if argument else None
        if place is None:
            return self.nothing()
        before = self.load(place)
        after = self.binary(self.reader.operator(node)[0], before, Scalar(number(1), INT))
        self.store(place, after)
        operator = node.child_by_field_name("operator")
        postfix = operator is not None and argument is not None and operator.start_byte >= argument.end_byte
        return before if postfix else after

    def _assignment(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self.nothing()
        operator = self.reader.operator(node)
        place = self.place(left)
        value = (
            self.value(right)
            if right.type != "initializer_list"
            else self.braced(right, place.type if place else UNKNOWN_TYPE)
        )
        self.at(node)
        if place is None:
            return value
        if operator != "=":
            before = self.load(place)
            fuses = operator in ("+=", "-=") and _is_product(right) and is_float(value.type)
            value = (
                self.fused(operator[:-1], before, value, product=value)
                if fuses
                else self.binary(operator[:-1], before, value)
            )
        self.store(place, value)
        return value


def _is_product(node: Node) -> bool:
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    operator = node.child_by_field_name("operator")
    return node.type == "binary_expression" and operator is not None and operator.type == "*"
