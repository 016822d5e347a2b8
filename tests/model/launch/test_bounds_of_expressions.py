"""Bounds hold every value that an expression can have, and no number is too large to be bounded."""

from __future__ import annotations

import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.launch.bounds import TOP, Bounds, BoundsOf, Scope, times
from model.work.expressions.evaluate import evaluate
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.operations import operation
from model.work.expressions.symbolic import Atom, Expression, number, opaque, symbol

NAMES = ("a", "b", "c")
NOTHING = LaunchBindings({}, {}, {})
_TWO = ["div", "mod", "floordiv", "ceildiv", "floormod", "min", "max", "bitand", "bitor", "bitxor", "shl", "shr"]
_OF_FLOATS = ["+", "-", "*", "/"]
_CALLS = ["fabs", "floor", "ceil", "trunc", "rint", "round", "sqrt", "exp", "log2", "atan", "sin"]
_PAIRED = ["fmin", "fmax", "atan2"]


def _grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda t: t[0] + t[1]),
        two.map(lambda t: t[0] - t[1]),
        two.map(lambda t: t[0] * t[1]),
        st.tuples(st.sampled_from(_TWO), inner, inner).map(lambda t: operation(*t)),
        st.tuples(inner, inner, inner).map(lambda t: operation("select", *t)),
        st.tuples(inner, inner, inner).map(lambda t: opaque("call", "clamp", *t)),
        st.tuples(st.sampled_from(["abs", "lt0", "eq0", "not"]), inner).map(lambda t: operation(*t)),
        st.tuples(st.sampled_from(_OF_FLOATS), inner, inner).map(lambda t: opaque("float", *t)),
        st.tuples(st.sampled_from(_CALLS), inner).map(lambda t: opaque("call", *t)),
        st.tuples(st.sampled_from(_PAIRED), inner, inner).map(lambda t: opaque("call", *t)),
        inner.map(lambda e: opaque("convert", "int", e)),
    )


_LEAVES = st.sampled_from([*map(symbol, NAMES), *map(symbol, NAMES), *map(number, (-3, 0, 1, 2, 8, 49))])
EXPRESSIONS = st.recursive(_LEAVES, _grown, max_leaves=8)
RANGES = st.fixed_dictionaries({name: st.tuples(st.integers(-60, 60), st.integers(0, 40)) for name in NAMES})
ENDS = st.one_of(
    st.integers(-(2**300), 2**300), st.floats(allow_nan=False), st.sampled_from([0, 1, -1, 2**63, 2**256, -(2**256)])
)
HUGE = st.tuples(ENDS, ENDS).map(lambda ends: (min(ends), max(ends)))


def bounds_of(expression: Expression, said: dict[str, Bounds]) -> Bounds:
    found = BoundsOf(NOTHING, lambda _: TOP)
    return found.expression(expression, Scope({Atom.of("symbol", name): bounds for name, bounds in said.items()}))


def is_within(value: Value, bounds: Bounds) -> bool:
    return bounds[0] <= value <= bounds[1]


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, RANGES, st.tuples(*[st.sampled_from([0.0, 0.3, 0.7, 1.0])] * 3))
def test_bounds_hold_every_value(
    expression: Expression, ranges: dict[str, tuple[int, int]], where: tuple[float, float, float]
) -> None:
    point = {
        Atom.of("symbol", name): low + round(share * length)
        for (name, (low, length)), share in zip(ranges.items(), where, strict=True)
    }
    value = evaluate(expression, NOTHING, point)
    assume(value is not None)
    assert value is not None
    assert is_within(value, bounds_of(expression, {name: (low, low + n) for name, (low, n) in ranges.items()}))


def test_a_quotient_reaches_what_division_gives_and_not_what_the_reciprocal_does() -> None:
    quotient = opaque("convert", "int", opaque("float", "/", symbol("a"), symbol("b")))
    assert bounds_of(quotient, {"a": (0, 49), "b": (49, 49)}) == (0, 1)  # 49 * (1 / 49) is less than 1


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, st.fixed_dictionaries(dict.fromkeys(NAMES, HUGE)), st.integers(-(2**1100), 2**1100))
def test_no_number_is_too_large_to_be_bounded(expression: Expression, said: dict[str, Bounds], factor: int) -> None:
    for one in (expression, Expression({monomial: c * factor for monomial, c in expression.terms})):
        low, high = bounds_of(one, said)
        assert low <= high
        assert not math.isnan(low)
        assert not math.isnan(high)


_INTEGERS = st.integers(-(10**6), 10**6)


@given(st.tuples(_INTEGERS, _INTEGERS), st.tuples(_INTEGERS, _INTEGERS), _INTEGERS, _INTEGERS)
def test_a_product_of_ranges_holds_every_product(x: Bounds, y: Bounds, a: int, b: int) -> None:
    found = times((min(*x, a), max(*x, a)), (min(*y, b), max(*y, b)))
    assert is_within(a * b, found)


@given(HUGE)
def test_nothing_times_anything_is_nothing(x: Bounds) -> None:
    assert times((0, 0), x) == times(x, (0, 0)) == (0, 0)
