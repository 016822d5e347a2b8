"""Let each work-item do several: a loop around the kernel's body, and as many fewer work-items in the launch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from math import prod

from tree_sitter import Node

from model.advice.advice import AdviceCode
from model.advice.fixes.accesses import assigned_names, is_stored, new_name, place_of, squeezed
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource, is_group_free
from model.advice.fixes.launch_edits import LaunchChange, launch_edits
from model.opencl.builtins import WORK_ITEM
from model.opencl.kernel import ParameterKind

_ITEMS = (2, 4, 8)
_LOOPS = ("for_statement", "while_statement", "do_statement")
_ORDER = re.compile(r"(?:atom|prefetch|async|vstore|write_|read_|printf)\w*|\w*fence|\w*pipe\w*")
_ANY = re.compile(rf"\b(?:{'|'.join(sorted(WORK_ITEM))}|sub_group_\w+)\b")


def work_per_item(setting: Setting) -> Iterator[Fix]:
    """Yield a loop over 2, 4 or 8 ids of dimension 0, each a whole launch from the next.

    So neighbouring work-items still access neighbouring memory. For GPUs alone: PoCL has such a loop already, and a
    second one around it cost 0 to 80 %. Right as the kernel knows nothing of groups and
    waits for no one: its work-items may run in any order, so those of one loop may run one after the other. No
    work-item may see what another stored, so what is stored to is loaded from the place that is stored to alone.
    """
    source, launch = setting.source, setting.launch
    if not setting.is_gpu or len(setting.annotations) > 1 or not source.is_plain:
        return
    if not is_group_free(source) or not _is_independent(source):
        return
    ids = _ids(source)
    returns = list(source.nodes("return_statement"))
    if ids is None or any(_is_in_loop(each, source.body) for each in returns):
        return
    local = launch.local_size[0] if launch.local_size is not None and not setting.is_assumed("local") else 1
    for items in _ITEMS:
        if launch.global_size[0] % (items * local):
            continue
        size = (launch.global_size[0] // items, *launch.global_size[1:])
        if prod(size) < setting.device.core_count:
            continue
        edits = launch_edits(setting, LaunchChange(global_size=size, divisor=items))
        if edits is not None:
            yield Fix(
                AdviceCode.SMALL_WORK_ITEM,
                f"Let each work-item do {items}",
                (*edits, *_looped(source, ids, returns, items)),
                promise=f"the host launches it with a global size of {'x'.join(map(str, size))} and no offset",
                items=items,
            )


def _ids(source: KernelSource) -> list[tuple[str, Node]] | None:
    """Return all calls that ask for ids or sizes; None where the text does not tell all, or says more than these."""
    program = source.program
    functions = [f for f in program.rests_on[source.kernel.name] if f.name != source.kernel.name]
    if any(_ANY.search(f.masked.text[f.node.start_byte : f.node.end_byte]) for f in functions):
        return None
    own = program.functions[source.kernel.name]
    expanded = own.masked.text[own.node.start_byte : own.node.end_byte]
    if len(_ANY.findall(expanded)) != len(_ANY.findall(source.text(source.function))):
        return None  # a macro asks for ids
    found = list[tuple[str, Node]]()
    for name, call in source.calls():
        if name not in WORK_ITEM:
            continue
        arguments = call.child_by_field_name("arguments")
        given = [source.text(each) for each in arguments.named_children] if arguments is not None else []
        if name not in ("get_global_id", "get_global_size") or given not in (["0"], ["1"], ["2"]):
            return None
        if given == ["0"]:
            found.append((name, call))
    named = len(_ANY.findall(source.text(source.function)))
    asked = sum(name in WORK_ITEM for name, _ in source.calls())
    return found if named == asked and any(name == "get_global_id" for name, _ in found) else None


def _is_independent(source: KernelSource) -> bool:
    """Return whether no work-item sees what another one does, and none leaves a trace for the next in its loop."""
    if any(_ORDER.fullmatch(name) for name, _ in source.calls()) or "volatile" in source.raw[source.start :]:
        return False
    if next(source.nodes("goto_statement", "labeled_statement", "pointer_expression", "storage_class_specifier"), None):
        return False
    parameters = {parameter.name for parameter in source.kernel.parameters}
    if parameters & set(assigned_names(source, source.body)) or "->" in source.text(source.body):
        return False
    for parameter in source.kernel.of_kind(ParameterKind.BUFFER):
        places = [place_of(use) for use in source.uses(parameter.name)]
        known = [place for place in places if place is not None]
        stored = [place for place in known if is_stored(place)]
        if len(known) < len(places):
            return False
        indices = {squeezed(source.text(place.child_by_field_name("index") or place)) for place in known}
        if stored and (len(indices) > 1 or not all(_is_by_id(source, place) for place in stored)):
            return False
    return True


def _is_by_id(source: KernelSource, place: Node) -> bool:
    """Return whether what is stored to is chosen by plain arithmetic, not by what other buffers hold."""
    index = place.child_by_field_name("index")
    return index is not None and next(source.nodes("subscript_expression", inside=index), None) is None


def _is_in_loop(node: Node, body: Node) -> bool:
    at = node.parent
    while at is not None and at != body:
        if at.type in _LOOPS:
            return True
        at = at.parent
    return False


def _looped(source: KernelSource, ids: list[tuple[str, Node]], returns: list[Node], items: int) -> list[TextEdit]:
    number, item = new_name(source, "part"), new_name(source, "item")
    end, tab = source.line_end, source.tab
    first, last = source.body.start_byte, source.body.end_byte - 1
    indentation = source.line_indentation(first)
    own = f"get_global_id(0) + {number} * get_global_size(0)"
    head = f"{end}{indentation}{tab}for (uint {number} = 0; {number} < {items}; ++{number}) {{"
    head += f"{end}{indentation}{tab}{tab}const size_t {item} = {own};"
    edits = [TextEdit(first + 1, first + 1, head)]
    for name, call in ids:
        text = item if name == "get_global_id" else f"(get_global_size(0) * {items})"
        edits.append(TextEdit(call.start_byte, call.end_byte, text))
    edits += [TextEdit(each.start_byte, each.end_byte, "continue;") for each in returns]
    lines = source.raw[first:last].split("\n")
    at = first
    for line, following in pairwise(lines):
        at += len(line) + 1
        if following.strip() and at + len(following) < last:
            edits.append(TextEdit(at, at, tab))
    is_alone = source.is_first_on_line(last)
    closing = f"{tab}}}{end}{indentation}" if is_alone else " }"
    return sorted([*edits, TextEdit(last, last, closing)], key=lambda each: (each.start, each.end))
