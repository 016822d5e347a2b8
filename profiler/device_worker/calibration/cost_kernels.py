"""Straight-line kernels and loops of a few operations each, in every surrounding that kernels put them in.

All take the same arguments and keep within 32 KiB, the nearest cache. Runtimes for CPUs differ by up to 100 in what
they make of these: which of them they run in vectors across work-items, and which one work-item after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

_OF_ONE = (
    "sin cos tan asin acos atan sinh tanh exp exp2 exp10 expm1 log log2 log10 log1p cbrt erf sqrt rsqrt fabs floor "
    "round native_sin native_exp native_log native_sqrt native_rsqrt native_recip"
)
_OF_TWO = "pow atan2 hypot fmod fmin native_powr native_divide"
FLOAT_CALLS = {
    **{name: f"{name}(V)" for name in _OF_ONE.split()},
    **{name: f"{name}(V, c)" for name in _OF_TWO.split()},
    "fma": "fma(V, p, c)",
    "pown": "pown(V, e)",
    "mix": "mix(V, p, c)",
    "clamp": "clamp(V, 0.1f, c)",
    "dot": "dot((float3)(V, p, c), (float3)(c, V, p))",
    "length": "length((float3)(V, p, c))",
    "vload_half": "(vload_half4(lane, (__global const half*)x).x * V)",
}
QUICK_CALLS = frozenset(
    ("sin", "exp", "log", "pow", "sqrt", "rsqrt", "fmin", "floor", "native_exp", "vload_half", "dot", "length", "min")
)
_MORE_OF_GPUS = (
    "cos tan atan atan2 tanh exp2 log2 cbrt erf fmod native_sin native_log native_sqrt native_divide fma pown mul_hi"
)
GPU_CALLS = QUICK_CALLS | frozenset(_MORE_OF_GPUS.split())
INT_CALLS = {"min": "min(V, e)", "clz": "clz(V)", "rotate": "rotate(V, e)", "mul_hi": "mul_hi(V, p)",
             "mad24": "mad24(V, e, p)", "convert_sat": "convert_uchar_sat(V)"}  # fmt: skip
DOUBLE_CALLS = {"exp": "exp(V)", "sin": "sin(V)", "log": "log(V)", "pow": "pow(V, p)", "sqrt": "sqrt(V)",
                "fmin": "fmin(V, p)", "divide": "p / V"}  # fmt: skip
VECTOR_CALLS = {"fmin": "fmin(V, p)", "exp": "exp(V)"}
LONE_CALLS = ("exp", "sin", "fmin", "sqrt")  # also in groups of one work-item, where nothing is vectorised
LONG_BODIES = ("add", "mul", "divide")


LANES = 64
ROUNDS = 32  # of each loop
STRAIGHT_ROUNDS = 8  # of straight-line code
FURTHER_ROUNDS = 16  # of it, for groups of few work-items: all are within 32 KiB still
_TILE_ROUNDS = 16

REGIONS = 61
REGION_FLOATS = 8192
# Work-groups that run at once on different cores write to different cache lines: see `PLACE` in `bench`. Bodies
# that store have their own part of `x`, which the groups next to each other share.
_OWN_REGION = f"x += (get_group_id(0) / 64 % {REGIONS}) * {REGION_FLOATS};"
_KERNEL = """
__kernel void k(__global float* out, __global float* x, __global const int* trips, float c, int e, int n) {{
    __local float tmp[264];
    const int lane = get_local_id(0);
    {declarations}
    {code}
    out[(get_group_id(0) / 16 % 61) * 256 + lane] = {result};
}}
"""
_FLOATS = (
    "tmp[lane] = c; tmp[lane + 8] = c; float p = lane * 1e-3f + c, q = p + c, r = q + c, s = r + c, "
    "p2 = p * c, q2 = q * c, r2 = r * c, s2 = s * c;"
)
_FLOAT_SUM = "p + q + r + s + p2 + q2 + r2 + s2"
# A plain sum of integers is one that compilers make in vectors, with all that leads to it.
_MIXED = "((((((p ^ q) + r) ^ s) + p2) ^ q2) + r2) ^ s2"
_EIGHT = ("p", "q", "r", "s", "p2", "q2", "r2", "s2")

# In groups of few work-items hardly anything runs beside one: only values that do not wait for each other keep the core
# busy.
_APART: Mapping[str, Callable[[int, str], str]] = {"fp": lambda _, v: f"{v} = {v} * c + 0.25f;"}

# What one round does to eight values, `K` being the round's number: OpenCL C for the j-th of them, and per round.
BODIES: Mapping[str, tuple[Callable[[int, str], str], int]] = {
    "fp": (lambda j, v: f"{v} = {v} * c + {'qp'[j % 2]};", 8),
    "chain": (lambda j, v: "p = p * c + q;" if j < 4 else "", 4),
    "unit": (lambda j, v: f"{v} += x[K * 256 + {32 * j} + lane];", 8),
    "offset": (lambda j, v: f"{v} += x[(8 * K + {j}) * n + lane];", 8),
    "interleaved": (lambda j, v: f"{v} += x[(2 * K + {j // 4}) * 256 + 4 * lane + {j % 4}];", 8),
    "shared": (lambda j, v: f"{v} += tmp[lane + {j}];", 8),
    "stored_offset": (lambda j, v: f"x[(8 * K + {j}) * n + lane] = {v};", 8),
    "broadcast": (lambda j, v: f"{v} += x[8 * K + {j}];", 8),
    "strided": (lambda j, v: f"{v} += x[lane * 129 + 8 * K + {j}];", 8),
    "gathered": (lambda j, v: f"{v} += x[(lane * 419 + K * 1013 + {j * 2221}) & 8191];", 8),
    "stored": (lambda j, v: f"x[K * 256 + {32 * j} + lane] = {v};", 8),
    "scattered": (lambda j, v: f"x[(lane * 419 + K * 1013 + {j * 2221}) & 8191] = {v};", 8),
    "divide": (lambda j, v: f"{v} = c / ({v} + q);" if j < 4 else "", 4),
    # Not by the lane: of lone work-items that is zero, and all conversions but the first would be left away.
    "convert": (lambda j, v: f"{v} = (float)((int){v} + e);", 16),
}
STRAIGHT_BODIES = tuple(body for body in BODIES if body != "chain")  # which only loops are bound by
STORING = frozenset({"stored", "stored_offset", "scattered"})
_INTS = "int p = lane * 3 + e, q = p + e, r = q ^ e, s = r + 7, p2 = p + 1, q2 = q + 1, r2 = r + 1, s2 = s + 1;"
INT_BODIES: Mapping[str, tuple[Callable[[int, str], str], int]] = {
    "int": (lambda j, v: f"{v} = ({v} ^ n) + e;", 16),
    "int_mul": (lambda j, v: f"{v} = ({v} ^ n) * e;", 8),
    "int_divide": (lambda j, v: f"{v} = n / (e + ({v} & 3));" if j < 4 else "", 4),
    "int_modulo": (lambda j, v: f"{v} = n % (e + ({v} & 3));" if j < 4 else "", 4),
    # By constants, compilers multiply and shift.
    "int_divide_constant": (lambda j, v: f"{v} = ({v} + n) / 10;", 8),
    "int_modulo_constant": (lambda j, v: f"{v} = ({v} + n) % 10;", 8),
}


def straight(body: str, rounds: int = STRAIGHT_ROUNDS, *, is_alone: bool = False) -> tuple[str, int]:
    """Straight-line code of that body, and how many operations (loads, stores) it holds.

    `is_alone`: for groups of few work-items.
    """
    if body in INT_BODIES:
        step, per_round = INT_BODIES[body]
        result = _MIXED if is_alone else _FLOAT_SUM
        return _program(_INTS, _rounds(step, rounds), f"(float)({result})"), per_round * rounds
    step, per_round = BODIES[body]
    step = _APART.get(body, step) if is_alone else step
    own = _OWN_REGION if body in STORING else ""
    return _program(_FLOATS + own, _rounds(step, rounds), _FLOAT_SUM), per_round * rounds


def in_loop(context: str, body: str) -> tuple[str, int]:
    """As `straight`, in another surrounding: see `CONTEXTS`."""
    step, per_round = BODIES[body]
    wrap, rounds = CONTEXTS[context]
    return _program(_FLOATS, wrap(step), _FLOAT_SUM), per_round * rounds


def masked_stores() -> tuple[str, int]:
    """Return stores of neighbours by half of the work-items; each counts for all of them."""
    step, per_round = BODIES["stored_offset"]
    code = f"if (p > c + {LANES / 2 * 1e-3:.3f}f) {{ {_rounds(step)} }}"
    return _program(_FLOATS + _OWN_REGION, code, _FLOAT_SUM), per_round * STRAIGHT_ROUNDS


def lanes_along(dimension: int) -> tuple[str, int]:
    """Straight-line code whose work-items stand side by side along another dimension than 0."""
    step, per_round = BODIES["fp"]
    program = _program(_FLOATS, _rounds(step), _FLOAT_SUM)
    return program.replace("get_local_id(0)", f"get_local_id({dimension})"), per_round * STRAIGHT_ROUNDS


def indexed(type_name: str) -> str:
    """Return the sum of two vectors, by an index of that type."""
    return f"""
__kernel void k(__global const float* x, __global float* y) {{
    const {type_name} i = get_global_id(0);
    y[i] = x[i] + y[i];
}}
"""


def reduced() -> tuple[str, int]:
    """Return a loop over neighbouring addresses that adds up integers.

    Each iteration is a load, a comparison, an addition, and what the loop itself takes.
    """
    return _program("int p = 0;", "for (int k = 0; k < 8 * n; ++k) p += x[k] > c;", "(float)p"), 5 * 8 * ROUNDS


def local_atomics() -> tuple[str, int]:
    """Four atomic additions to 16 addresses of local memory."""
    code = " ".join(f"atomic_add((__local int*)tmp + ((lane * 7 + {k} * e) & 15), e);" for k in range(4))
    return _program("", code, "tmp[lane & 15]"), 4


def scattered() -> str:
    """Return one store of four bytes somewhere in `n` floats."""
    return _program("uint h = (uint)get_global_id(0) * 2654435761u;", "x[(h >> 7) & (uint)(n - 1)] = c;", "c")


def image(access: str) -> str:
    """Return one access of an image for each work-item of a 2D range: `nearest`, `linear` or `write`."""
    at = "const int2 at = (int2)(get_global_id(0), get_global_id(1));"
    if access == "write":
        return f"__kernel void k(write_only image2d_t out) {{ {at} write_imagef(out, at, (float4)(at.x)); }}"
    mode = f"CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_{access.upper()}"
    where = "at" if access == "nearest" else "convert_float2(at) + 0.3f"
    return (
        f"__kernel void k(read_only image2d_t in, __global float* out) {{ const sampler_t how = {mode}; {at} "
        f"float4 v = read_imagef(in, how, {where}); out[at.y % 61 * 256 + at.x % 256] = v.x + v.y + v.z + v.w; }}"
    )


def long_straight(body: str) -> tuple[str, int]:
    """Straight-line 64-bit integers."""
    steps: dict[str, tuple[Callable[[str], str], int]] = {
        "add": (lambda v: f"{v} = ({v} ^ n) + e;", 16),
        "mul": (lambda v: f"{v} = ({v} ^ n) * e;", 8),
        "divide": (lambda v: f"{v} = {v} / (e + ({v} & 3));" if v in "pqrs" else "", 4),
    }
    step, count = steps[body]
    code = " ".join(step(v) for _ in range(4) for v in _EIGHT)
    return _program(_INTS.replace("int", "long"), code, f"(float)({_FLOAT_SUM})"), count * 4


def calls(call: str, element: str = "float", times: int = 4) -> tuple[str, int]:
    """Independent calls on values between 0.4 and 1.1; `V` stands for the argument in `call`."""
    arguments = [f"(p + {0.05 * j:.2f}{'' if element == 'double' else 'f'})" for j in range(times)]
    code = " ".join(f"r += {call.replace('V', argument)};" for argument in arguments)
    of = {"float": "(lane * 1e-3f + c * 0.5f)", "double": "(lane * 1e-3 + c * 0.5)"}.get(element, "lane * 1e-3f + c")
    result = "r" if element == "float" else "(float)r" if element == "double" else "r.x + r.y + r.z + r.w"
    if element == "int":
        code = " ".join(f"r ^= {call.replace('V', f'(p + {j})')};" for j in range(times))
        return _program("int p = lane * 3 + e, r = 0;", code, "(float)r"), times
    return _program(f"{element} p = {of}, r = 0;", code, result), times


def nothing() -> str:
    return _program(_FLOATS, "", _FLOAT_SUM)


def _rounds(step: Callable[[int, str], str], rounds: int = STRAIGHT_ROUNDS) -> str:
    return " ".join(_round(step).replace("K", str(k)) for k in range(rounds))


def _round(step: Callable[[int, str], str]) -> str:
    return " ".join(step(j, v) for j, v in enumerate(_EIGHT))


def _loop(step: Callable[[int, str], str], condition: str) -> str:
    return f"for (int k = 0; {condition}; ++k) {{ {_round(step).replace('K', 'k')} }}"


_SYNC = "barrier(CLK_LOCAL_MEM_FENCE);"
# How a body stands in each surrounding, and the rounds that a work-item then runs of it.
CONTEXTS: Mapping[str, tuple[Callable[[Callable[[int, str], str]], str], int]] = {
    "called": (lambda step: f"{_rounds(step)} p = fmax(p, c);", STRAIGHT_ROUNDS),
    # Half of the work-items enter.
    "branch": (lambda step: f"if (x[trips[lane] + lane] > c - 0.15f) {{ {_rounds(step)} }}", STRAIGHT_ROUNDS // 2),
    "unrolled": (lambda step: _loop(step, f"k < {ROUNDS}"), ROUNDS),
    "counted": (lambda step: _loop(step, "k < n"), ROUNDS),
    "data": (lambda step: f"const int m = trips[lane]; {_loop(step, 'k < m')}", ROUNDS),
    "barrier": (
        lambda step: (
            "for (int t = 0; t < n; t += 4) { "
            + " ".join(_round(step).replace("K", f"(t + {j})") for j in range(4))
            + f" {_SYNC} }}"
        ),
        ROUNDS,
    ),
    "kept": (
        lambda step: (
            f"for (int t = 0; t < n; t += {_TILE_ROUNDS}) {{ tmp[lane] = p; {_SYNC} "
            + _loop(step, f"k < {_TILE_ROUNDS}")
            + f" {_SYNC} }}"
        ),
        ROUNDS,
    ),
}


def _program(declarations: str, code: str, result: str) -> str:
    return _KERNEL.format(declarations=declarations, code=code, result=result)
