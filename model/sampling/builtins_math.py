"""Math, common, geometric and relational functions (OpenCL C 3.0, sections 6.15.2, 6.15.4 to 6.15.6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import INT, SCALARS
from model.opencl.types import PointerType, ScalarType, VectorType
from model.sampling.code import Code, Place
from model.sampling.compiler import Compiler
from model.sampling.places import assigned_as, stored
from model.sampling.tables import Function, applied, arguments, common_kind, elementwise, float_kind, spread, table
from model.sampling.values import Value, dtype_of, element_of, integer_like, with_element

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes


def _float(x: Value, like: Value) -> Value:
    """Return a number of the type of `like`."""
    return like.dtype.type(x)


def _round(x: Value) -> Value:
    cut = np.trunc(x)
    return np.where(np.abs(x - cut) >= 0.5, cut + np.copysign(_float(1, x), x), cut)[()]


def _each(function: Value) -> Value:
    """Return one lane at a time, where NumPy has no such function."""

    def safe(number: float) -> float:
        try:
            return float(function(number))
        except (ValueError, OverflowError):
            return math.nan

    whole = np.vectorize(safe, otypes=[np.float64])
    return lambda x: whole(x).astype(x.dtype)[()]


def _pown(x: Value, n: Value) -> Value:
    return np.power(x, n.astype(x.dtype))


def _rootn(x: Value, n: Value) -> Value:
    exponent = _float(1, x) / n.astype(x.dtype)
    return np.where(x < 0, np.where(n % 2 != 0, -np.power(-x, exponent), np.nan), np.power(x, exponent)).astype(
        x.dtype
    )[()]


def _fma(a: Value, b: Value, d: Value) -> Value:
    if a.dtype.itemsize == 4:
        return (a.astype(np.float64) * b + d).astype(a.dtype)
    return a * b + d


def _smoothstep(low: Value, high: Value, x: Value) -> Value:
    t = np.clip((x - low) / (high - low), _float(0, x), _float(1, x))
    return t * t * (_float(3, x) - _float(2, x) * t)


def _logb(x: Value) -> Value:
    _, exponent = np.frexp(x)
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), exponent - 1.0, np.abs(x))).astype(x.dtype)[()]


def _min(a: Value, b: Value) -> Value:
    return np.fmin(a, b) if a.dtype.kind == "f" else np.minimum(a, b)


def _max(a: Value, b: Value) -> Value:
    return np.fmax(a, b) if a.dtype.kind == "f" else np.maximum(a, b)


def _maxmag(a: Value, b: Value) -> Value:
    x, y = np.abs(a), np.abs(b)
    return np.where(x > y, a, np.where(y > x, b, np.fmax(a, b)))[()]


def _minmag(a: Value, b: Value) -> Value:
    x, y = np.abs(a), np.abs(b)
    return np.where(x < y, a, np.where(y < x, b, np.fmin(a, b)))[()]


_NUMPY_NAMES = (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt",
    "floor", "ceil", "rint", "trunc", "sqrt",
)  # fmt: skip
_UNARY: dict[str, Any] = {
    **{name: getattr(np, name) for name in _NUMPY_NAMES},
    **{name: getattr(np, "arc" + name[1:]) for name in ["asin", "acos", "atan", "asinh", "acosh", "atanh"]},
    "fabs": np.abs, "round": _round, "logb": _logb,
    "exp10": lambda x: np.power(_float(10, x), x), "rsqrt": lambda x: _float(1, x) / np.sqrt(x),
    "sinpi": lambda x: np.sin(x * _float(np.pi, x)), "cospi": lambda x: np.cos(x * _float(np.pi, x)),
    "tanpi": lambda x: np.tan(x * _float(np.pi, x)), "asinpi": lambda x: np.arcsin(x) / _float(np.pi, x),
    "acospi": lambda x: np.arccos(x) / _float(np.pi, x), "atanpi": lambda x: np.arctan(x) / _float(np.pi, x),
    "erf": _each(math.erf), "erfc": _each(math.erfc), "tgamma": _each(math.gamma), "lgamma": _each(math.lgamma),
    "sign": np.sign, "degrees": lambda x: x * _float(180 / np.pi, x), "radians": lambda x: x * _float(np.pi / 180, x),
    "recip": lambda x: _float(1, x) / x, "nan": lambda x: x,
}  # fmt: skip
_BINARY: dict[str, Any] = {
    "pow": np.power, "powr": np.power, "atan2": np.arctan2, "fmod": np.fmod, "hypot": np.hypot, "fmin": np.fmin,
    "fmax": np.fmax, "fdim": lambda a, b: np.where(a > b, a - b, _float(0, a)), "copysign": np.copysign,
    "nextafter": np.nextafter, "divide": lambda a, b: a / b, "maxmag": _maxmag, "minmag": _minmag,
    "atan2pi": lambda a, b: np.arctan2(a, b) / _float(np.pi, a),
    "remainder": lambda a, b: a - b * np.rint(a / b),
    "step": lambda edge, x: np.where(x < edge, _float(0, x), _float(1, x)),
}  # fmt: skip
_NATIVE = ["sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "sqrt", "rsqrt", "recip"]


def _with_integer(function: Value) -> Function:
    """`pown(x, n)` and the like: the second argument is a whole number."""

    def compiled(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
        arguments(c, name, values, node, 2)
        kind = float_kind(c, name, values[:1], node)
        powers = spread(values[1:], with_element(values[1].type, INT))
        return applied(c, values, [*spread(values[:1], kind), *powers], kind, function, 3)

    return compiled


def _with_pointer(function: Value, *, whole: bool = False) -> Function:
    """`fract(x, &y)` and the like: `function` gives the result, and what is stored through the pointer."""

    def compiled(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
        pointer = values[-1]
        if len(values) < 2 or not isinstance(pointer.type, PointerType):
            raise c.refuse(f"`{name}` does not take these arguments", node)
        kind = float_kind(c, name, values[:-1], node)
        runs = spread(values[:-1], kind)
        held: list[Any] = [None]
        second = Code(lambda _: held[0], with_element(kind, INT) if whole else kind)
        put = stored(c, Place(pointer.type.pointee, address=pointer.run, pointer=pointer.taint), second)

        def run(f: Lanes) -> Value:
            first, held[0] = function(*[each(f) for each in runs])
            put(f)
            return first

        c.cost += 3
        taint = frozenset[str]().union(*(v.taint for v in values[:-1]))
        return Code(run, kind, is_pure=False, taint=taint)

    return compiled


def _fract(x: Value) -> tuple[Value, Any]:
    whole = np.floor(x)
    return np.fmin(x - whole, np.nextafter(_float(1, x), _float(0, x))), whole


def _frexp(x: Value) -> tuple[Value, Any]:
    mantissa, exponent = np.frexp(x)
    return mantissa, exponent.astype(np.int32)


def _remquo(a: Value, b: Value) -> tuple[Value, Any]:
    quotient = np.rint(a / b)
    return a - b * quotient, np.fmod(quotient, 128).astype(np.int32)


# --- geometric ---------------------------------------------------------------------------------------------


def _dot(a: Value, b: Value) -> Value:
    return a * b if a.ndim < 2 else _sum(a * b)


def _sum(rows: Value) -> Value:
    """Of components in their order, as written."""
    total = rows[0]
    for row in rows[1:]:
        total = total + row
    return total if len(total) > 1 else total[0]


def _geometric(function: Value, count: int, *, gives_vector: bool = False) -> Function:
    def compiled(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
        arguments(c, name, values, node, count)
        kind = float_kind(c, name, values, node)
        runs = [assigned_as(v, kind).run for v in values]
        return applied(c, values, runs, kind if gives_vector else element_of(kind), function, 6)

    return compiled


def _length(a: Value) -> Value:
    return np.sqrt(_dot(a, a))


def _normalize(a: Value) -> Value:
    length = _length(a)
    return np.where(length == 0, a, a / np.where(length == 0, _float(1, a), length))[()]


def _cross(a: Value, b: Value) -> Value:
    rows = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    if len(a) == 4:
        rows.append(np.zeros_like(rows[0]))
    return np.stack(rows)


# --- relational --------------------------------------------------------------------------------------------


def relation(function: Value, count: int) -> Function:
    """1 where it holds; of vectors -1."""

    def compiled(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
        arguments(c, name, values, node, count)
        kind = float_kind(c, name, values, node)
        runs = spread(values, kind)
        if isinstance(kind, VectorType):
            whole = VectorType(integer_like(kind.element), kind.width)
            dtype = dtype_of(whole.element)
            return applied(c, values, runs, whole, lambda *x: -(function(*x).astype(dtype)), 3)
        truth = applied(c, values, runs, INT, function, 1)
        run = truth.run
        return Code(lambda f: run(f).astype(np.int32), INT, run, None, truth.is_pure, truth.taint)

    return compiled


def _chosen(a: Value, b: Value, d: Value) -> Value:
    out: Value = np.where(d != 0, b, a)
    return out[()]


def _select(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 3)
    kind = common_kind(c, name, values[:2], node)
    runs = spread(values[:2], kind)
    if isinstance(kind, VectorType) and isinstance(values[2].type, VectorType):
        dtype = np.dtype(f"i{element_of(values[2].type).size_bytes}")
        return applied(c, values, [*runs, values[2].run], kind, lambda a, b, d: np.where(d.view(dtype) < 0, b, a), 2)
    return applied(c, values, [*runs, values[2].run], kind, _chosen, 2)


def _bitselect(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 3)
    kind = common_kind(c, name, values, node)
    dtype, bits = dtype_of(element_of(kind)), np.dtype(f"u{element_of(kind).size_bytes}")

    def chosen(a: Value, b: Value, d: Value) -> Value:
        x, y, z = (v.view(bits) for v in (a, b, d))
        return ((x & ~z) | (y & z)).view(dtype)

    return applied(c, values, spread(values, kind), kind, chosen, 4)


def _any_all(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 1)
    kind = values[0].type
    if not isinstance(kind, ScalarType | VectorType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    signed = np.dtype(f"i{element_of(kind).size_bytes}")
    together = np.any if name == "any" else np.all

    def met(x: Value) -> Value:
        negative = x.view(signed) < 0
        if negative.ndim < 2:
            return negative
        whole = together(negative, axis=0)
        return whole if len(whole) > 1 else whole[0]

    truth = applied(c, values, [values[0].run], INT, met, 2)
    run = truth.run
    return Code(lambda f: run(f).astype(np.int32), INT, run, None, truth.is_pure, truth.taint)


def _exponent(x: Value) -> Value:
    _, exponent = np.frexp(x)
    return exponent


def _ilogb(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    kind = float_kind(c, name, values, node)
    return applied(
        c, values, spread(values, kind), with_element(kind, INT), lambda x: (_exponent(x) - 1).astype(np.int32), 3
    )


def _nan(c: Compiler, _name: str, values: list[Code], _node: Node) -> Code:
    source = element_of(values[0].type) if values else SCALARS["uint"]
    kind = with_element(values[0].type if values else INT, SCALARS["double" if source.size_bytes == 8 else "float"])
    dtype = dtype_of(element_of(kind))
    return applied(c, values, [v.run for v in values], kind, lambda x: np.full(x.shape, np.nan, dtype)[()])


_RELATIONS: dict[str, tuple[Any, int]] = {
    "isnan": (np.isnan, 1), "isinf": (np.isinf, 1), "isfinite": (np.isfinite, 1), "signbit": (np.signbit, 1),
    "isnormal": (lambda x: np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny), 1),
    "isequal": (lambda a, b: a == b, 2), "isnotequal": (lambda a, b: a != b, 2), "isgreater": (lambda a, b: a > b, 2),
    "isgreaterequal": (lambda a, b: a >= b, 2), "isless": (lambda a, b: a < b, 2),
    "islessequal": (lambda a, b: a <= b, 2), "islessgreater": (lambda a, b: (a < b) | (a > b), 2),
    "isordered": (lambda a, b: ~(np.isnan(a) | np.isnan(b)), 2),
    "isunordered": (lambda a, b: np.isnan(a) | np.isnan(b), 2),
}  # fmt: skip

MATH_FUNCTIONS: dict[str, Function] = {
    **{name: elementwise(function) for name, function in _UNARY.items()},
    **{name: elementwise(function, count=2) for name, function in _BINARY.items()},
    **{f"{way}_{name}": elementwise(_UNARY[name]) for way in ("native", "half") for name in _NATIVE},
    **{f"{way}_{n}": elementwise(_BINARY[n], count=2) for way in ("native", "half") for n in ("powr", "divide")},
    "fma": elementwise(_fma, 4, 3), "mad": elementwise(lambda a, b, d: a * b + d, 2, 3),
    "mix": elementwise(lambda a, b, t: a + (b - a) * t, 3, 3), "smoothstep": elementwise(_smoothstep, 8, 3),
    "min": elementwise(_min, 1, 2, floats=False), "max": elementwise(_max, 1, 2, floats=False),
    "clamp": elementwise(lambda x, low, high: _min(_max(x, low), high), 2, 3, floats=False),
    "pown": _with_integer(_pown), "rootn": _with_integer(_rootn),
    "ldexp": _with_integer(np.ldexp),
    "fract": _with_pointer(_fract), "modf": _with_pointer(lambda x: (np.modf(x)[0], np.modf(x)[1])),
    "sincos": _with_pointer(lambda x: (np.sin(x), np.cos(x))), "frexp": _with_pointer(_frexp, whole=True),
    "remquo": _with_pointer(_remquo, whole=True),
    "lgamma_r": _with_pointer(lambda x: (_UNARY["lgamma"](x), np.sign(x).astype(np.int32)), whole=True),
    "dot": _geometric(_dot, 2), **table(_geometric(_length, 1), "length", "fast_length"),
    **table(_geometric(lambda a, b: _length(a - b), 2), "distance", "fast_distance"),
    **table(_geometric(_normalize, 1, gives_vector=True), "normalize", "fast_normalize"),
    "cross": _geometric(_cross, 2, gives_vector=True),
    **{name: relation(function, count) for name, (function, count) in _RELATIONS.items()},
    "select": _select, "bitselect": _bitselect, **table(_any_all, "any", "all"), "ilogb": _ilogb, "nan": _nan,
}  # fmt: skip
