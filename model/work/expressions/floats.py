"""What floating-point operations give: named by what they are made of, folded as compilers may by default.

Without `-cl-fast-relaxed-math` a compiler keeps `x + 0.0f` (it is not `x` for -0) and `x * 0.0f`, and may drop
`x * 1.0f`, `x / 1.0f` and `x - 0.0f`. Source: LLVM's InstSimplify; IEEE 754-2008, section 6.3.
"""

from __future__ import annotations

import math
import operator as operators

from model.work.expressions.symbolic import ONE, ZERO, Expression, opaque

_FOLDED = {"+": operators.add, "-": operators.sub, "*": operators.mul, "/": operators.truediv}
_COMPARED = {
    "<": operators.lt, "<=": operators.le, ">": operators.gt, ">=": operators.ge, "==": operators.eq,
    "!=": operators.ne,
}  # fmt: skip
_HALVES = 4096.0  # multiples of 1/4096 of moderate size are exact in single precision
_ROUNDED = 1e-6  # relative: numbers nearer to each other than that may be equal, or not, in single precision


def literal(value: float) -> Expression:
    """Return a number that the compiler knows; infinite beyond all that a double holds."""
    return opaque("literal", repr(_rounded(value)))


def _rounded(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer, as large as it was typed
        return math.inf if value > 0 else -math.inf


def known_value(x: Expression) -> float | None:
    """Return the number that a float is, where the source says; None for named constants and all else."""
    if x.constant is not None:
        return _rounded(x.constant)
    atom = x.atom
    if atom is None or atom.kind != "literal":
        return None
    try:
        return float(str(atom.arguments[0]))
    except ValueError:
        return None


def float_result(operator: str, x: Expression, y: Expression) -> Expression:
    """`x operator y`."""
    a, b = known_value(x), known_value(y)
    if a is None and b is None and not (_is_literal(x) and _is_literal(y)):
        return _kept(operator, x, y)
    if a is not None and b is not None and operator in _FOLDED:
        try:
            return literal(_FOLDED[operator](a, b))
        except (OverflowError, ZeroDivisionError):
            return opaque("literal", f"{a}{operator}{b}")
    if _is_literal(x) and _is_literal(y):
        return opaque("literal", f"{_text(x)}{operator}{_text(y)}"[:80])
    match operator:
        case "*":
            for number, other in ((a, y), (b, x)):
                if number == 1:
                    return other
                if number == -1:
                    return negated(other)
        case "/":
            if b == 1:
                return x
        case "-":
            if b == 0 and math.copysign(1, b) > 0:
                return x
        case "+":
            for number, other in ((a, y), (b, x)):
                if number == 0 and math.copysign(1, number) < 0:
                    return other
    return _kept(operator, x, y)


def float_comparison(operator: str, x: Expression, y: Expression) -> Expression:
    """`x operator y`: 1 or 0 where the compiler knows both, and rounding does not decide it."""
    a, b = known_value(x), known_value(y)
    if a is None or b is None or not math.isfinite(a - b):
        return opaque("compare", operator, x, y)
    if abs(a - b) > _ROUNDED * max(abs(a), abs(b)) or (a == b and (a * _HALVES).is_integer()):
        return ONE if _COMPARED[operator](a, b) else ZERO
    return opaque("compare", operator, x, y)


def _kept(operator: str, x: Expression, y: Expression) -> Expression:
    if operator in ("+", "*") and _order(y) < _order(x):
        x, y = y, x
    return opaque("float", operator, x, y)


def negated(x: Expression) -> Expression:
    """`-x`, which costs nothing worth counting."""
    value = known_value(x)
    if value is not None:
        return literal(-value)
    atom = x.atom
    if atom is not None and atom.kind == "literal":
        return opaque("literal", f"-{atom.arguments[0]}")
    if atom is not None and atom.kind == "negate" and isinstance(atom.arguments[0], Expression):
        return atom.arguments[0]
    return opaque("negate", x)


def factors_of(x: Expression) -> tuple[Expression, Expression] | None:
    """Return the two factors of a product; None for what is none (any more)."""
    atom = x.atom
    if atom is None or atom.kind != "float" or atom.arguments[0] != "*":
        return None
    a, b = atom.arguments[1:3]
    return (a, b) if isinstance(a, Expression) and isinstance(b, Expression) else None


def _is_literal(x: Expression) -> bool:
    return x.constant is not None or (x.atom is not None and x.atom.kind == "literal")


def _order(x: Expression) -> int:
    return x.atom.serial if x.atom is not None else 0


def _text(x: Expression) -> str:
    return str(x.atom.arguments[0]) if x.atom else str(x.constant)
