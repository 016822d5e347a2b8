"""Integer functions (OpenCL C 3.0, section 6.15.3), and what rearranges components."""

from __future__ import annotations

from typing import Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import INT, SCALARS, UINT
from model.opencl.types import ScalarKind, ScalarType, VectorType
from model.sampling.code import Code
from model.sampling.compiler import Compiler
from model.sampling.places import assigned_as
from model.sampling.tables import Function, applied, arguments, common_kind, elementwise, spread, table
from model.sampling.values import Value, dtype_of, element_of, integer_like, is_float, with_element


def _bits(x: Value) -> Value:
    return x.dtype.type(x.dtype.itemsize * 8)


def _unsigned(x: Value) -> Value:
    return x.view(f"u{x.dtype.itemsize}")


def _popcount(x: Value) -> Value:
    return np.bitwise_count(_unsigned(x)).astype(x.dtype)


def _smeared(x: Value) -> Value:
    """Return all bits below the highest one set, too."""
    u = _unsigned(x)
    shift = 1
    while shift < x.dtype.itemsize * 8:
        u = u | (u >> u.dtype.type(shift))
        shift *= 2
    return u


def _clz(x: Value) -> Value:
    return (_bits(x) - np.bitwise_count(_smeared(x)).astype(x.dtype)).astype(x.dtype)


def _ctz(x: Value) -> Value:
    u = _unsigned(x)
    return np.bitwise_count(~u & (u - u.dtype.type(1))).astype(x.dtype)


def _rotate(x: Value, by: Value) -> Value:
    u = _unsigned(x)
    width = u.dtype.type(x.dtype.itemsize * 8 - 1)
    left = _unsigned(by) & width
    right = (~left + u.dtype.type(1)) & width
    return ((u << left) | (u >> right)).view(x.dtype)


def _mul_hi(a: Value, b: Value) -> Value:
    size = a.dtype.itemsize
    if size < 8:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        return ((a.astype(wide) * b.astype(wide)) >> wide(size * 8)).astype(a.dtype)
    x, y = _unsigned(a), _unsigned(b)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    x1, x0, y1, y0 = x >> half, x & low, y >> half, y & low
    middle = x1 * y0 + ((x0 * y0) >> half)
    other = x0 * y1 + (middle & low)
    high = x1 * y1 + (middle >> half) + (other >> half)
    if a.dtype.kind == "i":
        zero = np.uint64(0)
        high = high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero)
        return high.astype(np.int64)
    return high


def _add_sat(a: Value, b: Value) -> Value:
    limits = np.iinfo(a.dtype)
    total = a + b
    if a.dtype.kind == "u":
        return np.where(total < a, a.dtype.type(limits.max), total)[()]
    over = ((a ^ total) & (b ^ total)) < 0
    return np.where(over, np.where(a < 0, a.dtype.type(limits.min), a.dtype.type(limits.max)), total)[()]


def _sub_sat(a: Value, b: Value) -> Value:
    limits = np.iinfo(a.dtype)
    total = a - b
    if a.dtype.kind == "u":
        return np.where(b > a, a.dtype.type(0), total)[()]
    over = ((a ^ b) & (a ^ total)) < 0
    return np.where(over, np.where(a < 0, a.dtype.type(limits.min), a.dtype.type(limits.max)), total)[()]


def _hadd(a: Value, b: Value) -> Value:
    one = a.dtype.type(1)
    return (a >> one) + (b >> one) + (a & b & one)


def _rhadd(a: Value, b: Value) -> Value:
    one = a.dtype.type(1)
    return (a >> one) + (b >> one) + ((a | b) & one)


def _mul24(a: Value, b: Value) -> Value:
    return _low24(a) * _low24(b)


def _low24(x: Value) -> Value:
    eight = x.dtype.type(8)
    return (x << eight) >> eight


def _mad_sat(a: Value, b: Value, d: Value) -> Value:
    high, low = _mul_hi(a, b), a * b
    limits = np.iinfo(a.dtype)
    most, least = a.dtype.type(limits.max), a.dtype.type(limits.min)
    if a.dtype.kind == "u":
        return np.where(high != 0, most, _add_sat(low, d))[()]
    # Exact in 64 bits but for 64-bit numbers themselves.
    if a.dtype.itemsize < 8:
        return np.clip(a.astype(np.int64) * b + d, limits.min, limits.max).astype(a.dtype)
    fits = high == np.where(low < 0, -1, 0)
    return np.where(fits, _add_sat(low, d), np.where((a < 0) != (b < 0), least, most))[()]


def _abs(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 1)
    kind = common_kind(c, name, values, node)
    if is_float(element_of(kind)):
        return applied(c, values, spread(values, kind), kind, np.abs)
    whole = with_element(kind, integer_like(element_of(kind), unsigned=True))
    return applied(c, values, spread(values, kind), whole, lambda x: _unsigned(np.abs(x)))


def _abs_diff(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 2)
    kind = common_kind(c, name, values, node)
    whole = with_element(kind, integer_like(element_of(kind), unsigned=True))
    return applied(
        c, values, spread(values, kind), whole,
        lambda a, b: np.where(a > b, _unsigned(a) - _unsigned(b), _unsigned(b) - _unsigned(a))[()], 3,
    )  # fmt: skip


def _upsample(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 2)
    source = element_of(values[0].type)
    names = {1: "short", 2: "int", 4: "long"}
    if source.size_bytes not in names or not isinstance(values[0].type, ScalarType | VectorType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    element = SCALARS[("" if source.kind is ScalarKind.SIGNED else "u") + names[source.size_bytes]]
    wide, bits = dtype_of(element), source.size_bytes * 8

    def joined(high: Value, low: Value) -> Value:
        return (high.astype(wide) << wide.type(bits)) | _unsigned(low).astype(wide)

    return applied(c, values, [v.run for v in values], with_element(values[0].type, element), joined, 4)


def _shuffle(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    count = 1 if name == "shuffle" else 2
    arguments(c, name, values, node, count + 1)
    source, mask = values[0].type, values[-1].type
    if not isinstance(source, VectorType) or not isinstance(mask, VectorType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    rows = source.width * count
    kind = VectorType(source.element, mask.width)

    def shuffled(*given: Value) -> Value:
        held = [np.atleast_2d(v) for v in given]
        width = max(v.shape[-1] for v in held)
        whole = np.concatenate([np.broadcast_to(v, (len(v), width)) for v in held[:-1]])
        chosen = np.broadcast_to(held[-1], (len(held[-1]), width)).astype(np.int64) & (rows - 1)
        return np.take_along_axis(whole, np.minimum(chosen, len(whole) - 1), axis=0)

    runs = [assigned_as(v, source).run for v in values[:-1]]
    return applied(c, values, [*runs, values[-1].run], kind, shuffled, 6)


def _vec_step(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 1)
    kind = values[0].type
    held = np.int32((4 if kind.width == 3 else kind.width) if isinstance(kind, VectorType) else 1)
    return Code(lambda _: held, INT, None, held)


def _bit_reverse(x: Value) -> Value:
    u = _unsigned(x)
    out = np.zeros_like(u)
    one = u.dtype.type(1)
    for _ in range(x.dtype.itemsize * 8):
        out = (out << one) | (u & one)
        u = u >> one
    return out.view(x.dtype)


def _packed_dot(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """`dot_4x8packed_uu_uint` and the like, with and without an accumulator."""
    signs = name.split("packed_")[1].split("_", maxsplit=1)[0]
    kind = UINT if signs == "uu" else INT
    dtypes = [np.dtype("i1" if s == "s" else "u1") for s in signs]
    saturates = "acc_sat" in name
    arguments(c, name, values, node, 3 if saturates else 2)

    def dot(a: Value, b: Value, *more: Value) -> Value:
        total: Any = np.int64(0)
        for byte in range(4):
            shift = np.uint32(8 * byte)
            x, y = (
                (_unsigned(v) >> shift).astype(np.uint8).view(d).astype(np.int64)
                for v, d in zip((a, b), dtypes, strict=True)
            )
            total = total + x * y
        limits = np.iinfo(dtype_of(kind))
        if more:
            total = np.clip(total + more[0], limits.min, limits.max)
        return total.astype(dtype_of(kind))

    runs = [assigned_as(v, UINT).run for v in values[:2]] + [assigned_as(v, kind).run for v in values[2:]]
    return applied(c, values, runs, kind, dot, 12)


def _vector_dot(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """`dot_acc_sat` of vectors of four bytes."""
    arguments(c, name, values, node, 3)
    kind = UINT if all(element_of(v.type).kind is ScalarKind.UNSIGNED for v in values[:2]) else INT
    limits = np.iinfo(dtype_of(kind))

    def dot(a: Value, b: Value, more: Value) -> Value:
        total = (a.astype(np.int64) * b.astype(np.int64)).sum(axis=0) + more
        return np.clip(total, limits.min, limits.max).astype(dtype_of(kind))

    return applied(c, values, [values[0].run, values[1].run, assigned_as(values[2], kind).run], kind, dot, 5)


_PLAIN: dict[str, tuple[Any, int, int]] = {
    "popcount": (_popcount, 1, 2), "clz": (_clz, 1, 8), "ctz": (_ctz, 1, 4), "bit_reverse": (_bit_reverse, 1, 40),
    "rotate": (_rotate, 2, 6), "mul_hi": (_mul_hi, 2, 5), "add_sat": (_add_sat, 2, 5), "sub_sat": (_sub_sat, 2, 5),
    "hadd": (_hadd, 2, 5), "rhadd": (_rhadd, 2, 5), "mul24": (_mul24, 2, 5),
    "mad24": (lambda a, b, d: _mul24(a, b) + d, 3, 6), "mad_hi": (lambda a, b, d: _mul_hi(a, b) + d, 3, 6),
    "mad_sat": (_mad_sat, 3, 8),
}  # fmt: skip

_PACKED = [
    f"dot{way}_4x8packed_{signs}_{'uint' if signs == 'uu' else 'int'}"
    for way in ("", "_acc_sat")
    for signs in ("uu", "ss", "su", "us")
]
INTEGER_FUNCTIONS: dict[str, Function] = {
    **{name: elementwise(f, cost, count, floats=False) for name, (f, count, cost) in _PLAIN.items()},
    "abs": _abs, "abs_diff": _abs_diff, "upsample": _upsample, **table(_shuffle, "shuffle", "shuffle2"),
    "vec_step": _vec_step, **table(_packed_dot, *_PACKED), "dot_acc_sat": _vector_dot,
}  # fmt: skip
