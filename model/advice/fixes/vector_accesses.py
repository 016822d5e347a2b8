"""Load or store neighbouring elements of a buffer by one `vload4` or `vstore4`, and not one by one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from model.advice.advice import AdviceCode, names_text
from model.advice.fixes.accesses import assigned_names, declared_names, is_stored, is_unconditional, new_name, place_of
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource
from model.advice.fixes.straight_code import Place, keeps_indices, loaded_from, place, stored_to, straight_runs
from model.opencl.kernel import ParameterKind
from model.opencl.types import PointerType, ScalarType

_WIDTHS = (16, 8, 4, 2)  # of OpenCL's vectors, without 3
_ELEMENTS = frozenset({"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"})


@dataclass(frozen=True, slots=True)
class _Vector:
    """One vector access of statements `first` to `last`, and the buffers that its own must not overlap."""

    buffer: str
    width: int
    is_store: bool
    first: int
    last: int
    edits: tuple[TextEdit, ...]
    apart: tuple[str, ...]


def vector_accesses(setting: Setting) -> Iterator[Fix]:
    """Yield one fix with all vector loads and stores that the kernel's blocks allow.

    Only statements that run one after the other, whose every access is in sight. A vector has just the elements that
    were accessed, so nothing lies outside of a buffer that did not before, and `vload4` asks for no other alignment.
    Where a store could change what a later statement loads, the fix rests on the promise that the two do not overlap.
    For GPUs alone: compilers for CPUs make vectors of neighbouring work-items, which this hinders (0.1x to 0.75x).
    """
    source = setting.source
    if (
        not setting.is_gpu
        or not source.is_plain
        or next(source.nodes("goto_statement", "labeled_statement"), None) is not None
    ):
        return
    pointers = _pointers(source)
    taken = set[str]()
    found = list[_Vector]()
    for block in source.nodes("compound_statement"):
        for run in straight_runs(source, block):
            stores = list(_stores(source, run, pointers))
            found += [*stores, *_loads(source, run, pointers, stores, taken)]
    if not found:
        return
    edits = sorted((edit for each in found for edit in each.edits), key=lambda each: (each.start, each.end))
    title = " and ".join(
        f"{'store' if is_store else 'load'} {_buffers(found, is_store)} by {_functions(found, is_store)}"
        for is_store in sorted({each.is_store for each in found})
    )
    yield Fix(AdviceCode.SCALAR_ACCESS, title[0].upper() + title[1:], tuple(edits), _promise(found))


def _buffers(found: Sequence[_Vector], is_store: bool) -> str:
    return names_text(list(dict.fromkeys(each.buffer for each in found if each.is_store is is_store)))


def _functions(found: Sequence[_Vector], is_store: bool) -> str:
    widths = sorted({each.width for each in found if each.is_store is is_store})
    return names_text([f"{'vstore' if is_store else 'vload'}{width}" for width in widths])


def _promise(found: Sequence[_Vector]) -> str:
    pairs = {frozenset((each.buffer, other)) for each in found for other in each.apart}
    by_first: dict[str, list[str]] = defaultdict(list)
    for first, other in sorted(sorted(pair) for pair in pairs):
        by_first[first].append(other)
    return " and ".join(f"{names_text([one])} shares no memory with {names_text(own)}" for one, own in by_first.items())


def _pointers(source: KernelSource) -> dict[str, PointerType]:
    """Return the buffers whose elements vectors are made of, and that no variable hides or moves."""
    hidden = {name for node in source.nodes("declaration") for name in declared_names(source, node)}
    hidden |= set(assigned_names(source, source.body))
    return {
        parameter.name: parameter.type
        for parameter in source.kernel.of_kind(ParameterKind.BUFFER, ParameterKind.LOCAL)
        if isinstance(parameter.type, PointerType)
        and isinstance(parameter.type.pointee, ScalarType)
        and parameter.type.pointee.name in _ELEMENTS
        and not parameter.type.is_volatile
        and parameter.name not in hidden
    }


def _places(source: KernelSource, name: str, statement: Node, number: int) -> list[Place] | None:
    """Return all places of a buffer in a statement; None where one is not in sight."""
    found = [(use, place_of(use)) for use in source.uses(name, statement)]
    places = [place(source, node, number) if node is not None else None for _, node in found]
    known = [each for each in places if each is not None]
    return known if len(known) == len(places) else None


# Loads


def _loads(
    source: KernelSource,
    run: Sequence[Node],
    pointers: dict[str, PointerType],
    stores: Sequence[_Vector],
    taken: set[str],
) -> Iterator[_Vector]:
    for name, kind in pointers.items():
        by_statement = [_places(source, name, statement, number) for number, statement in enumerate(run)]
        known = [each for own in by_statement if own is not None for each in own]
        if None in by_statement or any(is_stored(each.node) for each in known):
            continue
        groups: dict[str, list[Place]] = defaultdict(list)
        for each in known:
            if is_unconditional(each.node, run[each.statement]):
                groups[each.rest].append(each)
        for own in groups.values():
            for vector in _neighbours(own):
                if (load := _load(source, run, name, kind, vector, stores, taken)) is not None:
                    yield load


def _neighbours(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Yield the places of each whole vector: neighbours without a gap, as many as a vector has components."""
    constants = sorted({each.constant for each in places})
    while constants:
        count = 1
        while count < len(constants) and constants[count] == constants[0] + count:
            count += 1
        if count in _WIDTHS:
            yield [each for each in places if 0 <= each.constant - constants[0] < count]
        constants = constants[count:]


def _load(
    source: KernelSource,
    run: Sequence[Node],
    name: str,
    kind: PointerType,
    places: Sequence[Place],
    stores: Sequence[_Vector],
    taken: set[str],
) -> _Vector | None:
    first, last = min(each.statement for each in places), max(each.statement for each in places)
    # What is one statement after the edit is not cut in two.
    first = min([first, *(each.first for each in stores if each.first <= first <= each.last)])
    apart = stored_to(source, run[first:last], kind)  # the last statement stores after it has loaded
    if apart is None or name in apart or not keeps_indices(source, places, run[first : last + 1]):
        return None
    base, begin = min(places, key=lambda each: each.constant), run[first].start_byte
    width = len({each.constant for each in places})
    variable = next(each for each in _names(source, f"{name}{width}") if each not in taken)
    taken.add(variable)
    separator = f"{source.line_end}{source.line_indentation(begin)}" if source.is_first_on_line(begin) else " "
    text = f"const {kind.pointee.name}{width} {variable} = vload{width}(0, {_address(name, base)});{separator}"
    edits = [TextEdit(begin, begin, text)]
    for each in places:
        component = f"{variable}.s{each.constant - base.constant:x}"
        edits.append(TextEdit(each.node.start_byte, each.node.end_byte, component))
    return _Vector(name, width, False, first, last, tuple(edits), apart)


def _names(source: KernelSource, wanted: str) -> Iterator[str]:
    yield new_name(source, wanted)
    for number in range(2, 1000):
        yield new_name(source, f"{wanted}_{number}")


def _address(name: str, base: Place) -> str:
    if base.index.strip() == "0":
        return name
    return f"{name} + {base.index}" if re.fullmatch(r"[\w *+]+", base.index) else f"{name} + ({base.index})"


# Stores


def _stores(source: KernelSource, run: Sequence[Node], pointers: dict[str, PointerType]) -> Iterator[_Vector]:
    at = 0
    while at < len(run):
        found = next((each for width in _WIDTHS if (each := _store(source, run, at, width, pointers))), None)
        if found is not None:
            yield found
        at = found.last + 1 if found is not None else at + 1


def _store(
    source: KernelSource, run: Sequence[Node], at: int, width: int, pointers: dict[str, PointerType]
) -> _Vector | None:
    """Return the store of `width` neighbours by as many statements from `at` on, if they do just that."""
    statements = run[at : at + width]
    stored = [_assignment(source, statement, at + n) for n, statement in enumerate(statements)]
    known = [each for each in stored if each is not None]
    if len(known) < width or len({(each.buffer, each.place.rest) for each in known}) > 1:
        return None
    name, first = known[0].buffer, known[0]
    constants = [each.place.constant for each in known]
    if name not in pointers or constants != list(range(constants[0], constants[0] + width)):
        return None
    for number, statement in enumerate(statements):
        # What a statement loads must not be what one before it stored.
        places = _places(source, name, statement, at + number)
        if places is None or any(each.rest != first.place.rest or each.constant < constants[number] for each in places):
            return None
    apart = loaded_from(source, statements[1:], pointers[name])
    gaps = [(a.value.end_byte, b.value.start_byte) for a, b in pairwise(known)]
    if apart is None or not keeps_indices(source, [each.place for each in known], statements):
        return None
    begin, end = statements[0].start_byte, statements[-1].end_byte
    around = [(begin, first.value.start_byte), *gaps, (known[-1].value.end_byte, end)]
    if any(source.raw[a:b] != source.masked.text[a:b] for a, b in around):
        return None  # a comment would be lost
    element = pointers[name].pointee.name
    breaks = source.line_end + source.line_indentation(begin) + source.tab if end - begin > 80 else " "
    opening = f"vstore{width}(({element}{width})({'' if breaks == ' ' else breaks}"
    edits = [TextEdit(begin, first.value.start_byte, opening)]
    edits += [TextEdit(a, b, f",{breaks}") for a, b in gaps]
    edits.append(TextEdit(known[-1].value.end_byte, end, f"), 0, {_address(name, first.place)});"))
    others = tuple(other for other in apart if other != name)
    return _Vector(name, width, True, at, at + width - 1, tuple(edits), others)


@dataclass(frozen=True, slots=True)
class _Assignment:
    buffer: str
    place: Place
    value: Node


def _assignment(source: KernelSource, statement: Node, number: int) -> _Assignment | None:
    """Return the parts of `x[i] = value;` where computing the value changes nothing."""
    top = statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
    if top is None or top.type != "assignment_expression":
        return None
    left, value, operator = (top.child_by_field_name(part) for part in ("left", "right", "operator"))
    if left is None or value is None or operator is None or operator.type != "=":
        return None
    base = left.child_by_field_name("argument") if left.type == "subscript_expression" else None
    if base is None or base.type != "identifier" or value.type == "initializer_list":
        return None
    if next(source.nodes("assignment_expression", "update_expression", inside=value), None) is not None:
        return None
    where = place(source, left, number)
    return _Assignment(source.text(base), where, value) if where is not None else None
