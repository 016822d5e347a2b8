"""Swap dimensions 0 and 1, in the kernel and in its launch, so that neighbours in memory run side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from model.advice.advice import AdviceCode
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import is_group_free
from model.advice.fixes.launch_edits import LaunchChange, launch_edits
from model.opencl.builtins import WORK_ITEM

_BY_DIMENSION = frozenset(
    {
        "get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups",
        "get_global_offset", "get_enqueued_local_size",
    }
)  # fmt: skip
_ID = re.compile(r"\bget_(?:global|local|group)_id\b")
_ANY = re.compile(rf"\b(?:{'|'.join(sorted(WORK_ITEM))}|sub_group_\w+)\b")
_SWAPPED = {"0": "1", "1": "0"}


def swapped_dimensions(setting: Setting) -> Iterator[Fix]:
    """Rename the work-items: each (x, y) does what (y, x) did. Exact, as groups are renamed alike.

    Groups keep their shape where it decides nothing but the speed.
    Only where every work-item function of the kernel names its dimension by a digit, and no other function of the
    program asks for ids.
    """
    source, launch = setting.source, setting.launch
    if len(launch.global_size) != 2 or source.kernel.attributes != type(source.kernel.attributes)():
        return
    program = source.program
    functions = [f for f in program.rests_on[source.kernel.name] if f.name != source.kernel.name]
    if any(_ANY.search(f.masked.text[f.node.start_byte : f.node.end_byte]) for f in functions):
        return
    own = program.functions[source.kernel.name]
    expanded = own.masked.text[own.node.start_byte : own.node.end_byte]
    if len(_ANY.findall(expanded)) != len(_ANY.findall(source.text(source.function))):
        return  # a macro asks for ids
    edits = []
    for name, call in source.calls():
        if name not in WORK_ITEM:
            continue
        arguments = call.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        if name not in _BY_DIMENSION or len(given) != 1 or source.text(given[0]) not in (*_SWAPPED, "2"):
            return
        if source.text(given[0]) in _SWAPPED:
            edits.append(TextEdit(given[0].start_byte, given[0].end_byte, _SWAPPED[source.text(given[0])]))
    if len(edits) != len(_ANY.findall(source.text(source.function))) or {e.text for e in edits} != {"0", "1"}:
        return
    sizes, local = launch.global_size[::-1], launch.local_size
    keeps_local = (
        local is not None
        and len(setting.annotations) <= 1
        and is_group_free(source)
        and not any(whole % part for whole, part in zip(sizes, local, strict=True))
    )
    local = local if local is None or keeps_local else local[::-1]
    changed = replace(launch, global_size=sizes, local_size=local)
    change = LaunchChange(sizes, local, swaps=True, keeps_local=keeps_local)
    more = launch_edits(setting, change)
    if more is None:
        return
    is_square = not more and setting.annotation is not None
    yield Fix(
        AdviceCode.UNCOALESCED_ACCESS,
        "Swap dimensions 0 and 1 of the kernel and its launch",
        tuple(sorted((*more, *edits), key=lambda each: each.start)),
        promise="" if is_square else f"the host launches it as {changed.describe()}",
    )
