"""Operations on integer expressions, folded where they can be, and comparisons made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.work.expressions.numbers import EVALUATED
from model.work.expressions.symbolic import ONE, ZERO, Atom, Expression, number, opaque

_WHOLE_OF = {"mod": "div", "floormod": "floordiv"}  # what is left of a division, and the division
BOOLEAN_KINDS = frozenset({"lt0", "eq0", "not", "and", "or", "compare"})


def operation(kind: str, *arguments: Expression | str | int) -> Expression:
    """`kind` applied to `arguments`, simplified where that is plain."""
    expressions = [a for a in arguments if isinstance(a, Expression)]
    function = EVALUATED.get(kind)
    if function is not None and len(expressions) == len(arguments):
        constants = [e.constant for e in expressions]
        known = [c for c in constants if c is not None]
        if len(known) == len(constants):
            value = function(*known)
            if isinstance(value, int):
                return number(value)
        simple = _simplified(kind, expressions, constants)
        if simple is not None:
            return simple
    return opaque(kind, *arguments)


def _simplified(kind: str, a: list[Expression], constants: list[int | None]) -> Expression | None:
    match kind:
        case "div" | "floordiv" | "ceildiv":
            if constants[1] == 1:
                return a[0]
            divisor = constants[1]
            if divisor and a[0].terms and all(c % divisor == 0 for _, c in a[0].terms):
                return Expression({m: c // divisor for m, c in a[0].terms})
            if a[0] == a[1]:
                return ONE
            if (atom := a[1].atom) is not None and a[0].terms and all(atom in m for m, _ in a[0].terms):
                return _divided(a[0], atom)
        case "mod" | "floormod":
            if constants[1] == 1:
                return ZERO
        case "min" | "max":
            if a[0] == a[1]:
                return a[0]
            difference = (a[0] - a[1]).constant
            if difference is not None:
                return a[0] if (difference < 0) == (kind == "min") else a[1]
        case "select":
            if constants[0] is not None:
                return a[1] if constants[0] else a[2]
            if a[1] == a[2]:
                return a[1]
        case "and":
            if 0 in constants:
                return ZERO
            if constants[0] is not None and _is_boolean(a[1]):
                return a[1]
            if constants[1] is not None and _is_boolean(a[0]):
                return a[0]
        case "or":
            if constants[0] == 0 and _is_boolean(a[1]):
                return a[1]
            if constants[1] == 0 and _is_boolean(a[0]):
                return a[0]
        case "not":
            if (atom := a[0].atom) is not None and atom.kind == "not" and isinstance(atom.arguments[0], Expression):
                return atom.arguments[0] if _is_boolean(atom.arguments[0]) else None
        case "bitor" | "bitxor" if a[0] == a[1]:
            return a[0] if kind == "bitor" else ZERO
        case "bitor" | "bitxor" | "shl" | "shr" if constants[1] == 0:
            return a[0]
        case "bitor" | "bitxor" if constants[0] == 0:
            return a[1]
        case "bitand":
            if a[0] == a[1] or 0 in constants:
                return a[0] if a[0] == a[1] else ZERO
            for value, other in ((constants[1], a[0]), (constants[0], a[1])):
                if value is not None and value > 0 and value & (value + 1) == 0:
                    return opaque("floormod", other, number(value + 1))
        case "shl":
            if constants[1] is not None and 0 <= constants[1] < 64:
                return a[0] * number(1 << constants[1])
    return None


def _is_boolean(expression: Expression) -> bool:
    """Return whether it is 0 or 1 for sure."""
    atom = expression.atom
    return expression.constant in {0, 1} or (atom is not None and atom.kind in BOOLEAN_KINDS)


def _divided(expression: Expression, atom: Atom) -> Expression:
    return Expression({m[: m.index(atom)] + m[m.index(atom) + 1 :]: c for m, c in expression.terms})


def division_of(remainder: Atom) -> Atom | None:
    """Return `a / b` for the atom `a % b`, and None for any other atom."""
    whole = _WHOLE_OF.get(remainder.kind)
    return operation(whole, *remainder.operands).atom if whole is not None else None


def recomposed(total: Expression) -> Expression:
    """Replace `x / y * y + x % y` in a sum by `x`, as LLVM's InstCombine does with an index put together again."""
    for monomial, coefficient in total.terms:
        for at, atom in enumerate(monomial):
            kind = _WHOLE_OF.get(atom.kind)
            if kind is not None:
                x, y = atom.operands
                factor = Expression({monomial[:at] + monomial[at + 1 :]: coefficient})
                whole = operation(kind, x, y) * y * factor
                if whole.terms and set(whole.terms) <= set(total.terms):
                    rest = Expression({m: c for m, c in total.terms if m != monomial}) - whole
                    return recomposed(rest + x * factor)
    return total


def substituted(expression: Expression, values: Mapping[Atom, Expression]) -> Expression:
    """With symbols replaced."""
    if not expression.leaves & values.keys():
        return expression
    total = ZERO
    for monomial, coefficient in expression.terms:
        product = number(coefficient)
        for atom in monomial:
            product = product * _replaced(atom, values)
        total = total + product
    return total


def _replaced(atom: Atom, values: Mapping[Atom, Expression]) -> Expression:
    if atom in values:
        return values[atom]
    if atom.kind != "unknown" and atom.leaves & values.keys():
        arguments = (substituted(a, values) if isinstance(a, Expression) else a for a in atom.arguments)
        return operation(atom.kind, *arguments)
    return Expression({(atom,): 1})


def less(a: Expression, b: Expression) -> Expression:
    """1 where a < b, else 0."""
    return operation("lt0", a - b)


def equal(a: Expression, b: Expression) -> Expression:
    return operation("eq0", a - b)


def negation(a: Expression) -> Expression:
    return operation("not", a)


def either_holds(a: Expression, b: Expression) -> Expression:
    if a.constant == 0:
        return b
    return a if b.constant == 0 else operation("or", a, b)


def any_of(conditions: Iterable[Expression]) -> Expression:
    whole = ZERO
    for condition in conditions:
        whole = either_holds(whole, condition)
    return whole
