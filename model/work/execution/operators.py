"""Arithmetic on symbolic values: what an operator gives, and what it costs."""

from __future__ import annotations

from model.opencl.builtin_types import INT
from model.opencl.types import AddressSpace, ArrayType, PointerType, ScalarKind, ScalarType, Type, VectorType
from model.work.counts import OpKind
from model.work.execution.costs import count_operations, is_known
from model.work.execution.findings import unknown_number
from model.work.execution.narrow_ids import HeldIds, converted_ids, hides_neighbours, lost_ids, summed_ids
from model.work.execution.narrow_values import computed_in, held_bytes, kept_bytes, result_bytes
from model.work.execution.state import ExecutionState
from model.work.execution.values import (
    Memory,
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
from model.work.execution.variables import fresh_value
from model.work.expressions.floats import factors_of, float_comparison, float_result, literal, negated
from model.work.expressions.operations import equal, less, negation, operation
from model.work.expressions.symbolic import ONE, ZERO, Expression, number, opaque
from model.work.regions.launch_arithmetic import noted

COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_FLOAT_COSTS = {"+": OpKind.ADD, "-": OpKind.ADD, "*": OpKind.MUL, "/": OpKind.DIVIDE}
_FLOAT = ScalarKind.FLOAT  # members of enumerations are slow to reach
ADDRESS_BYTES = 8
_BOOLEAN_ATOMS = frozenset({"lt0", "eq0", "not", "and", "or"})


def binary(state: ExecutionState, operator: str, a: Value, b: Value) -> Value:
    """Return `a operator b`, with the usual arithmetic conversions."""
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        return _pointer_arithmetic(state, operator, a, b)
    kind = common_type(_type(a), _type(b))
    element, width = scalar_of(kind), width_of(kind)
    if operator in COMPARISONS:
        return _comparison(state, operator, a, b, element, width)
    left, right = convert(state, a, kind), convert(state, b, kind)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        x, y = left.value, right.value
        if element.kind is _FLOAT:
            result, cost = float_result(operator, x, y), _FLOAT_COSTS.get(operator, OpKind.ADD)
        else:
            result, cost = _integer_result(operator, x, y), _integer_cost(operator, x, y)
        needed = result_bytes(operator, left, right)
        if result not in (x, y) and not (result.atom is not None and result.atom.kind == "negate"):
            count_operations(state, cost, computed_in(element, needed), result)
            _note(state, operator, element, y, result)
        ids = None
        if left.ids or right.ids:
            ids = summed_ids(operator, element, (x, left.ids), (y, right.ids), state.computed.constants)
        return Scalar(result, element, ids, kept_bytes(element, needed), _address(operator, left, right))
    pairs = list(zip(components(left), components(right), strict=True))
    if element.kind is _FLOAT:
        results = tuple(float_result(operator, x, y) for x, y in pairs)
        if any(r not in pair for r, pair in zip(results, pairs, strict=True)):
            count_operations(state, _FLOAT_COSTS.get(operator, OpKind.ADD), element, *results)
    else:
        results = tuple(_integer_result(operator, x, y) for x, y in pairs)
        if any(r not in pair for r, pair in zip(results, pairs, strict=True)):
            count_operations(state, _integer_cost(operator, *pairs[0]), element, *results)
            for (_, y), result in zip(pairs, results, strict=True):
                _note(state, operator, element, y, result)
    return Vector(results, kind) if isinstance(kind, VectorType) else Scalar(results[0], element)


def _address(operator: str, left: Scalar, right: Scalar) -> Memory | None:
    """Return the memory that a sum or difference points into, where one operand is a pointer cast to an integer."""
    if operator == "+" and (left.address is None or right.address is None):
        return left.address or right.address
    return left.address if operator == "-" and right.address is None else None


def _note(state: ExecutionState, operator: str, kind: ScalarType, right: Expression, result: Expression) -> None:
    """Keep what a launch may break: see `launch_arithmetic`."""
    if result.constant is None and kind.kind is not _FLOAT and not state.counting_disabled:
        one = noted(operator, kind, right, result)
        if one is not None:
            state.block.arithmetic.append(one._replace(line=state.line))


def fused_multiply_add(state: ExecutionState, operator: str, a: Value, b: Value, *, product: Value) -> Value:
    """Return `a + b` or `a - b` where `product` is one of the two: one fma for each component that is a product still.

    The multiplication has been counted when the product was read; nothing rests on it unless others use it.
    """
    kind = common_type(a.type, b.type)
    element = scalar_of(kind)
    left, right = convert(state, a, kind), convert(state, b, kind)
    factors = [factors_of(p) for p in components(left if product is a else right)]
    if any(f is None for f in factors):
        return binary(state, operator, a, b)
    others = components(right if product is a else left)
    results = []
    for pair, other in zip(factors, others, strict=True):
        assert pair is not None
        x, y = pair
        if operator == "-":
            added, x = (negated(other), x) if product is a else (other, negated(x))
        else:
            added = other
        results.append(opaque("float", "fma", x, y, added))
    count_operations(state, OpKind.FMA, element, *results)
    return Vector(tuple(results), kind) if isinstance(kind, VectorType) else Scalar(results[0], element)


def _comparison(state: ExecutionState, operator: str, a: Value, b: Value, kind: ScalarType, width: int) -> Value:
    target = VectorType(kind, width) if width > 1 else kind
    pairs = zip(components(convert(state, a, target)), components(convert(state, b, target)), strict=True)
    if kind.kind is _FLOAT:
        results = tuple(float_comparison(operator, x, y) for x, y in pairs)
        count_operations(state, OpKind.COMPARE, kind, *results)
    else:
        results = tuple(_integer_comparison(operator, x, y) for x, y in pairs)
        needed = max(held_bytes(a), held_bytes(b))
        count_operations(state, OpKind.INTEGER, computed_in(kind, needed), *results)
    return Vector(results, VectorType(INT, width)) if width > 1 else Scalar(results[0], INT)


def _pointer_arithmetic(state: ExecutionState, operator: str, a: Value, b: Value) -> Value:
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        if operator == "-":
            size = max(1, a.type.pointee.size_bytes)
            return Scalar(operation("div", a.offset - b.offset, number(size)), INT)
        return Scalar(
            _integer_comparison(operator, a.offset, b.offset)
            if operator in COMPARISONS
            else unknown_number(state, "pointers"),
            INT,
        )
    pointer, other = (a, b) if isinstance(a, Pointer) else (b, a)
    assert isinstance(pointer, Pointer)
    if operator in COMPARISONS:
        return Scalar(ONE if operator == "!=" else ZERO, INT)  # against NULL
    size = max(1, pointer.type.pointee.size_bytes)
    step = expression_of(other) * number(size)
    offset = pointer.offset - step if operator == "-" else pointer.offset + step
    if offset != pointer.offset and not is_known(step):
        count_operations(state, OpKind.INTEGER, INT, offset)
    return Pointer(pointer.memory, offset, pointer.type, pointer.hidden | hidden_by(other, size, pointer))


def hidden_by(index: Value, element_bytes: int, base: Pointer) -> int:
    """Return bit d where compilers may not see that addresses are consecutive in dimension d, by such an index."""
    if not isinstance(index, Scalar):
        return 0
    # Of local memory that is an argument, they know as little as of global memory.
    is_small = (
        base.type.space is AddressSpace.LOCAL and base.memory is not None and isinstance(base.memory.type, ArrayType)
    )
    return hides_neighbours(index.ids, index.type, element_bytes, is_small=is_small)


def unary(state: ExecutionState, operator: str, a: Value) -> Value:
    if operator == "+":
        return a
    if operator == "!":
        return Scalar(negation(truth_of(state, a)), INT) if not isinstance(a, Vector) else a
    kind = _type(a)
    element = scalar_of(kind)
    if is_float(kind):
        results = tuple(negated(x) for x in components(a))
    else:
        results = tuple(-x if operator == "-" else -x - ONE for x in components(a))
        count_operations(state, OpKind.INTEGER, element, *results)
    if isinstance(kind, VectorType):
        return Vector(results, kind)
    ids = a.ids if isinstance(a, Scalar) else None
    return Scalar(results[0], element, lost_ids(ids) if operator != "-" else ids)


def truth_of(state: ExecutionState, value: Value) -> Expression:
    """1 where C takes the value for true, as a condition."""
    if isinstance(value, Pointer):
        return ONE
    if isinstance(value, Other):
        return unknown_number(state, value.name)
    expression = expression_of(value)
    if is_float(_type(value)):
        return opaque("compare", "!=", expression, ZERO)
    atom = expression.atom
    return expression if atom is not None and atom.kind in _BOOLEAN_ATOMS else negation(equal(expression, ZERO))


def convert(state: ExecutionState, value: Value, kind: Type, *, explicit: bool = False) -> Value:
    """As assignment and casts do; a scalar becomes every component of a vector."""
    source = value.type
    if source is kind or source == kind:
        return value
    match kind:
        case ScalarType() | VectorType():
            if isinstance(value, Other):
                return fresh_value(state, kind, f"`{value.name}`")
            width = width_of(kind)
            if isinstance(value, Pointer):
                if isinstance(kind, VectorType):
                    return Vector((value.offset,) * width, kind)
                return Scalar(value.offset, kind, address=value.memory if _holds_addresses(kind) else None)
            parts = components(value)
            parts = (parts * width)[:width] if len(parts) == 1 else (*parts, *(ZERO,) * width)[:width]
            element = scalar_of(kind)
            converted = _converted(state, parts, scalar_of(source), element)
            if isinstance(kind, VectorType):
                return Vector(converted, kind)
            held = kept_bytes(element, held_bytes(value))
            address = value.address if isinstance(value, Scalar) and _holds_addresses(element) else None
            return Scalar(converted[0], element, _ids_after(value, scalar_of(source), element), held, address)
        case PointerType() if isinstance(value, Pointer):
            return Pointer(value.memory, value.offset, kind, value.hidden)
        case _:
            return (
                value if not isinstance(value, Scalar | Vector) or not explicit else fresh_value(state, kind, "a cast")
            )


def _holds_addresses(kind: ScalarType) -> bool:
    return kind.size_bytes == ADDRESS_BYTES and kind.kind is not _FLOAT


def _converted(
    state: ExecutionState, parts: tuple[Expression, ...], source: ScalarType, target: ScalarType
) -> tuple[Expression, ...]:
    done = {part: _convert_one(state, part, source, target) for part in dict.fromkeys(parts)}
    made = [c for p, c in done.items() if c is not p and c.atom is not None and c.atom.kind == "convert"]
    if made:
        count_operations(state, OpKind.CONVERT, target, *made)
    return tuple(done[p] for p in parts)


def _convert_one(state: ExecutionState, x: Expression, source: ScalarType, target: ScalarType) -> Expression:
    from_float, to_float = source.kind is _FLOAT, target.kind is _FLOAT
    if not from_float and not to_float:
        if target.size_bytes < min(4, source.size_bytes) and x.constant is None:
            count_operations(state, OpKind.CONVERT, target, opaque("narrow", target.name, x))
        return x
    if from_float and to_float and source.size_bytes == target.size_bytes:
        return x
    if x.constant is not None and to_float:
        return literal(x.constant)
    atom = x.atom
    if atom is not None and atom.kind == "literal":
        return x if to_float else _literal_integer(str(atom.arguments[0]), state)
    if (
        from_float
        and not to_float
        and atom is not None
        and atom.kind == "convert"
        and isinstance(atom.arguments[1], Expression)
    ):
        return atom.arguments[1]  # (int)(float)i
    return opaque("convert", target.name, x)


def _ids_after(value: Value, source: ScalarType, target: ScalarType) -> HeldIds | None:
    if not isinstance(value, Scalar) or source.kind is _FLOAT or target.kind is _FLOAT:
        return None
    return converted_ids(value.ids, value.value, source, target)


def _literal_integer(text: str, state: ExecutionState) -> Expression:
    try:
        return number(int(float(text)))
    except (ValueError, OverflowError):
        return unknown_number(state, "a float constant")


def _type(value: Value) -> Type:
    return value.type


def components(value: Value) -> tuple[Expression, ...]:
    """Return the numbers in a value, one for a scalar."""
    if isinstance(value, Scalar):
        return (value.value,)
    return value.components if isinstance(value, Vector) else (expression_of(value),)


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
