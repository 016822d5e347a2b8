"""Who decides a launch's control flow: the launch alone, data that `fill` describes, or data that nothing describes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from model.launch.fill_target import buffer_of
from model.launch.launch import Launch
from model.opencl.types import AddressSpace
from model.work.expressions.symbolic import Atom
from model.work.regions.region import Block, Branch, Loop
from model.work.work import Work


class Decided(StrEnum):
    """The class of a launch; its value is what the table says."""

    BY_LAUNCH = "launch"
    BY_FILL = "fill"
    BY_NOBODY = "open"  # values computed at run time, or buffers without a `fill`


def decided(work: Work, launch: Launch) -> Decided:
    """By whom trip counts and conditions of code that computes or moves something are decided."""
    deciding = {a for a in _leaves(work.root) if a.kind in ("load", "unknown") or a in work.parameters}
    tables = _tables(work)
    names = {str(a.arguments[0]) if a.kind == "load" else None for a in deciding} - tables
    if not names:
        return Decided.BY_LAUNCH
    described = {buffer_of(key) for key, _ in launch.fills}
    return Decided.BY_FILL if names <= described else Decided.BY_NOBODY


def _leaves(block: Block) -> Iterator[Atom]:
    for inner in block.inner:
        if isinstance(inner, Loop) and not _is_empty(inner.body):
            yield from inner.trips.leaves
            yield from _leaves(inner.body)
        elif isinstance(inner, Branch) and not (_is_empty(inner.then) and _is_empty(inner.otherwise)):
            yield from inner.condition.leaves
            yield from _leaves(inner.then)
            yield from _leaves(inner.otherwise)


def _is_empty(block: Block) -> bool:
    return not (block.ops or block.accesses or block.barriers or block.inner)


def _tables(work: Work) -> set[str | None]:
    """Constants of the program: what they hold stands in the source."""
    parameters = {p.name for p in work.kernel.parameters}
    return {a.buffer for a in work.accesses() if a.space is AddressSpace.CONSTANT} - parameters
