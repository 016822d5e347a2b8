"""Conversions between types as C has them, and `convert_` and `as_` of OpenCL C (3.0, sections 6.4.3 and 6.4.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from model.opencl.types import ScalarKind, ScalarType, Type, VectorType
from model.sampling.code import Code
from model.sampling.values import Value, dtype_of, element_of, is_float

Convert = Callable[[Any], Any]


@lru_cache(1024)
def converter(source: ScalarType, target: ScalarType) -> Convert | None:
    """Return how numbers of one type become those of another; None where they are held alike."""
    a, b = dtype_of(source), dtype_of(target)
    if a == b:
        return None
    if target.kind is ScalarKind.BOOL:
        return lambda x: x != 0
    if is_float(source) and not is_float(target):
        if target.name == "ulong":
            return _to_ulong
        if target.name == "uint":
            return lambda x: x.astype(np.int64).astype(np.uint32)
        if target.size_bytes < 4:
            return lambda x: x.astype(np.int32).astype(b)
    return lambda x: x.astype(b)


def _to_ulong(x: Value) -> Value:
    return np.where(x < 0, x.astype(np.int64).astype(np.uint64), np.maximum(x, 0).astype(np.uint64))[()]


def converted(code: Code, target: Type) -> Code:
    """`code` as a value of type `target`: scalars, and vectors of as many components."""
    if code.type is target or code.type == target:
        return code
    if isinstance(target, ScalarType) and target.kind is ScalarKind.BOOL:
        truth = truth_of(code)
        return Code(truth, target, truth, None, code.is_pure, code.taint)
    to_wide = isinstance(target, VectorType) and not isinstance(code.type, VectorType)
    convert = converter(element_of(code.type), element_of(target))
    run = code.run
    if code.constant is not None:
        value = code.constant if convert is None else convert(code.constant)
        if to_wide and isinstance(target, VectorType):
            value = np.full((target.width, 1), value)
        return Code(lambda _: value, target, None, value, True, code.taint)
    if to_wide and isinstance(target, VectorType):
        width = target.width
        if convert is None:
            return Code(lambda f: _widened(run(f), width), target, None, None, code.is_pure, code.taint)
        return Code(lambda f: _widened(convert(run(f)), width), target, None, None, code.is_pure, code.taint)
    if convert is None:
        return Code(run, target, code.truth, None, code.is_pure, code.taint)
    return Code(lambda f: convert(run(f)), target, None, None, code.is_pure, code.taint)


def _widened(value: Value, width: int) -> Value:
    """Return one number in all components."""
    if value.ndim == 0:
        return np.full((width, 1), value)
    return np.broadcast_to(value, (width, len(value)))


def truth_of(code: Code) -> Callable[[Any], Any]:
    """Return whether a scalar is not 0."""
    if code.truth is not None:
        return code.truth
    run = code.run
    if isinstance(code.type, ScalarType) and code.type.kind is ScalarKind.BOOL:
        return run
    return lambda f: run(f) != 0


@lru_cache(1024)
def exact_converter(source: ScalarType, target: ScalarType, saturates: bool, rounding: str) -> Convert:
    """`convert_T_sat_rte`: rounding is one of `rte rtz rtp rtn` or empty."""
    plain = converter(source, target) or (lambda x: x)
    if is_float(target) or not (saturates or rounding in ("rte", "rtp", "rtn")):
        return plain
    rounds = {"rte": np.rint, "rtp": np.ceil, "rtn": np.floor}.get(rounding)
    if not is_float(source):
        return _saturating(source, target) if saturates else plain
    limits = np.iinfo(dtype_of(target))
    dtype = dtype_of(target)

    def convert(x: Value) -> Value:
        wide = x.astype(np.float64)
        if rounds is not None:
            wide = rounds(wide)
        if not saturates:
            return converter_of_double(wide)
        inside = np.clip(np.nan_to_num(wide, nan=0.0), float(limits.min), float(limits.max))
        # The largest 64-bit numbers have no equal among doubles.
        whole = converter_of_double(inside) if target.size_bytes < 8 else _largest(inside, limits, dtype)
        return np.where(wide >= float(limits.max), dtype.type(limits.max), whole)[()]

    double = ScalarType("double", ScalarKind.FLOAT, 8)
    converter_of_double = converter(double, target) or (lambda x: x)
    return convert


def _largest(inside: Value, limits: np.iinfo[Any], dtype: np.dtype[Any]) -> Value:
    below = np.where(inside >= float(limits.max), 0.0, inside)
    return below.astype(dtype)


def _saturating(source: ScalarType, target: ScalarType) -> Convert:
    a, b = np.iinfo(dtype_of(source)), np.iinfo(dtype_of(target))
    low, high = max(int(a.min), int(b.min)), min(int(a.max), int(b.max))
    held, dtype = dtype_of(source).type, dtype_of(target)
    return lambda x: np.clip(x, held(low), held(high)).astype(dtype)


def reinterpreted(value: Value, source: Type, target: Type) -> Value:
    """`as_T(value)`: the same bytes."""
    dtype = dtype_of(element_of(target))
    if not isinstance(source, VectorType) and not isinstance(target, VectorType):
        return value.view(dtype)
    rows = np.atleast_2d(value) if isinstance(source, VectorType) else np.reshape(value, (1, -1))
    if rows.dtype.itemsize == dtype.itemsize:
        out = np.ascontiguousarray(rows).view(dtype)
    else:
        lanes = np.ascontiguousarray(rows.T)  # the bytes of a lane behind each other
        if isinstance(source, VectorType) and source.width == 3:
            lanes = np.concatenate([lanes, np.zeros((len(lanes), 1), lanes.dtype)], axis=1)
        out = np.ascontiguousarray(lanes.view(dtype).T)
    if isinstance(target, VectorType):
        return _rows(out, target.width)
    return out[0] if out.shape[1] > 1 else out[0, 0]


def _rows(out: Value, width: int) -> Value:
    if len(out) >= width:
        return out[:width]
    return np.concatenate([out, np.zeros((width - len(out), out.shape[1]), out.dtype)])
