"""Elementwise operations over B x H floats, four to a work-item, as PyTorch launches them."""

from __future__ import annotations

from math import ceil

from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.public.row import PublicLaunch, PublicRow

ITEM_FLOATS = 4

# What is done to an element; tensors with a tensor first, then those with a number `s`.
OF_TWO = {"add": "a + b", "mul": "a * b", "div": "a / b", "pow": "pow(a, b)"}
OF_ONE = {
    "addu": "a + s",
    "mulu": "a * s",
    "divu": "a * s",  # PyTorch multiplies by the reciprocal
    "powu": "a * a",  # and squares without a power
    "relu": "fmax(a, 0.0f)",
    "gelu": "a * 0.5f * (1.0f + erf(a * 0.70710678f))",
    "tanh": "tanh(a)",
}
_OF_TWO = """
__kernel void elementwise(__global const float *restrict x, __global const float *restrict y,
                          __global float *restrict z, const int n) {{
    const int first = (int)get_global_id(0) * 4;
    if (first + 3 < n) {{
        const float4 a = vload4(0, x + first), b = vload4(0, y + first);
        vstore4({operation}, 0, z + first);
    }} else {{
        for (int i = first; i < n; ++i) {{
            const float a = x[i], b = y[i];
            z[i] = {operation};
        }}
    }}
}}
"""
_OF_ONE = """
__kernel void elementwise(__global const float *restrict x, __global float *restrict z, const float s, const int n) {{
    const int first = (int)get_global_id(0) * 4;
    if (first + 3 < n) {{
        const float4 a = vload4(0, x + first);
        vstore4({operation}, 0, z + first);
    }} else {{
        for (int i = first; i < n; ++i) {{
            const float a = x[i];
            z[i] = {operation};
        }}
    }}
}}
"""


def elementwise(row: PublicRow) -> PublicLaunch:
    """Return the launch of a row of elementwise operations.

    `settings` name the operation, `rows` and `columns`; `choices` the work-group.
    """
    known = dict(row.settings)
    operation, floats = known["operation"], int(known["rows"]) * int(known["columns"])
    group = int(dict(row.choices)["group"])
    items = ceil(floats / ITEM_FLOATS / group) * group
    takes_two = operation in OF_TWO
    text = (_OF_TWO if takes_two else _OF_ONE).format(operation=(OF_TWO if takes_two else OF_ONE)[operation])
    launch = Launch(
        (items,),
        (group,),
        scalars=(("n", floats),) if takes_two else (("s", 0.5), ("n", floats)),
        buffers=tuple((name, floats) for name in ("xyz" if takes_two else "xz")),
    )
    return PublicLaunch(text, "elementwise", BuildOptions(), launch)
