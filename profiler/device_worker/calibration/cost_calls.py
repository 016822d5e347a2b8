"""The functions that are timed one by one. `V` stands for the argument; `c`, `p` and `e` for other values."""

from __future__ import annotations

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
