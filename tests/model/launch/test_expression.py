from __future__ import annotations

import ast
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.expression import Expression, ExpressionError, parse_expression

NAMES = {"n": 10, "p.width": 3, "zero": 0}


def value(text: str) -> int | float:
    return parse_expression(text).evaluate(NAMES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("7//2 + 7%2", 4),
        ("-7//2", -4),
        ("8/2", 4),
        ("0x10", 16),
        ("0xFFFFFFFFFFFFFFFFul", 2**64 - 1),
        ("1.5f*2", 3.0),
        ("1e3", 1000.0),
        ("min(n, 4, 7)", 4),
        ("max(n, 4)", 10),
        ("ceil_div(n, 4)", 3),
        ("p.width * n", 30),
        ("--n", 10),
    ],
)
def test_arithmetic_means_what_it_means_in_python(text: str, expected: int | float) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("9**9**9", "more than 64 bits"),
        ("2**64", "more than 64 bits"),
        ("-2**63-1", "more than 64 bits"),
        ("9" * 900, "more than 64 bits"),
        ("1e308*10", "too large"),
        ("10.0**400", "too large"),
        ("n/zero", "division by zero"),
        ("n//0", "division by zero"),
        ("n%0", "division by zero"),
        ("0**-1", "division by zero"),
        ("7/2", "use // (rounds down) or ceil_div"),
        ("2**-1", "not a whole number"),
        ("(-8.0)**0.5", "fractional power"),
        ("widht", "unknown name `widht`"),
        ("p.widht", "Did you mean `p.width`?"),
        ("foo(1)", "no function `foo`; there are min, max, ceil_div"),
        ("ceil_div(1)", "ceil_div takes two values"),
        ("(" * 400 + "1" + ")" * 400, "nested more than 50 deep"),
        ("1+" * 600 + "1", "longer than 1000 characters"),
        ("010", "octal"),
        ("64K", "`64K` is not a number"),
        ("(1", "never closed"),
        ("1)", "no `(` is open"),
        ("n +", "stops short"),
        ("", "a value is missing"),
        ("n; import os", "was not expected"),
        ("__import__('os')", "no function `__import__`"),
        ("é", "`é` was not expected here"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_its_reason(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        value(text)
    assert says in refused.value.message


def test_a_long_sum_needs_no_deep_stack() -> None:
    assert value("+".join("1" * 500)) == 500


@pytest.mark.parametrize(
    ("text", "culprit"),
    [("n + widht * 2", "widht"), ("1 + 9**9**9", "9**9**9"), ("min(1, 2 3)", "3"), ("(n + 1", "("), ("n $ 1", "$")],
)
def test_an_error_points_at_its_own_characters(text: str, culprit: str) -> None:
    line = f"global={text}"
    with pytest.raises(ExpressionError) as refused:
        parse_expression(text, offset=7).evaluate(NAMES)
    assert line[refused.value.start : refused.value.end] == culprit


def test_a_size_is_whole_and_positive() -> None:
    assert parse_expression("n*2").evaluate_size(NAMES) == 20
    assert parse_expression("4.0").evaluate_size({}) == 4
    for text, says in [
        ("n*0.25", "not a whole number"),
        ("-n", "`-n` is -10, which is below 1"),
        ("0", "0 is below 1"),
    ]:
        with pytest.raises(ExpressionError, match=says.replace("*", r"\*")):
            parse_expression(text).evaluate_size(NAMES)


def test_names_are_found_but_functions_are_not_names() -> None:
    assert parse_expression("min(a, b.c) * ceil_div(a, 2)").names == {"a", "b.c"}


def test_expressions_are_alike_when_written_alike() -> None:
    assert parse_expression(" n*2 ", offset=40) == parse_expression("n*2")


_numbers = st.integers(0, 10**6).map(str)
_expressions = st.recursive(
    _numbers | st.sampled_from(["n", "m"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from([" + ", "-", "*", " // ", "%"]), inner).map("".join),
        inner.map(lambda t: f"-({t})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda t: f"max({', '.join(t)})"),
    ),
    max_leaves=12,
)


@given(_expressions, st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_values_agree_with_python_or_are_refused_for_their_size(text: str, n: int, m: int) -> None:
    names: dict[str, int | float] = {"n": n, "m": m}
    try:
        found: int | float | None = parse_expression(text).evaluate(names)
    except ExpressionError as error:
        assert "64 bits" in error.message or "division by zero" in error.message  # noqa: PT017
        found = None
    if found is not None:
        assert found == _python(ast.parse(text, mode="eval").body, names)


@given(st.text(max_size=60))
def test_no_text_at_all_brings_more_than_an_expression_error(text: str) -> None:
    try:
        expression = parse_expression(text, offset=5)
    except ExpressionError as error:
        assert 5 <= error.start <= error.end <= 5 + max(len(text), 1) + 1  # noqa: PT017
    else:
        assert isinstance(expression, Expression)


_PYTHON = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_PYTHON |= {ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


def _python(node: ast.expr, names: dict[str, int | float]) -> int | float:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_python(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            return _PYTHON[type(op)](_python(left, names), _python(right, names))
        case ast.Call(args=arguments):
            return max(_python(a, names) for a in arguments)
    raise AssertionError(ast.dump(node))
