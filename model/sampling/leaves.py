"""Numbers, characters and names: the expressions that have no parts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, sized_type
from model.opencl.builtins import FLOAT_CONSTANTS, INTEGER_CONSTANTS
from model.opencl.constants import number as number_of
from model.opencl.types import ScalarType
from model.sampling.code import Code
from model.sampling.compiler import Compiler, constant
from model.sampling.places import place_of_variable, value_of
from model.sampling.program_variables import global_variable
from model.sampling.values import Value

_SUFFIX = re.compile(r"[uUlLfF]*\Z")
_TINY: dict[str, Value] = {
    "FLT": np.finfo(np.float32),
    "DBL": np.finfo(np.float64),
    "HALF": np.finfo(np.float16),
}
_MATH = {
    "PI": np.pi, "PI_2": np.pi / 2, "PI_4": np.pi / 4, "E": math.e, "LN2": np.log(2), "LN10": np.log(10),
    "LOG2E": np.log2(math.e), "LOG10E": np.log10(math.e), "SQRT2": np.sqrt(2), "SQRT1_2": np.sqrt(0.5),
    "1_PI": 1 / np.pi, "2_PI": 2 / np.pi, "2_SQRTPI": 2 / np.sqrt(np.pi),
}  # fmt: skip


def _number(c: Compiler, node: Node) -> Code:
    text = c.text(node)
    value, suffix = number_of(text), _SUFFIX.search(text)
    letters = suffix[0].lower() if suffix else ""
    if value is None:
        raise c.refuse(f"the number `{text[:40]}` is not understood", node)
    if isinstance(value, float) or (isinstance(value, int) and "f" in letters and text[:2].lower() != "0x"):
        kind = FLOAT if "f" in letters else DOUBLE
        if kind is DOUBLE:
            if "half" in c.reader.masked.between(node.start_byte, node.end_byte):
                kind = HALF
            elif "-cl-single-precision-constant" in c.program.options.flags:
                kind = FLOAT
        return constant(value, kind)
    is_hexadecimal = text[:2].lower() in ("0x", "0b")
    words = ["unsigned"] * ("u" in letters) + ["long"] * ("l" in letters)
    kind = sized_type(words)
    if kind is INT and value > 0x7FFFFFFF:
        kind = UINT if value <= 0xFFFFFFFF and is_hexadecimal else LONG
    if kind is UINT and value > 0xFFFFFFFF:
        kind = ULONG
    if kind is LONG and value > 0x7FFFFFFFFFFFFFFF:
        kind = ULONG
    return constant(_wrapped(value, kind), kind)


def _wrapped(value: int, kind: ScalarType) -> int:
    bits = kind.size_bytes * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if not kind.name.startswith("u") and value >> (bits - 1) else value


def _character(c: Compiler, node: Node) -> Code:
    return constant(c.reader.constant(node) or 0, INT)


def _whole(value: int) -> Code:
    """Return a whole number of the least type that holds it; what is beyond 64 bits wraps around."""
    if -(1 << 63) <= value < 1 << 63:
        return constant(value, INT if -(1 << 31) <= value < 1 << 31 else LONG)
    return constant(value & ((1 << 64) - 1), ULONG)


def _name(c: Compiler, node: Node) -> Code:
    name = c.text(node)
    variable = c.lookup(name)
    if variable is not None:
        return value_of(c, place_of_variable(variable))
    if name in c.reader.names.constants and name not in c.program.globals:
        return _whole(c.reader.names.constants[name])
    if name in INTEGER_CONSTANTS:
        value = INTEGER_CONSTANTS[name]
        kind = INT if -(1 << 31) <= value < 1 << 31 else UINT if 0 <= value < 1 << 32 else LONG
        return constant(value, ULONG if value >= 1 << 63 else kind)
    if name in FLOAT_CONSTANTS:
        return _float_constant(name)
    if name in c.program.globals:
        return value_of(c, place_of_variable(global_variable(c, name)))
    if name in c.free_names:
        given = c.free_names[name]
        return constant(given, FLOAT) if isinstance(given, float) else _whole(int(given))
    raise c.refuse(f"`{name[:60]}` is not known to the interpreter", node)


def _float_constant(name: str) -> Code:
    if name.startswith("M_"):
        base, kind = name[2:], DOUBLE
        for suffix, narrow in (("_F", FLOAT), ("_H", HALF)):
            if base.endswith(suffix):
                base, kind = base.removesuffix(suffix), narrow
        return constant(_MATH[base], kind)
    if name in ("INFINITY", "HUGE_VALF"):
        return constant(np.inf, FLOAT)
    if name == "HUGE_VAL":
        return constant(np.inf, DOUBLE)
    if name == "NAN":
        return constant(np.nan, FLOAT)
    if name == "MAXFLOAT":
        return constant(np.finfo(np.float32).max, FLOAT)
    prefix, _, which = name.partition("_")
    kind = {"FLT": FLOAT, "DBL": DOUBLE, "HALF": HALF}[prefix]
    limits = _TINY[prefix]
    return constant({"MAX": limits.max, "MIN": limits.tiny, "EPSILON": limits.eps}[which], kind)


def _truth_name(c: Compiler, node: Node) -> Code:
    return constant(int(node.type == "true"), INT)


LEAVES: dict[str, Callable[[Compiler, Node], Code]] = {
    "identifier": _name,
    "number_literal": _number,
    "char_literal": _character,
    "true": _truth_name,
    "false": _truth_name,
    "null": lambda _c, _n: constant(0, INT),
    "string_literal": lambda _c, _n: constant(0, LONG),
    "concatenated_string": lambda _c, _n: constant(0, LONG),
}
