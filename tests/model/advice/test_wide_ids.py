"""The quick fix that gives ids 64 bits: which variables it widens, and which it leaves as they are."""

from __future__ import annotations

import pytest

from model.advice.advice import AdviceCode
from tests.model.advice.fixing import GPU, changed_lines, fixed, fixes

COPY = """// kernelcast: global=65536 local=64 n=65536 x=2*n y=2*n w=256
__kernel void copy(__global const float *x, __global float *y, int n, uint m, int w)
{
    const int i = get_global_id(0);
    if (i < n) y[i] = x[i];
}
"""


def test_ids_get_the_64_bits_that_they_have() -> None:
    assert changed_lines(COPY, fixed(COPY, AdviceCode.NARROW_INDEX)) == [
        ("    const int i = get_global_id(0);", "    const long i = get_global_id(0);")
    ]
    (fix,) = fixes(COPY, AdviceCode.NARROW_INDEX)
    assert fix.is_exact
    assert not fix.promise


def test_ids_stay_as_they_are_where_most_accesses_are_masked_off() -> None:
    """Beyond a buffer masked vector loads are slow, and no guard of a kernel with `restrict` becomes a bound."""
    promised = COPY.replace("*x", "*restrict x").replace("*y", "*restrict y")
    assert fixes(promised, AdviceCode.NARROW_INDEX)
    idle = "n=65536", "n=1024"
    assert not fixes(promised.replace(*idle), AdviceCode.NARROW_INDEX)
    assert fixes(COPY.replace(*idle), AdviceCode.NARROW_INDEX)


def test_all_that_is_set_to_ids_gets_them() -> None:
    text = COPY.replace(
        "const int i = get", "unsigned int g = get_group_id(0) * 64 + get_local_id(0), h = g + 1; int i = get"
    )
    text = text.replace("y[i] = x[i];", "y[h + w] = x[i + 1];")
    after = fixed(text, AdviceCode.NARROW_INDEX)
    assert "    size_t g = get_group_id(0) * 64 + get_local_id(0), h = g + 1; long i = get_global_id(0);" in after


@pytest.mark.parametrize(
    "body",
    [
        "y[i + w] = x[i + w];",  # nothing is hidden
        "y[i] = x[i]; i += n;",  # set once more
        "y[i] = min(i, n);",  # of another overload
        "y[i] = x[i / w];",
        "y[i] = i;",
        "y[i] = x[i]; if (i - 1 < m) y[n] = 0;",  # an unsigned comparison, of 32 bits
        "int j = i - w; if (j < m) y[i] = x[i];",
        "y[i] = x[i]; int *p = &i; *p = 1;",
        "y[i] = x[i]; for (int i = 0; i < n; ++i) y[n] += i;",  # two of one name
        "y[i] = x[i]; int j = i * 2; j++;",  # what it is given to stays as it is
    ],
)
def test_ids_stay_as_they_are_where_more_would_change(body: str) -> None:
    assert not fixes(COPY.replace("const int", "int").replace("y[i] = x[i];", f"{{ {body} }}"), AdviceCode.NARROW_INDEX)


@pytest.mark.parametrize("kind", ["int", "uint", "unsigned int"])
@pytest.mark.parametrize("bound", ["int d = get_local_size(0) / 2", "uint d = 128u", "size_t d = 128"])
def test_the_id_of_a_reduction_gets_them(kind: str, bound: str) -> None:
    text = f"""// kernelcast: global=65536 local=256 in=65536 out=256 scratch=1024
__kernel void total(__global const float *in, __global float *out, __local float *scratch)
{{
    {kind} t = get_local_id(0);
    scratch[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for ({bound}; d > 0; d >>= 1) {{
        if (t < d && t < get_local_size(0) / 2) scratch[t] += scratch[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    if (t == 0) out[get_group_id(0)] = scratch[0];
}}
"""
    wider = "long" if kind == "int" else "size_t"
    assert changed_lines(text, fixed(text, AdviceCode.NARROW_INDEX)) == [
        (f"    {kind} t = get_local_id(0);", f"    {wider} t = get_local_id(0);")
    ]


@pytest.mark.parametrize("condition", ["k < m", "k + 1 < v.x", "k < x[0]", "k < get_work_dim() + m", "k - 1 < d"])
def test_ids_stay_as_they_are_beside_what_may_be_unsigned_or_unknown(condition: str) -> None:
    text = COPY.replace("y[i] = x[i];", f"{{ uint d = m; uint2 v; int k = i - w; if ({condition}) y[k] = x[k]; }}")
    text = text.replace("(i < n)", "(w < n)")
    found = fixes(text, AdviceCode.NARROW_INDEX)
    assert not any("`k`" in each.title for each in found)


def test_what_is_no_id_keeps_its_type() -> None:
    text = COPY.replace("const float *x", "const int *x").replace(
        "y[i] = x[i];", "{ int k = w * 3, v = x[i]; y[i] = x[k] + x[v]; }"
    )
    ((_, line),) = changed_lines(text, fixed(text, AdviceCode.NARROW_INDEX))
    assert line == "    const long i = get_global_id(0);"


def test_ids_stay_as_they_are_on_gpus() -> None:
    assert not fixes(COPY, AdviceCode.NARROW_INDEX, GPU)
