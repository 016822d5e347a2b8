"""Symbolic integers agree with Python's, and intervals hold what they promise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.launch.launch import Fill
from model.work.expressions.contents import Contents
from model.work.expressions.evaluate import USES_OF_TEXT, evaluate
from model.work.expressions.functions import function_for
from model.work.expressions.intervals import interval
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import EVALUATED
from model.work.expressions.operations import operation, recomposed, substituted
from model.work.expressions.symbolic import (
    GLOBAL_ID,
    GROUP_ID,
    LOCAL_ID,
    LOCAL_SIZE,
    Atom,
    Expression,
    number,
    opaque,
    symbol,
)
from model.work.walk.range_splits import stairs

NAMES = ("a", "b", "c")
SYMBOLS = {name: symbol(name) for name in NAMES}
ATOMS = {name: Atom.of("symbol", name) for name in NAMES}
NOTHING = LaunchBindings({}, {}, {})


@dataclass(frozen=True)
class Tree:
    """An expression to be built twice: symbolically and in Python's integers. A leaf has no inner trees."""

    kind: str
    inner: tuple[Tree, ...] = ()

    def symbolic(self) -> Expression:
        parts = [tree.symbolic() for tree in self.inner]
        match self.kind, parts:
            case "+", [x, y]:
                return x + y
            case "-", [x, y]:
                return x - y
            case "*", [x, y]:
                return x * y
            case kind, []:
                return SYMBOLS[kind] if kind in SYMBOLS else number(int(kind))
            case kind, _:
                return operation(kind, *parts)

    def value(self, values: dict[str, int]) -> int | None:
        parts = [tree.value(values) for tree in self.inner]
        if None in parts:
            return None
        match self.kind, parts:
            case "+", [x, y]:
                return x + y
            case "-", [x, y]:
                return x - y
            case "*", [x, y]:
                return x * y
            case kind, []:
                return values[kind] if kind in values else int(kind)
            case kind, _:
                result = EVALUATED[kind](*parts)
                return None if result is None else int(result)


_TWO = ["+", "-", "*", "+", "-", "*", "div", "mod", "floordiv", "ceildiv", "floormod", "min", "max", "and", "or",
        "bitand", "bitor", "bitxor"]  # fmt: skip
_ONE = ["abs", "lt0", "eq0", "not"]
_LEAVES = st.sampled_from([*NAMES, *NAMES, "0", "1", "-1", "2", "3", "7", "8", "64"]).map(Tree)
TREES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(_TWO), inner, inner).map(lambda t: Tree(t[0], t[1:])),
        st.tuples(st.sampled_from(_ONE), inner).map(lambda t: Tree(t[0], t[1:])),
        st.tuples(inner, inner, inner).map(lambda t: Tree("select", t)),
    ),
    max_leaves=10,
)
VALUES = st.fixed_dictionaries({name: st.integers(-50, 50) for name in NAMES})


def evaluated(expression: Expression, values: dict[str, int]) -> int | float | None:
    return evaluate(expression, NOTHING, {ATOMS[name]: value for name, value in values.items()})


@settings(max_examples=400, deadline=None)
@given(TREES, VALUES)
def test_an_expression_has_the_value_of_what_it_was_built_from(tree: Tree, values: dict[str, int]) -> None:
    wanted = tree.value(values)
    assume(wanted is not None)
    assert evaluated(tree.symbolic(), values) == wanted


@settings(max_examples=200, deadline=None)
@given(TREES, st.lists(VALUES, min_size=2, max_size=4))
def test_an_expression_that_is_asked_for_often_keeps_its_values(tree: Tree, values: list[dict[str, int]]) -> None:
    expression = tree.symbolic()
    before = [evaluated(expression, each) for each in values]
    for _ in range(2 * USES_OF_TEXT):
        evaluated(expression, values[0])
    assert [evaluated(expression, each) for each in values] == before


@settings(max_examples=300, deadline=None)
@given(TREES, TREES, VALUES)
def test_substituting_is_evaluating_at_the_substitute(outer: Tree, inner: Tree, values: dict[str, int]) -> None:
    at = inner.value(values)
    assume(at is not None)
    wanted = outer.value({**values, "a": at or 0})
    assume(wanted is not None)
    assert evaluated(substituted(outer.symbolic(), {ATOMS["a"]: inner.symbolic()}), values) == wanted


@settings(max_examples=300, deadline=None)
@given(TREES, TREES, st.integers(-3, 3), TREES, VALUES)
def test_a_sum_put_together_again_has_its_value(x: Tree, y: Tree, times: int, z: Tree, values: dict[str, int]) -> None:
    taken, by = x.symbolic(), y.symbolic()
    parts = operation("mod", taken, by) + operation("div", taken, by) * by
    total = parts * number(times) + z.symbolic()
    wanted = evaluated(total, values)
    assume(wanted is not None)
    assert evaluated(recomposed(total), values) == wanted


@given(TREES, TREES, TREES)
def test_order_and_grouping_of_sums_and_products_do_not_matter(x: Tree, y: Tree, z: Tree) -> None:
    a, b, c = x.symbolic(), y.symbolic(), z.symbolic()
    assert a + b == b + a
    if max(len(e.terms) for e in (a, b, c)) <= 3:
        assert a * (b + c) == a * b + a * c
        assert (a + b) + c == a + (b + c)


RANGES = st.fixed_dictionaries({name: st.tuples(st.integers(-20, 20), st.integers(1, 12)) for name in NAMES})


@settings(max_examples=500, deadline=None)
@given(TREES, RANGES, st.tuples(*[st.floats(0, 0.999)] * 3))
def test_an_interval_holds_every_value(
    tree: Tree, ranges: dict[str, tuple[int, int]], where: tuple[float, float, float]
) -> None:
    expression = tree.symbolic()
    spans = {ATOMS[name]: (low, low + length) for name, (low, length) in ranges.items()}
    bounds = interval(expression, NOTHING, {}, spans)
    values = {n: low + int(share * length) for (n, (low, length)), share in zip(ranges.items(), where, strict=True)}
    value = evaluated(expression, values)
    if bounds is not None and value is not None and tree.value(values) is not None:
        assert bounds[0] <= value <= bounds[1]


@given(st.integers(0, 20), st.integers(1, 9))
def test_an_interval_of_a_doubling_variable_holds_its_values(rounds: int, start: int) -> None:
    variable, counter = Atom.of("symbol", "phi"), symbol("round")
    after = Expression({(variable,): 2})
    doubled = operation("iterate", counter, Expression({(variable,): 1}), number(start), after)
    ranges = {Atom.of("symbol", "round"): (0, rounds + 1)}
    bounds = interval(doubled, NOTHING, {}, ranges)
    assert bounds is None or bounds[0] <= start <= start * 2**rounds <= bounds[1]


def test_group_and_local_id_become_the_global_id() -> None:
    group, lane, size, whole = (Expression({(atoms[0],): 1}) for atoms in (GROUP_ID, LOCAL_ID, LOCAL_SIZE, GLOBAL_ID))
    assert group * size + lane == whole
    assert number(4) * (group * size + lane) + number(3) == number(4) * whole + number(3)


@given(
    st.integers(-100, 100), st.integers(1, 300), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 5)), max_size=3)
)
def test_stairs_give_every_value_where_they_give_any(low: int, length: int, steps: list[tuple[int, int]]) -> None:
    def at(x: int) -> int:
        return sum(height for edge, height in steps if x >= low + edge)

    found = stairs(at, low, low + length)
    if found is not None:
        assert [value for start, end, value in found for _ in range(start, end)] == [
            at(x) for x in range(low, low + length)
        ]


def test_a_fill_tells_what_to_expect_at_an_index() -> None:
    rows = Contents(101, 4, Fill("csr_rows", (1600,)))
    assert (rows.mean_at(0), rows.mean_at(100)) == (0, 1600)
    assert Contents(10, 4, Fill("randint", (0, 8))).bounds == (0, 7)
    assert Contents(10, 4, None).mean_at(3) is None
    assert Contents(101, 4, Fill("csr_rows", (1600, 2.0))).mean_at(50) == 800
    assert Contents(100, 4, Fill("sorted", (0, 1000))).mean_at(50) == pytest.approx(504.5)
    assert Contents(100, 4, Fill("clustered", (0, 1000, 5))).bounds == (0, 999)
    assert Contents(100, 4, Fill("skewed", (0, 1000)), is_whole=False).bounds == (0, 1000)
    assert Contents(100, 4, Fill("skewed", (0, 1000))).mean_at(7) == pytest.approx(1000 / math.log(1001) - 1.5)


_NUMBERS = ("sqrt", "floor", "fabs", "exp", "rint")
_FLOATS = st.recursive(
    st.sampled_from(["a", "b", "c", "0.5", "-2.0", "1e300"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "/", "<", "fmin", "fmax", "min", "max"]), inner, inner),
        st.tuples(st.sampled_from([*_NUMBERS, "negate", "convert"]), inner),
        st.tuples(st.just("fma"), inner, inner, inner),
    ),
    max_leaves=8,
)


def _of_floats(tree: Any) -> Expression:
    if isinstance(tree, str):
        return SYMBOLS.get(tree) or opaque("literal", tree)
    word, *inner = tree
    parts = [_of_floats(each) for each in inner]
    if word == "negate":
        return opaque(word, *parts)
    if word == "convert":
        return opaque(word, "int", *parts)
    kind = "compare" if word == "<" else "float" if word in ("+", "-", "*", "/", "fma") else "call"
    return opaque(kind, word, *parts)


@settings(max_examples=300, deadline=None)
@given(_FLOATS, st.fixed_dictionaries({name: st.integers(-9, 9) | st.floats(-9, 9) for name in NAMES}))
def test_a_function_made_of_floats_says_what_reading_them_says(tree: Any, values: dict[str, float]) -> None:
    expression = _of_floats(tree)
    point = {ATOMS[name]: value for name, value in values.items()}
    read = Expression(dict(expression.terms))  # of its own: what is asked for often becomes a function
    expected = evaluate(read, NOTHING, point)
    found = function_for(expression, _by_reading)(point, NOTHING)
    assert type(found) is type(expected)
    assert found == expected or (expected is not None and math.isnan(expected))  # 0.0 and -0.0 are the same here


def _by_reading(atom: Atom, known: LaunchBindings, point: Mapping[Atom, float]) -> int | float | None:
    return evaluate(Expression({(atom,): 1}), known, point)
