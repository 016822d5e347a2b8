"""Expressions give what C gives: any expression of ints, unsigned ints, longs, small integers and floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.sampling.run import interpreted_buffers

_BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}


@dataclass(frozen=True)
class Term:
    """An expression: its text, its type and what it is worth."""

    text: str
    kind: str
    value: int


def _wrapped(value: int, kind: str) -> int:
    bits = _BITS[kind]
    value %= 1 << bits
    return value if kind.startswith("u") or value < 1 << (bits - 1) else value - (1 << bits)


def _promoted(kind: str) -> str:
    return kind if _BITS[kind] >= 32 else "int"


def _common(a: str, b: str) -> str:
    a, b = _promoted(a), _promoted(b)
    if _BITS[a] != _BITS[b]:
        return max(a, b, key=lambda k: _BITS[k])
    return a if a.startswith("u") else b


def _divided(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "/": _divided,
    "%": lambda a, b: 0 if b == 0 else a - b * _divided(a, b),
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a and b), "||": lambda a, b: bool(a or b),
}  # fmt: skip


@st.composite
def leaf(draw: st.DrawFn) -> Term:
    kind = draw(st.sampled_from(sorted(_BITS)))
    value = _wrapped(draw(st.integers(-(2**63), 2**63) | st.integers(-9, 9)), kind)
    literal = f"({value}l)" if value > -(2**63) and not kind.startswith("u") else f"({value % 2**64}ul)"
    return Term(f"(({kind}){literal})", kind, value)


@st.composite
def combined(draw: st.DrawFn, inner: st.SearchStrategy[Term]) -> Term:
    a, b = draw(inner), draw(inner)
    way = draw(st.integers(0, 5))
    if way == 0:
        sign = draw(st.sampled_from(sorted(_COMPARISONS)))
        kind = _common(a.kind, b.kind)
        x, y = (a.value, b.value) if sign in ("&&", "||") else (_wrapped(a.value, kind), _wrapped(b.value, kind))
        return Term(f"({a.text} {sign} {b.text})", "int", int(_COMPARISONS[sign](x, y)))
    if way == 1:
        kind = draw(st.sampled_from(sorted(_BITS)))
        return Term(f"(({kind}){a.text})", kind, _wrapped(a.value, kind))
    if way == 2:
        kind = _promoted(a.kind)
        amount = b.value % _BITS[kind]
        if draw(st.booleans()):
            return Term(f"({a.text} << {b.text})", kind, _wrapped(a.value << amount, kind))
        return Term(f"({a.text} >> {b.text})", kind, a.value >> amount)
    if way == 3:
        kind = _promoted(a.kind)
        sign = draw(st.sampled_from("-~"))
        return Term(f"({sign}{a.text})", kind, _wrapped(-a.value if sign == "-" else ~a.value, kind))
    if way == 4:
        kind = _common(a.kind, b.kind)
        return Term(f"({a.text} > {b.text} ? {a.text} : {b.text})", kind, _larger(a, b, kind))
    sign = draw(st.sampled_from(sorted(_OPERATORS)))
    kind = _common(a.kind, b.kind)
    value = _OPERATORS[sign](_wrapped(a.value, kind), _wrapped(b.value, kind))
    return Term(f"({a.text} {sign} {b.text})", kind, _wrapped(value, kind))


def _larger(a: Term, b: Term, kind: str) -> int:
    x, y = _wrapped(a.value, kind), _wrapped(b.value, kind)
    return x if x > y else y


terms = st.recursive(leaf(), combined, max_leaves=6)


@settings(max_examples=150)
@given(terms, st.booleans())
def test_whole_numbers_are_as_wide_and_signed_as_in_c(term: Term, in_variables: bool) -> None:
    """Both folded while compiling, and computed from what no compiler knows."""
    text = term.text.replace("l)", "l + zero)") if in_variables else term.text
    source = f"__kernel void k(__global long* out, long zero) {{ out[get_global_id(0)] = {text}; }}"
    program = read_program(source)
    launch = Launch((3,), None, scalars=(("zero", 0),), buffers=(("out", 3),))
    found = np.frombuffer(interpreted_buffers(program, program.kernels[0], launch)["out"], np.int64)
    assert found.tolist() == [_wrapped(term.value, "long")] * 3


@settings(max_examples=60)
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3))
def test_floats_are_rounded_after_each_operation(numbers: list[float]) -> None:
    source = """__kernel void k(__global float* out, float a, float b, float c) {
      out[0] = a * b + c; out[1] = (a - b) / c; out[2] = a < b ? a : -c;
      out[3] = (float)(int)(a > 1e9f ? 0 : a < -1e9f ? 0 : a);
    }"""
    program = read_program(source)
    scalars = tuple(zip("abc", numbers, strict=True))
    launch = Launch((1,), (1,), scalars=scalars, buffers=(("out", 4),))
    found = np.frombuffer(interpreted_buffers(program, program.kernels[0], launch)["out"], np.float32)
    a, b, c = (np.float32(n) for n in numbers)
    with np.errstate(all="ignore"):
        whole = np.float32(int(a)) if abs(a) <= 1e9 else np.float32(0)
        expected = np.array([a * b + c, (a - b) / c, a if a < b else -c, whole], np.float32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sizeof(float3) + sizeof(int[5])", 36),
        ("'a' + 010 + 0x10 + 0xFFFFFFFF", 96 + 1 + 8 + 16 + 0xFFFFFFFF & 0xFFFFFFFF),
        ("(1, 2, 3)", 3),
        ("(uint) - 1 > 0", 1),
        ("7 * (uint)-3 + (ushort)+5 - (int)-1", -21 + 5 + 1),
        ("({ int v[2] = {5, 6}; int *p = v; 3 * (uint)*p + (ushort)*(p + 1); })", 21),
        ("({ int w = 3, n = 4; (w * (n)) + (w * (n * 2)) - (get_work_dim()); })", 12 + 24 - 1),
        ("((int4)(1, 2, 3, 4)).wzyx.s1 * 10 + ((int4)(5)).x", 35),
        ("any((int4)(0, -1, 0, 0)) * 2 + all((int2)(-1, 0))", 2),
        ("((float2)(1.0f, 3.0f) > (float2)(2.0f)).y", -1),
        ("as_int(1.0f) == 0x3f800000", 1),
        ("convert_uchar_sat(300) + convert_char_sat(-200.5f) + convert_int_rte(2.5f)", 255 - 128 + 2),
        ("clz(1) + popcount(255u) + (int)rotate(0x80000001u, 1u)", 31 + 8 + 3),
        ("mul_hi(0x40000000, 8) + (int)hadd(7u, 8u) + mad24(3, 4, 5)", 2 + 7 + 17),
        ("max(3, 4) * 10 + clamp(7, 1, 5) + select(1, 2, 1) + (int)abs(-3)", 40 + 5 + 2 + 3),
        ("({ int t = 4; t + 12; })", 16),
    ],
)
def test_what_else_an_expression_may_be(ints_after: Callable[..., list[int]], expression: str, value: int) -> None:
    text = f"__kernel void k(__global int* out) {{ out[get_global_id(0)] = {expression}; }}"
    assert ints_after(text, size=(2,), group=None, buffers={"out": 2}) == [_wrapped(value, "int")] * 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0xFFFFFFFFFFFFFFFF", 2**64 - 1), ("1UL << 63", 2**63), ("0x7FFFFFFFFFFFFFFF", 2**63 - 1), ("-1", 2**64 - 1)],
)
def test_members_of_an_enumeration_may_be_as_large_as_integers_are(value: str, expected: int) -> None:
    text = f"""enum {{ LARGE = {value} }};
    __constant ulong table[] = {{ LARGE, 1 }};
    kernel void k(global ulong *x) {{ x[0] = LARGE; x[1] = table[0]; }}"""
    program = read_program(text)
    launch = Launch((1,), (1,), buffers=(("x", 2),))
    found = np.frombuffer(interpreted_buffers(program, program.kernels[0], launch)["x"], np.uint64)
    assert found.tolist() == [expected, expected]
