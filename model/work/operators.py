"""Arithmetic on symbolic values: what an operator gives, and what it costs."""

from __future__ import annotations

from model.opencl.builtin_types import INT
from model.opencl.types import PointerType, ScalarKind, ScalarType, Type, VectorType
from model.work.counts import OpKind
from model.work.machine import Machine, is_known
from model.work.symbolic import ONE, ZERO, Expression, equal, less, negation, number, opaque, operation
from model.work.values import (
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    common_type,
    expression_of,
    is_float,
    scalar_of,
    width_of,
)

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_BOOLEAN_ATOMS = frozenset({"lt0", "eq0", "not", "and", "or"})


class Operators(Machine):
    """Unary and binary operators, conversions, truth."""

    def binary(self, operator: str, a: Value, b: Value, *, fused: bool = False) -> Value:
        """`a operator b`. `fused` says that one operand is a product, so that + and - become one fma."""
        if isinstance(a, Pointer) or isinstance(b, Pointer):
            return self._pointer_arithmetic(operator, a, b)
        kind = common_type(_type(a), _type(b))
        element, width = scalar_of(kind), width_of(kind)
        if operator in COMPARISONS:
            return self._comparison(operator, a, b, element, width)
        left, right = self.convert(a, kind), self.convert(b, kind)
        results = [
            self._one(operator, x, y, element, fused=fused)
            for x, y in zip(components(left), components(right), strict=True)
        ]
        return Vector(tuple(results), kind) if isinstance(kind, VectorType) else Scalar(results[0], element)

    def _one(self, operator: str, x: Expression, y: Expression, kind: ScalarType, *, fused: bool) -> Expression:
        if kind.kind is ScalarKind.FLOAT:
            result = _float_result(operator, x, y)
            cost = {"+": OpKind.ADD, "-": OpKind.ADD, "*": OpKind.MUL, "/": OpKind.DIVIDE}.get(operator, OpKind.ADD)
            self.cost(OpKind.FMA if fused and cost is OpKind.ADD else cost, kind, result)
            return result
        result = _integer_result(operator, x, y)
        if result not in (x, y):
            self.cost(_integer_cost(operator, x, y), kind, result)
        return result

    def _comparison(self, operator: str, a: Value, b: Value, kind: ScalarType, width: int) -> Value:
        target = VectorType(kind, width) if width > 1 else kind
        pairs = zip(components(self.convert(a, target)), components(self.convert(b, target)), strict=True)
        results = []
        for x, y in pairs:
            if kind.kind is ScalarKind.FLOAT:
                result = opaque("compare", operator, x, y)
                self.cost(OpKind.ADD, kind, result)
            else:
                result = _integer_comparison(operator, x, y)
                self.cost(OpKind.INTEGER, kind, result)
            results.append(result)
        return Vector(tuple(results), VectorType(INT, width)) if width > 1 else Scalar(results[0], INT)

    def _pointer_arithmetic(self, operator: str, a: Value, b: Value) -> Value:
        if isinstance(a, Pointer) and isinstance(b, Pointer):
            if operator == "-":
                size = max(1, a.type.pointee.size_bytes)
                return Scalar(operation("div", a.offset - b.offset, number(size)), INT)
            return Scalar(
                _integer_comparison(operator, a.offset, b.offset)
                if operator in COMPARISONS
                else self.unknown("pointers"),
                INT,
            )
        pointer, other = (a, b) if isinstance(a, Pointer) else (b, a)
        assert isinstance(pointer, Pointer)
        if operator in COMPARISONS:
            return Scalar(ONE if operator == "!=" else ZERO, INT)  # against NULL
        step = expression_of(other) * number(max(1, pointer.type.pointee.size_bytes))
        offset = pointer.offset - step if operator == "-" else pointer.offset + step
        if offset != pointer.offset and not is_known(step):
            self.cost(OpKind.INTEGER, INT, offset)
        return Pointer(pointer.memory, offset, pointer.type)

    def unary(self, operator: str, a: Value) -> Value:
        if operator == "+":
            return a
        if operator == "!":
            return Scalar(negation(self.truth(a)), INT) if not isinstance(a, Vector) else a
        kind = _type(a)
        element = scalar_of(kind)
        results = []
        for x in components(a):
            if is_float(kind):
                result = (
                    opaque("literal", f"-{x.atom.arguments[0]}")
                    if x.atom and x.atom.kind == "literal"
                    else opaque("negate", x)
                )
            else:
                result = -x if operator == "-" else -x - ONE
                self.cost(OpKind.INTEGER, element, result)
            results.append(result)
        return Vector(tuple(results), kind) if isinstance(kind, VectorType) else Scalar(results[0], element)

    def truth(self, value: Value) -> Expression:
        """1 where C takes the value for true, as a condition."""
        if isinstance(value, Pointer):
            return ONE
        if isinstance(value, Other):
            return self.unknown(value.name)
        expression = expression_of(value)
        if is_float(_type(value)):
            return opaque("compare", "!=", expression, ZERO)
        atom = expression.atom
        return expression if atom is not None and atom.kind in _BOOLEAN_ATOMS else negation(equal(expression, ZERO))

    def convert(self, value: Value, kind: Type, *, explicit: bool = False) -> Value:
        """As assignment and casts do; a scalar becomes every component of a vector."""
        source = _type(value)
        if source == kind:
            return value
        match kind:
            case ScalarType() | VectorType():
                if isinstance(value, Other):
                    return self.fresh_value(kind, f"`{value.name}`")
                if isinstance(value, Pointer):
                    return Scalar(value.offset, scalar_of(kind))
                parts = components(value)
                width = width_of(kind)
                parts = (parts * width)[:width] if len(parts) == 1 else (*parts, *(ZERO,) * width)[:width]
                element = scalar_of(kind)
                done: dict[Expression, Expression] = {}
                for part in parts:
                    if part not in done:
                        done[part] = self._convert_one(part, scalar_of(source), element)
                converted = tuple(done[p] for p in parts)
                return Vector(converted, kind) if isinstance(kind, VectorType) else Scalar(converted[0], element)
            case PointerType() if isinstance(value, Pointer):
                return Pointer(value.memory, value.offset, kind)
            case _:
                return (
                    value
                    if not isinstance(value, Scalar | Vector) or not explicit
                    else self.fresh_value(kind, "a cast")
                )

    def _convert_one(self, x: Expression, source: ScalarType, target: ScalarType) -> Expression:
        from_float, to_float = source.kind is ScalarKind.FLOAT, target.kind is ScalarKind.FLOAT
        if not from_float and not to_float:
            if target.size_bytes < min(4, source.size_bytes) and x.constant is None:
                self.cost(OpKind.CONVERT, target, opaque("narrow", target.name, x))
            return x
        if from_float and to_float and source.size_bytes == target.size_bytes:
            return x
        if x.constant is not None and to_float:
            return opaque("literal", str(x.constant))
        atom = x.atom
        if atom is not None and atom.kind == "literal":
            return x if to_float else _literal_integer(str(atom.arguments[0]), self)
        if (
            from_float
            and not to_float
            and atom is not None
            and atom.kind == "convert"
            and isinstance(atom.arguments[1], Expression)
        ):
            return atom.arguments[1]  # (int)(float)i
        result = opaque("convert", target.name, x)
        self.cost(OpKind.CONVERT, target, result)
        return result


def _literal_integer(text: str, machine: Machine) -> Expression:
    try:
        return number(int(float(text)))
    except (ValueError, OverflowError):
        return machine.unknown("a float constant")


def _type(value: Value) -> Type:
    return value.type


def components(value: Value) -> tuple[Expression, ...]:
    """The numbers in a value, one for a scalar."""
    return value.components if isinstance(value, Vector) else (expression_of(value),)


def _float_result(operator: str, x: Expression, y: Expression) -> Expression:
    if is_known(x) and is_known(y):
        return opaque("literal", f"{_text(x)}{operator}{_text(y)}"[:80])
    return opaque("float", operator, x, y)


def _text(x: Expression) -> str:
    return str(x.atom.arguments[0]) if x.atom else str(x.constant)


def _integer_result(operator: str, x: Expression, y: Expression) -> Expression:
    match operator:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "/":
            return operation("div", x, y)
        case "%":
            return operation("mod", x, y)
        case "<<":
            return operation("shl", x, y)
        case ">>":
            shift = y.constant
            return (
                operation("floordiv", x, number(1 << shift))
                if shift is not None and 0 <= shift < 63
                else operation("shr", x, y)
            )
        case "&":
            return operation("bitand", x, y)
        case "|":
            return operation("bitor", x, y)
        case "^":
            return operation("bitxor", x, y)
        case _:
            return opaque("operator", operator, x, y)


def _integer_comparison(operator: str, x: Expression, y: Expression) -> Expression:
    match operator:
        case "<":
            return less(x, y)
        case ">":
            return less(y, x)
        case "<=":
            return less(x, y + ONE)
        case ">=":
            return less(y, x + ONE)
        case "==":
            return equal(x, y)
        case _:
            return negation(equal(x, y))


def _integer_cost(operator: str, x: Expression, y: Expression) -> OpKind:
    constant = y.constant if y.constant is not None else x.constant if operator == "*" else None
    power_of_two = constant is not None and constant > 0 and constant & (constant - 1) == 0
    if operator == "*":
        return OpKind.INTEGER if power_of_two else OpKind.INT_MUL
    if operator in ("/", "%"):
        return OpKind.INTEGER if power_of_two else OpKind.INT_MUL if y.constant is not None else OpKind.INT_DIVIDE
    return OpKind.INTEGER
