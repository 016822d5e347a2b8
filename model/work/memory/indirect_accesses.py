"""Accesses through what a buffer holds, `x[col[i]]`: how many different draws the data make, how much each takes."""

from __future__ import annotations

from dataclasses import replace

from model.work.expressions.contents import held_at
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.operations import substituted
from model.work.expressions.symbolic import ZERO, Atom, Expression
from model.work.memory.byte_footprints import SHALLOW, touched
from model.work.memory.scopes import Draws, Scope, Shape, is_counter
from model.work.memory.strided import blocks, union_size
from model.work.regions.region import Access
from model.work.walk.access_extents import Visit

_LINE_BYTES = 64


def draws(access: Access, visits: list[Visit], scope: Scope, known: LaunchBindings, shape: Shape) -> Draws | None:
    """None for scans: lists that begin where the data say, one after the other (`x[row[i] + k]`, or sorted data)."""
    key = (access.offset, access.element_bytes, access.is_image, id(visits), scope)
    if key not in shape.draws:
        shape.draws[key] = _found(access, visits, scope, known, shape)
    return shape.draws[key]


def _found(access: Access, visits: list[Visit], scope: Scope, known: LaunchBindings, shape: Shape) -> Draws | None:
    offset = access.offset
    if offset is None:
        return Draws(float("inf"), access.element_bytes, 1)
    loads = {leaf for leaf in offset.leaves if leaf.kind == "load"}
    if loads and (_is_scan(offset) or all(_is_smooth(leaf, known) for leaf in loads)):
        return None
    number = 1.0
    for leaf in _outermost(offset):
        place = leaf.arguments[1]
        inner = (
            replace(access, offset=place, element_bytes=1, is_image=False) if isinstance(place, Expression) else None
        )
        found = touched(inner, visits, scope, known, shape) if inner is not None else None
        number = number * union_size(found.sets).count * found.scale if found is not None else float("inf")
    if not loads or any(leaf.kind == "unknown" for leaf in offset.leaves):
        number = float("inf")
    if offset.depth > SHALLOW:
        return Draws(number, access.element_bytes, 1)
    rest = touched(replace(access, offset=_without(offset, loads)), visits, scope, known, shape)
    if rest is None or not rest.sets:
        return Draws(number, access.element_bytes, 1)
    return Draws(number, union_size(rest.sets).count, union_size(blocks(rest.sets, _LINE_BYTES)).count)


def _is_scan(offset: Expression) -> bool:
    """Return whether a loop counter is added to what the data say, in the same unit: the loop runs along a list."""
    alone = {m[0]: coefficient for m, coefficient in offset.terms if len(m) == 1}
    units = {c for atom, c in alone.items() if atom.kind == "load"}
    return any(atom.kind == "symbol" and is_counter(atom) and c in units for atom, c in alone.items())


def _is_smooth(load: Atom, known: LaunchBindings) -> bool:
    contents = held_at(load, known.contents)
    return contents is not None and contents.is_smooth


def _outermost(offset: Expression) -> tuple[Atom, ...]:
    """Return the loads in an index that stand in no other one."""
    loads = sorted((leaf for leaf in offset.leaves if leaf.kind == "load"), key=_serial, reverse=True)
    outermost: list[Atom] = []
    within: set[Atom] = set()
    for load in loads:  # each was made after those in its own index, which are in `within` with all that is in theirs
        if load not in within:
            outermost.append(load)
            within |= load.others
    return tuple(outermost)


def _serial(atom: Atom) -> int:
    return atom.serial


def _without(offset: Expression, loads: set[Atom]) -> Expression:
    return substituted(offset, dict.fromkeys(loads, ZERO))
