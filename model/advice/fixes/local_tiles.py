"""Load what the rows and columns of a work-group share into tiles of local memory, for products such as matrices'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from model.advice.advice import AdviceCode, names_text
from model.advice.fixes.accesses import (
    BLOCKING,
    assigned_names,
    declared_names,
    is_stored,
    is_unconditional,
    new_name,
    place_of,
    squeezed,
)
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource
from model.opencl.kernel import ParameterKind
from model.opencl.syntax import without_parentheses
from model.opencl.types import PointerType, ScalarType, VectorType

_SIDES = (8, 16, 32)
_MOST_BYTES = 32768
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"(\d+)[uUlL]*")
_ID = re.compile(r"get_(?:global|local|group)_id")
_SIZE = re.compile(r"get_(?:global|local)_size|get_num_groups")
_FROM_ZERO = re.compile(r"(int|uint|unsigned int|unsigned|size_t|long)\s+(\w+)\s*=\s*0[uU]?\s*;?")
_KERNEL = re.compile(r"(?:__)?kernel\b")
_LEAVES = ("return_statement", "break_statement", "continue_statement", "goto_statement", "labeled_statement")


@dataclass(frozen=True, slots=True)
class _Loop:
    """`for (kind counter = 0; counter < bound; ++counter) body`, whose bound all work-items share."""

    node: Node
    kind: str
    counter: str
    bound: str
    body: Node


@dataclass(frozen=True, slots=True)
class _Shared:
    """What a row (dimension 1) or a column (dimension 0) of work-items loads from one buffer, all of them alike."""

    buffer: str
    element: str
    index: Node
    places: tuple[Node, ...]
    is_row: bool


def tiled_products(setting: Setting) -> Iterator[Fix]:
    """Yield, for each loop that rows and columns of a square group load the same in, the loop over tiles.

    Exact: sums stay in their order, and each work-item loads just what it loaded before, once for all that share it.
    Only where the loop is run by all work-items of a group, stores nothing to memory, and loads at each iteration.
    """
    source, local = setting.source, setting.launch.local_size
    if not setting.is_gpu or not source.is_plain or local is None or setting.is_assumed("local"):
        return
    side = local[0]
    if side not in _SIDES or tuple(local) != (side, side, 1)[: len(local)] or len(local) < 2:
        return
    if len({each.spec.local_size for each in setting.annotations}) > 1 or any(
        size % side for size in setting.launch.global_size[:2]
    ):
        return
    for node in source.nodes("for_statement"):
        loop = _loop(source, node)
        if loop is None:
            continue
        guards = _guards(setting, node)
        shared = list(_shared(source, loop))
        size = sum(_bytes(source, each.buffer) for each in shared) * side * side
        if guards is None or not shared or size > _MOST_BYTES:
            continue
        names = names_text([each.buffer for each in shared])
        title = f"Load {names} by tiles of {side}x{side} in the loop of line {node.start_point[0] + 1}"
        promise = f"the host launches it with a local size of {side}x{side} and no other"
        edits = sorted(_edits(source, loop, shared, side), key=lambda each: (each.start, each.end))
        yield Fix(AdviceCode.LOCAL_TILE, title, tuple(edits), " and ".join([promise, *guards]))


def _bytes(source: KernelSource, buffer: str) -> int:
    parameter = source.kernel.parameter(buffer)
    kind = parameter.type if parameter is not None else None
    return kind.pointee.size_bytes if isinstance(kind, PointerType) else 0


# The loop


def _loop(source: KernelSource, node: Node) -> _Loop | None:
    """Return the parts of a loop that counts from 0 by ones and does nothing but compute."""
    parts = (node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body"))
    initial, condition, update, body = parts
    if initial is None or condition is None or update is None or body is None:
        return None
    first = re.fullmatch(
        r"(int|uint|unsigned int|unsigned|size_t|long)\s+(\w+)\s*=\s*0[uU]?\s*;?", source.text(initial)
    )
    bound = re.fullmatch(r"(\w+)\s*<\s*(\w+)", source.text(condition).strip())
    if first is None or bound is None or bound[1] != first[2]:
        return None
    counter = first[2]
    if squeezed(source.text(update)) not in (f"{counter}++", f"++{counter}", f"{counter}+=1"):
        return None
    if next(source.nodes(*_LEAVES, "for_statement", "while_statement", "do_statement", inside=body), None) is not None:
        return None
    if next(source.nodes("pointer_expression", "declaration", "switch_statement", inside=body), None) is not None:
        return None
    if any(BLOCKING.fullmatch(name) for name, _ in source.calls(node)) or "->" in source.text(body):
        return None
    if any(is_stored(each) for each in source.nodes("subscript_expression", inside=body)):
        return None
    if counter in set(assigned_names(source, body)) or _dimensions(source, condition, counter) != set():
        return None
    limit = f"({bound[2]})" if bound[2] in source.constants else bound[2]
    return _Loop(node, first[1], counter, limit, body)


def _guards(setting: Setting, loop: Node) -> tuple[str, ...] | None:
    """Return what must hold for all work-items of a group to come to the loop; None where some might not."""
    source = setting.source
    at, promises = loop, list[str]()
    while at.parent is not None and at != source.body:
        above = at.parent
        if above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            if above.child_by_field_name("consequence") != at or condition is None:
                return None
            if not _always(setting, condition, wanted=True):
                return None
            promises.append(_passes(condition))
        elif above.type != "compound_statement" and above != source.function:
            return None
        at = above
    for leave in source.nodes("return_statement"):
        if leave.start_byte > loop.start_byte:
            continue
        guard = leave.parent
        if guard is not None and guard.type == "compound_statement" and len(guard.named_children) == 1:
            guard = guard.parent
        condition = guard.child_by_field_name("condition") if guard is not None else None
        if guard is None or guard.type != "if_statement" or condition is None or guard.parent != source.body:
            return None
        if not _always(setting, condition, wanted=False):
            return None
        promises.append(_passes(condition))
    return tuple(dict.fromkeys(promises))


def _passes(condition: Node) -> str:
    return f"the condition of line {condition.start_point[0] + 1} lets all its work-items pass"


def _always(setting: Setting, node: Node, *, wanted: bool) -> bool:
    """Return whether a condition on ids has this value for all work-items of the launch: `row < m && col < n`."""
    source = setting.source
    node = without_parentheses(node)
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if node.type != "binary_expression" or left is None or right is None or operator is None:
        return False
    if operator.type == ("&&" if wanted else "||"):
        return _always(setting, left, wanted=wanted) and _always(setting, right, wanted=wanted)
    dimension = _global_id(source, left)
    limit = dict(setting.launch.scalars).get(source.text(right))
    if _NUMBER.fullmatch(source.text(right)):
        limit = int(source.text(right).rstrip("uUlL"))
    if operator.type != ("<" if wanted else ">=") or dimension is None or limit is None:
        return False
    return dimension < len(setting.launch.global_size) and setting.launch.global_size[dimension] <= limit


def _global_id(source: KernelSource, node: Node) -> int | None:
    """Return the dimension of a variable that is a global id, or of the id itself."""
    text = squeezed(source.text(node))
    if node.type == "identifier":
        value = _value(source, text)
        text = squeezed(source.text(value)) if value is not None else ""
    found = re.fullmatch(r"(?:\(\w+\))?get_global_id\(([01])\)", text)
    return int(found[1]) if found is not None else None


# What is shared


def _shared(source: KernelSource, loop: _Loop) -> Iterator[_Shared]:
    for parameter in source.kernel.of_kind(ParameterKind.BUFFER):
        kind = parameter.type
        uses = list(source.uses(parameter.name, loop.node))
        places = [place for place in map(place_of, uses) if place is not None]
        if not places or len(places) < len(uses) or not isinstance(kind, PointerType) or kind.is_volatile:
            continue
        if not isinstance(kind.pointee, ScalarType | VectorType) or "half" in kind.pointee.name:
            continue
        index = places[0].child_by_field_name("index")
        texts = {squeezed(source.text(place)) for place in places}
        if index is None or len(texts) > 1 or not any(is_unconditional(place, loop.body) for place in places):
            continue
        dimensions = _dimensions(source, index, loop.counter)
        if dimensions is None or loop.counter not in _WORD.findall(source.text(index)) or len(dimensions) > 1:
            continue
        yield _Shared(parameter.name, kind.pointee.name, index, tuple(places), 0 not in dimensions)


def _dimensions(source: KernelSource, node: Node, counter: str, depth: int = 0) -> set[int] | None:
    """Return the dimensions whose ids an expression depends on; None where it depends on anything else."""
    if depth > 8 or next(source.nodes("subscript_expression", "field_expression", inside=node), None) is not None:
        return None
    if next(source.nodes("assignment_expression", "update_expression", "pointer_expression", inside=node), None):
        return None
    found = set[int]()
    called = set[str]()
    for name, call in source.calls(node):
        arguments = call.child_by_field_name("arguments")
        given = squeezed(source.text(arguments)) if arguments is not None else ""
        if _ID.fullmatch(name) and given in ("(0)", "(1)", "(2)"):
            found |= {int(given[1])} - {2}  # a group has one work-item in dimension 2
        elif not _SIZE.fullmatch(name):
            return None
        called.add(name)
    for identifier in source.nodes("identifier", inside=node):
        name = source.text(identifier)
        if name == counter or name in called:
            continue
        parameter = source.kernel.parameter(name)
        is_changed = name in set(assigned_names(source, source.body))
        value = _value(source, name)
        if parameter is not None and parameter.kind is ParameterKind.SCALAR and not is_changed and value is None:
            continue
        if value is not None and not is_changed:
            own = _dimensions(source, value, "", depth + 1)
            if own is None:
                return None
            found |= own
        elif value is not None or parameter is not None or name not in source.constants:
            return None
    return found


def _value(source: KernelSource, name: str) -> Node | None:
    """Return what a variable is declared as; None where it is not declared once, with a value."""
    every = [each for node in source.nodes("declaration") for each in declared_names(source, node)]
    if every.count(name) != 1 or source.kernel.parameter(name) is not None:
        return None
    if any(True for pointer in source.nodes("pointer_expression") for _ in source.uses(name, pointer)):
        return None
    for node in source.nodes("init_declarator"):
        declarator = node.child_by_field_name("declarator")
        if declarator is not None and declarator.type == "identifier" and source.text(declarator) == name:
            return node.child_by_field_name("value")
    return None


# The text


def _edits(source: KernelSource, loop: _Loop, shared: list[_Shared], side: int) -> Iterator[TextEdit]:
    end, tab, indentation = source.line_end, source.tab, source.line_indentation(loop.node.start_byte)
    counter, start, stop = (
        loop.counter,
        new_name(source, f"{loop.counter}_tile"),
        new_name(source, f"{loop.counter}_end"),
    )
    word = next(iter(_KERNEL.finditer(source.raw, source.start, source.body.start_byte)), None)
    if word is not None and source.kernel.attributes.reqd_work_group_size is None:
        yield TextEdit(word.end(), word.end(), f" __attribute__((reqd_work_group_size({side}, {side}, 1)))")
    tiles = {each.buffer: new_name(source, f"{each.buffer}_tile") for each in shared}
    inside = source.line_indentation(source.body.start_byte) + tab
    declared = [f"{end}{inside}__local {each.element} {tiles[each.buffer]}[{side}][{side}];" for each in shared]
    yield TextEdit(source.body.start_byte + 1, source.body.start_byte + 1, "".join(declared))
    lines = [f"for ({loop.kind} {start} = 0; {start} < {loop.bound}; {start} += {side}) {{"]
    is_whole = loop.bound.isdecimal() and not int(loop.bound) % side
    if is_whole:
        limit = f"{start} + {side}"
    else:
        limit = stop
        lines.append(
            f"{tab}const {loop.kind} {stop} = {loop.bound} - {start} < {side} ? {loop.bound} : {start} + {side};"
        )
    for each in shared:
        at = f"{start} + ({loop.kind})get_local_id({0 if each.is_row else 1})"
        index = re.sub(rf"\b{counter}\b", f"({at})", source.text(each.index))
        store = f"{tiles[each.buffer]}[get_local_id(1)][get_local_id(0)] = {each.buffer}[{index}];"
        lines += [f"{tab}{store}"] if is_whole else [f"{tab}if ({at} < {loop.bound})", f"{tab}{tab}{store}"]
    lines.append(f"{tab}barrier(CLK_LOCAL_MEM_FENCE);")
    lines.append(f"{tab}for ({loop.kind} {counter} = {start}; {counter} < {limit}; ++{counter})")
    head = len(source.masked.text[: loop.body.start_byte].rstrip())
    yield TextEdit(loop.node.start_byte, head, f"{end}{indentation}".join(lines))
    for found in re.finditer("\n", source.raw[head : loop.node.end_byte]):
        yield TextEdit(head + found.end(), head + found.end(), tab)
    for each in shared:
        part = f"{counter} - {start}"
        place = f"[get_local_id(1)][{part}]" if each.is_row else f"[{part}][get_local_id(0)]"
        for node in each.places:
            yield TextEdit(node.start_byte, node.end_byte, f"{tiles[each.buffer]}{place}")
    tail = f"{end}{indentation}{tab}barrier(CLK_LOCAL_MEM_FENCE);{end}{indentation}}}"
    yield TextEdit(loop.node.end_byte, loop.node.end_byte, tail)
