"""Keep in a variable what a loop loads, or loads and stores, at one place of a buffer again and again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from model.advice.advice import AdviceCode, names_text
from model.advice.fixes.accesses import (
    BLOCKING,
    array_names,
    assigned_names,
    declared_names,
    is_stored,
    is_unconditional,
    may_overlap,
    new_name,
    place_of,
    squeezed,
)
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource
from model.opencl.kernel import Parameter, ParameterKind
from model.opencl.types import PointerType, ScalarType, VectorType

_COUNTED = re.compile(r"\w+\s*=\s*(\d+)[uUlL]*\s*;?")  # the end of `int k = 0;`
_BOUND = re.compile(r"(\w+)\s*(?:<|<=|!=)\s*([^<>=!&|]+)")
_FREE_CALLS = re.compile(r"get_(?:global|local|group)_(?:id|size)|get_num_groups|mul24|mad24|min|max")


@dataclass(frozen=True, slots=True)
class _Uses:
    """All uses of one buffer in a loop, at one place of it."""

    parameter: Parameter
    kind: PointerType
    loads: tuple[Node, ...]
    stores: tuple[Node, ...]  # what is assigned to, by `=`, `+=`, `++` and their like


def repeated_loads(setting: Setting) -> Iterator[Fix]:
    """Yield, for each buffer that a loop accesses at one place alone, the loop with a variable instead.

    Only for loops whose every access is in sight. Where the loop stores to another buffer, or what is stored could be
    read through another one, the fix rests on the promise that these do not overlap; where the types tell, it does not.
    The place must be accessed whenever an iteration runs.
    """
    source = setting.source
    if not source.is_plain or next(source.nodes("goto_statement", "labeled_statement"), None) is not None:
        return
    done: set[str] = set()
    for loop in source.nodes("for_statement"):
        begins = _begins(source, loop)
        if begins is None or _is_blocked(source, loop):
            continue
        for uses in _invariant(source, loop):
            place = source.text((*uses.loads, *uses.stores)[0])
            if place not in done and (fix := _kept_in_variable(source, loop, uses, begins)) is not None:
                done.add(place)
                yield fix


def _begins(source: KernelSource, loop: Node) -> str | None:
    """Return what must hold for a loop to run at all, in words; "" if it does, None where work-items decide each alone.

    Before a loop that does not run, its places must not be touched: they may be outside of the buffer.
    """
    initial, condition = loop.child_by_field_name("initializer"), loop.child_by_field_name("condition")
    if initial is None or condition is None:
        return None
    first, bound = _COUNTED.search(source.text(initial)), _BOUND.fullmatch(source.text(condition).strip())
    if first is None or bound is None or not source.text(initial).rstrip("; ").endswith(first[0].rstrip("; ")):
        return None
    if (limit := re.fullmatch(r"(\d+)[uUlL]*", bound[2].strip())) is not None:
        return "" if int(first[1]) < int(limit[1]) else None
    shared = {p.name for p in source.kernel.of_kind(ParameterKind.SCALAR)} - set(assigned_names(source, source.body))
    names = {source.text(each) for each in source.nodes("identifier", inside=condition)} - {bound[1]}
    if any(name not in shared and source.kernel.parameter(name) is None and not name.isupper() for name in names):
        return None
    is_plain = not any(True for _ in source.nodes("call_expression", "subscript_expression", inside=condition))
    line = source.raw.count("\n", 0, loop.start_byte) + 1
    return f"the loop of line {line} runs at least once" if is_plain else None


def _is_blocked(source: KernelSource, loop: Node) -> bool:
    leaves = ("return_statement", "break_statement", "continue_statement", "pointer_expression", "asm_statement")
    if next(source.nodes(*leaves, inside=loop), None) is not None:
        return True
    return any(BLOCKING.fullmatch(name) for name, _ in source.calls(loop))


def _invariant(source: KernelSource, loop: Node) -> Iterator[_Uses]:
    changing = _changing(source, loop)
    named = {p.name: p for p in source.kernel.of_kind(ParameterKind.BUFFER, ParameterKind.LOCAL)}
    by_buffer: dict[str, list[Node]] = defaultdict(list)
    for use in source.nodes("identifier", inside=loop):
        if source.text(use) in named:
            by_buffer[source.text(use)].append(use)
    for name, uses in by_buffer.items():
        kind = named[name].type
        places = [place_of(use) for use in uses]
        if not isinstance(kind, PointerType) or kind.is_volatile or name in changing or None in places:
            continue
        if not isinstance(kind.pointee, ScalarType | VectorType) or "half" in kind.pointee.name:
            continue
        known = [place for place in places if place is not None]
        if len({squeezed(source.text(place)) for place in known}) != 1 or not _is_fixed(source, known[0], changing):
            continue
        stores = tuple(place for place in known if is_stored(place))
        body = loop.child_by_field_name("body")
        if body is not None and any(is_unconditional(place, body) for place in known):
            yield _Uses(named[name], kind, tuple(p for p in known if p not in stores), stores)


def _changing(source: KernelSource, loop: Node) -> set[str]:
    """Return the names that an index must not use: those that the loop declares or assigns to.

    Also pointers that are moved anywhere, names that are declared twice, and those whose address is taken.
    """
    inside, anywhere = set(assigned_names(source, loop)), set(assigned_names(source, source.body))
    every = [name for node in source.nodes("declaration") for name in declared_names(source, node)]
    return {
        *inside,
        *(name for name in anywhere if source.kernel.parameter(name) is not None),
        *(name for node in source.nodes("declaration", inside=loop) for name in declared_names(source, node)),
        *(name for name in every if every.count(name) > 1 or source.kernel.parameter(name) is not None),
        *(
            source.text(name)
            for node in source.nodes("pointer_expression")
            for name in source.nodes("identifier", inside=node)
        ),
    }


def _is_fixed(source: KernelSource, place: Node, changing: set[str]) -> bool:
    """Return whether an index is the same in all iterations, and can be computed before the loop."""
    index = place.child_by_field_name("index")
    if index is None or next(source.nodes("subscript_expression", "comma_expression", inside=index), None) is not None:
        return False
    if next(source.nodes("assignment_expression", "update_expression", "field_expression", inside=index), None):
        return False
    if any(not _FREE_CALLS.fullmatch(name) for name, _ in source.calls(index)):
        return False
    return not any(source.text(each) in changing for each in source.nodes("identifier", inside=index))


def _kept_in_variable(source: KernelSource, loop: Node, uses: _Uses, begins: str) -> Fix | None:
    name, kind = uses.parameter.name, uses.kind
    initial = loop.child_by_field_name("initializer")
    if initial is not None and any(True for _ in source.uses(name, initial)):
        return None
    others = _others(source, loop, uses)
    if others is None:
        return None
    variable = new_name(source, f"{name}_value")
    place = source.raw[(first := (*uses.loads, *uses.stores)[0]).start_byte : first.end_byte]
    edits = [TextEdit(each.start_byte, each.end_byte, variable) for each in (*uses.loads, *uses.stores)]
    parent = loop.parent
    is_alone = parent is None or parent.type != "compound_statement"
    line_end, indentation = source.line_end, source.line_indentation(loop.start_byte)
    is_first = source.is_first_on_line(loop.start_byte) and not is_alone
    separator = f"{line_end}{indentation}" if is_first else " "
    is_const = not uses.stores
    begin = f"{'const ' if is_const else ''}{kind.pointee.name} {variable} = {place};{separator}"
    edits.append(TextEdit(loop.start_byte, loop.start_byte, ("{ " if is_alone else "") + begin))
    end = "" if is_const else f"{separator}{place} = {variable};"
    if end or is_alone:
        edits.append(TextEdit(loop.end_byte, loop.end_byte, end + (" }" if is_alone else "")))
    line = source.raw.count("\n", 0, loop.start_byte) + 1
    verb = "Load" if is_const else "Keep"
    title = f"{verb} `{place}` {'before' if is_const else 'in a variable during'} the loop of line {line}"
    apart = f"{names_text([name])} shares no memory with {names_text(others)}" if others else ""
    promise = " and ".join(each for each in (apart, begins) if each)
    ordered = sorted(edits, key=lambda each: (each.start, each.end))
    return Fix(AdviceCode.REPEATED_LOAD, title, tuple(ordered), promise)


def _others(source: KernelSource, loop: Node, uses: _Uses) -> tuple[str, ...] | None:
    """Return the buffers that must not overlap this one; None where not all that is stored is in sight."""
    pointers = {p.name: p.type for p in source.kernel.parameters if isinstance(p.type, PointerType)}
    arrays = {name for node in source.nodes("declaration") for name in array_names(source, node)}
    found = set[str]()
    for node in source.nodes("subscript_expression", inside=loop):
        base = node.child_by_field_name("argument")
        while base is not None and base.type in ("subscript_expression", "field_expression"):
            base = base.child_by_field_name("argument")
        other = source.text(base) if base is not None and base.type == "identifier" else ""
        if other in arrays or other == uses.parameter.name:
            continue
        if other not in pointers:
            return None
        if (uses.stores or is_stored(node)) and may_overlap(uses.kind, pointers[other]):
            found.add(other)
    return tuple(sorted(found))
