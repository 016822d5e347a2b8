"""Work-item functions, barriers and fences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import LONG, UINT, ULONG, VOID
from model.sampling.code import Code
from model.sampling.compiler import Compiler
from model.sampling.conversions import converted
from model.sampling.tables import Function, table
from model.sampling.values import Value

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_BY_DIMENSION = {
    "get_global_id": "global_id", "get_local_id": "local_id", "get_group_id": "group_id",
    "get_global_size": "global_size", "get_local_size": "local_size", "get_enqueued_local_size": "local_size",
    "get_num_groups": "num_groups",
}  # fmt: skip
_WHOLE = {
    "get_global_linear_id": ("global_linear_id", ULONG), "get_local_linear_id": ("local_linear_id", ULONG),
    "get_work_dim": ("work_dim", UINT), "get_sub_group_size": ("sub_group_size", UINT),
    "get_max_sub_group_size": ("max_sub_group_size", UINT), "get_num_sub_groups": ("num_sub_groups", UINT),
    "get_enqueued_num_sub_groups": ("num_sub_groups", UINT), "get_sub_group_id": ("sub_group_id", UINT),
    "get_sub_group_local_id": ("sub_group_local_id", UINT),
}  # fmt: skip


def _of_dimension(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    if len(values) != 1:
        raise c.refuse(f"`{name}` takes one argument", node)
    what = _BY_DIMENSION[name]
    beyond = np.uint64(1 if "size" in what or what == "num_groups" else 0)
    known = values[0].constant
    if known is not None:
        dimension = int(known)
        if not 0 <= dimension < 3:
            return Code(lambda _: beyond, ULONG, None, beyond)
        slot = c.launch_slot(what, dimension)
        return Code(lambda f: f.values[slot], ULONG)
    slots = [c.launch_slot(what, d) for d in range(3)]
    number = converted(values[0], LONG).run

    def run(f: Lanes) -> Value:
        which = number(f)
        result: Any = beyond
        for dimension, slot in enumerate(slots):
            result = np.where(which == dimension, f.values[slot], result)
        return result[()]

    return Code(run, ULONG, None, None, values[0].is_pure, values[0].taint)


def _whole(c: Compiler, name: str, _values: list[Code], _node: Node) -> Code:
    what, kind = _WHOLE[name]
    if "sub_group" in what:
        c.has_barriers = True
    slot = c.launch_slot(what, 0)
    return Code(lambda f: f.values[slot], kind)


def _no_offset(_c: Compiler, _name: str, _values: list[Code], _node: Node) -> Code:
    zero = np.uint64(0)
    return Code(lambda _: zero, ULONG, None, zero)


def _barrier(c: Compiler, _name: str, _values: list[Code], _node: Node) -> Code:
    """Lanes run in lock-step: all of a group have written when the first goes on."""
    c.has_barriers = True
    return _nothing()


def _fence(_c: Compiler, _name: str, values: list[Code], _node: Node) -> Code:
    del values
    return _nothing()


def _nothing() -> Code:
    zero = np.int32(0)
    return Code(lambda _: zero, VOID, is_pure=False)


ITEM_FUNCTIONS: dict[str, Function] = {
    **table(_of_dimension, *_BY_DIMENSION),
    **table(_whole, *_WHOLE),
    "get_global_offset": _no_offset,
    **table(_barrier, "barrier", "work_group_barrier", "sub_group_barrier", "work_group_named_barrier"),
    **table(_fence, "mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"),
}
