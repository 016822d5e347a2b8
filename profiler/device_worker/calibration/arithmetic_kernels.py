"""Kernels that compute.

All store what they compute, and feed each step from the one before it, so that no compiler can leave the work away.
Coefficients are arguments, so that nothing folds into constants.
"""

from __future__ import annotations

import re

STEPS = 16  # of each unrolled body
CHAINS = 4  # independent values in it
_STEP = {
    "multiply-add": "v = v * c + d;",
    "add": "v = (v ^ c) + d;",
    "multiply": "v = (v ^ c) * d;",  # the xor keeps compilers from multiplying the coefficients first
    "divide": "v = c / (v + d);",
}
_INT_DIVIDE = "v = c / ((v & 15) + d);"

# How often is known at run time only: CPU compilers then leave work-items one by one.
COUNTED = """
__kernel void k(__global float* out, float c, float d, int n) {
    float v = get_local_id(0) * 1e-3f + c;
    for (int k = 0; k < n; ++k) v = v * c + d;
    out[PLACE + get_local_id(0)] = v;
}
"""

FUNCTIONS = """
__kernel void special(__global float* out, float c, float d) {
    float v = get_local_id(0) * 1e-3f + c;
    R4(v = sin(v) + d; v = exp(v * c); v = log(v + d) + c; v = pow(v + d, c);)
    out[PLACE + get_local_id(0)] = v;
}

__kernel void native(__global float* out, float c, float d) {
    float v = get_local_id(0) * 1e-3f + c;
    R4(v = native_sin(v) + d; v = native_exp(v * c); v = native_log(v + d) + c; v = native_rsqrt(v + d);)
    out[PLACE + get_local_id(0)] = v;
}
"""


def unrolled(type_name: str, operation: str) -> tuple[str, int]:
    """Straight-line code on four values of a type, and how many components that has."""
    found = re.fullmatch(r"([a-z]+?)(\d*)", type_name)
    assert found is not None
    element, width = found[1], int(found[2] or 1)
    is_int = element in ("int", "long")
    argument = "int" if is_int else "float"
    step = _INT_DIVIDE if is_int and operation == "divide" else _STEP[operation]
    body = " ".join(re.sub(r"\bv\b", name, step) for name in "pqrs")
    total = " + ".join(f"v.s{place:x}" for place in range(width)) if width > 1 else "v"
    seed = f"({element})(get_local_id(0) * {'3' if is_int else '1e-3f'})"
    return (
        f"""
__kernel void k(__global float* out, {argument} c0, {argument} d0) {{
    const {type_name} c = ({type_name})(({element})c0), d = ({type_name})(({element})d0);
    {type_name} p = ({type_name})({seed}) + c, q = p + d, r = q + d, s = r + d;
    R16({body})
    const {type_name} v = p + q + r + s;
    out[PLACE + get_local_id(0)] = (float)({total});
}}
""",
        width,
    )


def counted_chains(count: int) -> str:
    """Return a loop of run-time length with so many accumulators."""
    names = [f"v{j}" for j in range(count)]
    begin = " ".join(f"float {name} = get_local_id(0) * 1e-3f + {j}.5f;" for j, name in enumerate(names))
    steps = " ".join(f"{name} = {name} * c + d;" for name in names)
    return f"""
__kernel void k(__global float* out, float c, float d, int n) {{
    {begin}
    for (int k = 0; k < n; ++k) {{ {steps} }}
    out[PLACE + get_local_id(0)] = {" + ".join(names)};
}}
"""


def scaled() -> str:
    """Multiplications that leave numbers about as large as `d`."""
    step = " ".join(f"{name} = {name} * c + d;" for name in "pqrs")
    return f"""
__kernel void k(__global float* out, float c, float d) {{
    float p = d * (1 + (get_local_id(0) & 7)), q = p + d, r = q + d, s = r + d;
    R16({step})
    out[PLACE + get_local_id(0)] = p + q + r + s;
}}
"""
