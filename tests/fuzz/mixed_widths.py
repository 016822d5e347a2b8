"""OpenCL C whose operands rarely fit: vectors of all widths through swizzles, casts, pointers, macros and calls.

Much of it no compiler would take. Whoever types passes through such states, and each must have an answer.
"""

from __future__ import annotations

from random import Random

_TYPES = (
    "float", "float2", "float3", "float4", "float8", "float16", "int", "int2", "int3", "int4", "uint4", "uchar4",
    "char16", "half4", "double2", "long3", "ushort8", "uchar", "bool", "size_t", "undeclared3", "Pair",
)  # fmt: skip
_CALLS = (
    "dot", "cross", "length", "normalize", "fma", "mad", "clamp", "mix", "select", "min", "max", "step", "smoothstep",
    "sqrt", "pow", "convert_float4", "convert_int3", "as_float4", "as_int4", "as_uchar16", "convert_uchar4_sat_rte",
    "any", "all", "isnan", "fract", "sincos", "distance", "shuffle", "vload3", "vload4", "vstore4", "bitselect",
    "popcount", "mul24", "rotate", "ldexp", "frexp", "twice", "through", "atomic_add", "read_imagef", "vload_half4",
    "undeclared", "vstore_half4", "mad_hi",
)  # fmt: skip
_PARTS = ("x", "xy", "xyz", "xyzw", "wzyx", "s0", "s0123", "s01234567", "lo", "hi", "even", "odd", "rgb", "sF", "m",
          "xx", "hi.lo")  # fmt: skip
_LEAVES = (
    "1", "2.0f", "0", "3u", "i", "-1", "0x7fL", "(float4)(1)", "(int3)(1,2,3)", "(float2)(a,b)", "get_global_id(0)",
    "&v0", "p", "q[i]", "pair", "pair.v", "pair.w.x", "*p", "p[i].xy", "((__global float3*)q)[i]",
    "*(__global float4*)q", "*(float4*)&v1", "own[1]", "tile[i]", "(Pair){1,2}", "pairs", "pairs->v", "NULL", "&p[1]",
    "SUM", "image", "(float4)(p[0].xy, 1)", "*(uint2*)&v2", "((float*)&v1)[2]", "(v0, v1)",
)  # fmt: skip
_PLACES = (
    "p[i]", "q[i]", "p[i].lo", "pair.v", "pair.w.s01234567", "own[i]", "tile[i]", "*(__global float3*)q",
    "((__global float4*)q)[i]", "((__global char16*)q)[i]", "*(float4*)&v1", "pairs->v", "*(&v0)", "(*pairs).w",
    "*((uint4*)&v2)", "v1.lo.x", "((float*)own)[i]", "*(__local float3*)tile",
)  # fmt: skip
_OPERATORS = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "==", "!=", "&&", "||")
_TEXT = """#define SUM v0 + v1
typedef struct {{ float3 v; int4 w; float a[3]; }} Pair;
{} twice({} a, {} b) {{ {} c; if (a.x > 0) return a; return b * c; }}
{} through(__global {} *p, {} b) {{ p[0] = b; return p[1]; }}
__kernel void k(__global {} *p, __global {} *q, __global Pair *pairs, int n, float a, float b, __local {} *tile,
                __read_only image2d_t image) {{
  int i = get_global_id(0);
  {}
  Pair pair; {} own[4];
  {}
}}
"""


def mixed_widths(random: Random) -> str:
    """A program with one kernel `k`."""
    variables = (f"{random.choice(_TYPES)} v{n} = {_expression(random, 1)};" for n in range(6))
    statements = (_statement(random, 2) for _ in range(6))
    kinds = (random.choice(_TYPES) for _ in range(10))
    return _TEXT.format(*kinds, "\n  ".join(variables), random.choice(_TYPES), "\n  ".join(statements))


def _expression(random: Random, depth: int) -> str:
    def inner() -> str:
        return _expression(random, depth - 1)

    if depth <= 0:
        return random.choice((*_LEAVES, *(f"v{n}" for n in range(6))))
    match random.randrange(9):
        case 0 | 1 | 2:
            return f"({inner()} {random.choice(_OPERATORS)} {inner()})"
        case 3:
            return f"({inner()}).{random.choice(_PARTS)}"
        case 4:
            return f"{random.choice('-!~+')}({inner()})"
        case 5:
            return f"({inner()} ? {inner()} : {inner()})"
        case 6:
            return f"(({random.choice(_TYPES)}){inner()})"
        case 7:
            return f"({random.choice(_TYPES)})({', '.join(inner() for _ in range(random.randrange(1, 5)))})"
        case _:
            return f"{random.choice(_CALLS)}({', '.join(inner() for _ in range(random.randrange(1, 4)))})"


def _statement(random: Random, depth: int) -> str:
    inner = _statement(random, depth - 1) if depth else ";"
    value = _expression(random, 3)
    variable = f"v{random.randrange(6)}"
    match random.randrange(12):
        case 0:
            return f"if ({value}) {{ {inner} }} else {{ {variable}++; }}"
        case 1:
            return f"for (int j = 0; j < {random.choice(('4', 'n', 'v2.x', 'q[i]'))}; j++) {{ {inner} }}"
        case 2:
            return f"while ({value}) {{ {inner} }}"
        case 3:
            return f"{{ {random.choice(_TYPES)} {variable} = {value}; {inner} }}"
        case _:
            place = random.choice((variable, f"{variable}.{random.choice(_PARTS)}", random.choice(_PLACES)))
            return f"{place} {random.choice(('=', '=', '+=', '-=', '*=', '|=', '<<='))} {value};"
