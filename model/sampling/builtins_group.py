"""Functions of whole work-groups and sub-groups: reductions, scans, broadcasts, votes, shuffles (section 6.15.16).

A sub-group is 32 work-items wide here, as sites are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import INT, LONG, UINT
from model.opencl.types import ScalarType, VectorType
from model.sampling.code import Code
from model.sampling.compiler import Compiler
from model.sampling.conversions import converted, truth_of
from model.sampling.tables import Function, table
from model.sampling.values import Array, Value, dtype_of

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_REDUCTIONS: dict[str, Any] = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
}  # fmt: skip


def _identity(word: str, dtype: np.dtype[Any]) -> Value:
    if word in ("min", "max"):
        limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        return dtype.type(limits.max if word == "min" else limits.min)
    if word in ("mul", "logical_and"):
        return dtype.type(1)
    return dtype.type(-1) if word == "and" and dtype.kind == "i" else ~dtype.type(0) if word == "and" else dtype.type(0)


def _groups(f: Lanes, name: str) -> Array:
    """Return the number of the group, or sub-group, that each lane of this width is in."""
    whole = f.subgroup if name.startswith("sub_group") else f.group
    found: Array = whole if f.lane is None else whole[f.lane]
    return found


def _begins(groups: Array) -> Array:
    return np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))


def _collective(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """Reductions and scans of what the active lanes of a group give; lanes stand in the order of their groups."""
    how = "reduce" if "_reduce_" in name else "inclusive" if "_inclusive_" in name else "exclusive"
    word = name.split(f"_{how}_")[1]
    kind = values[0].type
    if not values or not isinstance(kind, ScalarType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    function, dtype = _REDUCTIONS[word], dtype_of(kind)
    identity = _identity(word, dtype)
    c.has_barriers = True
    c.cost += 20
    what = values[0].run

    def run(f: Lanes) -> Value:
        value = np.broadcast_to(what(f), (f.width,))
        if f.mask is not None:
            value = np.where(f.mask, value, identity)
        groups = _groups(f, name)
        begins = _begins(groups)
        if how == "reduce":
            each = function.reduceat(value, begins).astype(dtype)
            return np.repeat(each, np.diff(np.append(begins, len(value))))
        out = np.empty(f.width, dtype)
        for first, last in zip(begins, np.append(begins[1:], len(value)), strict=True):
            whole = function.accumulate(value[first:last]).astype(dtype)
            out[first:last] = whole if how == "inclusive" else np.concatenate(([identity], whole[:-1]))
        return out

    return Code(run, kind, is_pure=False, taint=values[0].taint)


def _vote(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    if not values:
        raise c.refuse(f"`{name}` takes an argument", node)
    is_all = name.endswith("_all")
    c.has_barriers = True
    c.cost += 12
    truth = truth_of(values[0])

    def run(f: Lanes) -> Value:
        met = np.broadcast_to(truth(f), (f.width,))
        if f.mask is not None:
            met = np.where(f.mask, met, is_all)
        begins = _begins(_groups(f, name))
        each = (np.logical_and if is_all else np.logical_or).reduceat(met, begins)
        return np.repeat(each, np.diff(np.append(begins, len(met)))).astype(np.int32)

    return Code(run, INT, is_pure=False, taint=values[0].taint)


def _exchange(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """Broadcasts and shuffles: each lane reads what another lane of its group holds."""
    if not values or not isinstance(values[0].type, ScalarType | VectorType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    way = name.rsplit("_", 1)[-1]
    c.has_barriers = True
    c.cost += 12
    what = values[0].run
    number = [converted(v, LONG).run for v in values[1:]]
    sizes = [c.launch_slot("local_size", d) for d in range(2)]

    def run(f: Lanes) -> Value:
        value = what(f)
        if value.ndim == 0 or value.shape[-1] == 1:
            return value
        groups = _groups(f, name)
        begins = _begins(groups)
        counts = np.diff(np.append(begins, len(groups)))
        first, count = np.repeat(begins, counts), np.repeat(counts, counts)
        own = np.arange(len(groups)) - first
        by = [np.broadcast_to(n(f), (f.width,)) for n in number]
        if way == "first" or not by:
            at = _first_active(f, begins, counts)
        elif way == "xor":
            at = own ^ by[0]
        elif way == "up":
            at = own - by[0]
        elif way == "down":
            at = own + by[0]
        elif way == "rotate":
            at = (own + by[0]) % count
        else:
            at = by[0]
            for dimension, more in enumerate(by[1:]):
                scale = 1
                for slot in sizes[: dimension + 1]:
                    scale *= int(f.values[slot])
                at = at + more * scale
        at = np.where((at < 0) | (at >= count), own, at)
        return value[..., first + at]

    return Code(
        run, values[0].type, is_pure=False, taint=values[0].taint | (values[1].taint if values[1:] else frozenset())
    )


def _first_active(f: Lanes, begins: Array, counts: Array) -> Array:
    inside = f.whole_mask()
    places = np.where(inside, np.arange(len(inside)), len(inside))
    first = np.minimum.reduceat(places, begins) - begins
    return np.repeat(np.where(first < counts, first, 0), counts)


def _elect(c: Compiler, _name: str, _values: list[Code], _node: Node) -> Code:
    c.has_barriers = True

    def run(f: Lanes) -> Value:
        begins = _begins(_groups(f, "sub_group"))
        counts = np.diff(np.append(begins, f.width))
        own = np.arange(f.width) - np.repeat(begins, counts)
        return (own == _first_active(f, begins, counts)).astype(np.int32)

    return Code(run, INT, is_pure=False)


def _ballot(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    if len(values) != 1:
        raise c.refuse(f"`{name}` takes one argument", node)
    c.has_barriers = True
    truth = truth_of(values[0])

    def run(f: Lanes) -> Value:
        met = np.broadcast_to(truth(f), (f.width,)) & f.whole_mask()
        begins = _begins(_groups(f, name))
        counts = np.diff(np.append(begins, f.width))
        own = np.arange(f.width) - np.repeat(begins, counts)
        bits = np.where(met, np.int64(1) << np.minimum(own, 31), 0)
        out = np.zeros((4, f.width), np.uint32)
        out[0] = np.repeat(np.add.reduceat(bits, begins), counts).astype(np.uint32)
        return out

    return Code(run, VectorType(UINT, 4), is_pure=False, taint=values[0].taint)


def _ballot_count(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    if len(values) != 1 or not isinstance(values[0].type, VectorType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    what = values[0].run
    return Code(
        lambda f: np.bitwise_count(what(f)).sum(axis=0).astype(np.uint32), UINT, is_pure=False, taint=values[0].taint
    )


_EACH = ("reduce", "scan_inclusive", "scan_exclusive")
_KINDS = ("work_group", "sub_group", "sub_group_non_uniform")
GROUP_FUNCTIONS: dict[str, Function] = {
    **table(_collective, *(f"{kind}_{how}_{word}" for kind in _KINDS for how in _EACH for word in _REDUCTIONS)),
    **table(_vote, *(f"{kind}_{what}" for kind in _KINDS for what in ("all", "any"))),
    **table(
        _exchange,
        *(
            "work_group_broadcast",
            "sub_group_broadcast",
            "sub_group_broadcast_first",
            "sub_group_non_uniform_broadcast",
        ),
        *(f"sub_group_{way}" for way in ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "rotate")),
    ),
    "sub_group_elect": _elect,
    "sub_group_ballot": _ballot,
    "sub_group_ballot_bit_count": _ballot_count,
}
