"""Well-formed OpenCL C from a grammar, for hypothesis to combine and to shrink."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hypothesis import strategies as st

_INTS = ("i", "n", "get_local_id(0)", "get_group_id(0)", "m", "(i & 7)", "table[i & 3]")
_FLOATS = ("x", "a[i]", "s.weight", "v.x", "b[n - 1 - i % n]", "tile[get_local_id(0)]", "SCALE")
_UNARY = (
    "sin({})",
    "native_exp({})",
    "sqrt(fabs({}))",
    "-({})",
    "({}) * ({})",
    "twice({})",
    "SQUARE({})",
    "(float)(int)({})",
)


@dataclass(frozen=True)
class Program:
    """`kernels` are the names of all that are in `text`."""

    text: str
    kernels: tuple[str, ...]


@functools.cache
def _int_expressions() -> st.SearchStrategy[str]:
    leaves = st.one_of(st.sampled_from(_INTS), st.integers(0, 2**31 - 1).map(str))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(list("+-*&|^")), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
            st.tuples(inner, st.integers(1, 9), st.sampled_from(["/", "%", ">>", "<<"])).map(
                lambda p: f"({p[0]} {p[2]} {p[1]})"
            ),
            st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} < {p[1]} ? {p[1]} : {p[2]})"),
            st.tuples(inner, inner).map(lambda p: f"min({p[0]}, {p[1]})"),
        ),
        max_leaves=5,
    )


@functools.cache
def _float_expressions() -> st.SearchStrategy[str]:
    leaves = st.one_of(
        st.sampled_from(_FLOATS),
        st.floats(0.125, 1e6, width=32).map(lambda value: f"{value!r}f"),
        _int_expressions().map(lambda value: f"(float)({value})"),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
            st.tuples(st.sampled_from(_UNARY), inner).map(lambda p: p[0].format(p[1], p[1])),
            st.tuples(inner, inner, inner).map(lambda p: f"fma({p[0]}, {p[1]}, {p[2]})"),
        ),
        max_leaves=6,
    )


@functools.cache
def _conditions() -> st.SearchStrategy[str]:
    compared = st.tuples(_int_expressions(), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _int_expressions())
    plain = st.one_of(compared.map(" ".join), _float_expressions().map(lambda value: f"{value} > 0.5f"))
    return st.one_of(
        plain, st.tuples(plain, st.sampled_from(["&&", "||"]), plain).map(lambda p: f"({p[0]}) {p[1]} ({p[2]})")
    )


@functools.cache
def _simple() -> st.SearchStrategy[str]:
    floats, ints = _float_expressions(), _int_expressions()
    return st.one_of(
        floats.map(lambda value: f"x {'+=' if len(value) % 2 else '='} {value};"),
        ints.map(lambda value: f"m = {value};"),
        floats.map(lambda value: f"a[i] = {value};"),
        st.tuples(ints, floats).map(lambda p: f"b[({p[0]}) & 1023] = {p[1]};"),
        floats.map(lambda value: f"v.yz = (float2)({value}, x);"),
        floats.map(lambda value: f"s.weight *= {value};"),
        ints.map(lambda value: f"atomic_add(count, {value});"),
        ints.map(lambda value: f"v += vload4(({value}) & 255, b);"),
        st.sampled_from(
            ["++m;", "x = v.x + dot(v, v);", "tile[get_local_id(0)] = x;", "barrier(CLK_LOCAL_MEM_FENCE);"]
        ),
    )


@functools.cache
def _statements() -> st.SearchStrategy[str]:
    loops = (
        "for (int j = 0; j < {0}; ++j) {{ {1} }}",
        "for (int j = i; j < n; j += get_global_size(0)) {{ {1} if ({2}) break; }}",
        "for (int j = n; j > 0; j >>= 1) {{ if ({2}) continue; {1} }}",
        "for (int j = 0; j < n; ++j) for (int k = j; k < 4; ++k) {{ {1} }}",
        "while (m > 0) {{ m -= 3; {1} }}",
        "do {{ {1} ++m; }} while (m < {0} && {2});",
        "if ({2}) {{ {1} }}",
        "if ({2}) return; else {{ {1} }}",
        "switch ({0}) {{ case 1: {1} case 2: x += 1.0f; break; default: {1} }}",
        "{{ float x = 1.0f; {1} }}",
    )
    return st.recursive(
        _simple(),
        lambda inner: st.tuples(
            st.sampled_from(loops), _int_expressions(), st.lists(inner, max_size=3).map("\n".join), _conditions()
        ).map(lambda p: p[0].format(p[1], p[2], p[3])),
        max_leaves=6,
    )


_HEAD = """#define SCALE 2.5f
#define SQUARE(v) ((v) * (v))
typedef struct { float4 place; float weight; uchar kind; } body_t;
__constant int table[4] = {1, 2, 3, 5};
float twice(float v) { return v * 2.0f; }
"""
_KERNEL = """
__kernel void k%d(__global float *a, __global const float *restrict b_in, __global float *b, __global int *count,
                 __local float *tile, const int n, const body_t given)
{
    const int i = get_global_id(0);
    int m = n;
    float x = b_in[i];
    float4 v = (float4)(x, 0.0f, 1.0f, 2.0f);
    body_t s = given;
%s
    a[i] = x + v.x + v.y + s.weight + m;
}
"""
_LAUNCHES = (
    "",
    "// kernelcast: global=1024 local=64 n=1000",
    "// kernelcast: global=4096 local=128 n=7 a=4096 b_in=4096 b=4096 count=1 tile=512 given.weight=1.5",
    "// kernelcast: global=(64, 4) local=(8, 2) n=1 fill.b_in=uniform:0:1",
)


_BODIES = st.lists(st.lists(_statements(), max_size=4), min_size=1, max_size=2)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """One or two kernels with a few statements each."""
    bodies = draw(_BODIES)
    launches = [draw(st.sampled_from(_LAUNCHES)) for _ in bodies]
    kernels = [
        f"\n{launch}{_KERNEL % (k, chr(10).join(body))}"
        for k, (launch, body) in enumerate(zip(launches, bodies, strict=True))
    ]
    return Program(_HEAD + "".join(kernels), tuple(f"k{k}" for k in range(len(bodies))))
