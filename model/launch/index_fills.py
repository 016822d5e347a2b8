"""What index buffers hold, where nobody said: contents that keep every index within what it points into."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from model.launch.access_bounds import AccessBounds
from model.launch.bounds import Bounds
from model.launch.fill_target import buffer_of
from model.launch.launch import Assumption, Fill, Launch
from model.launch.source_hints import SourceHints
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.types import AddressSpace, PointerType, ScalarKind, ScalarType, VectorType
from model.work.expressions.symbolic import Atom, Expression
from model.work.regions.region import Access, Block, Loop
from model.work.work import Work

ROW_LENGTH = 16  # assumed average length of a row between two row pointers
_HIGHER = (1, 2, 4, 8, 16, 32)  # than what stands in buffers otherwise
_DIVISIONS, _RANGES = frozenset({"div", "floordiv"}), frozenset({"sorted", "randint", "uniform"})
LISTED_TRIPS = 32  # assumed upper bound of a loop count that a buffer holds


@dataclass(slots=True)
class Uses:
    """What buffers are used for besides being read: as an index into others, as a loop's bounds."""

    index_into: dict[str, list[Access]] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)  # floats and structs that an index is worked out from
    row_pointers: set[str] = field(default_factory=set)
    trip_counts: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)  # of work-items, by dimension
    searched: set[str] = field(default_factory=set)  # by halves, so they ascend
    sought: dict[str, str] = field(default_factory=dict)  # in which of these their numbers are looked up

    @property
    def decide_trips(self) -> frozenset[str]:
        """Those that say how often loops run."""
        return frozenset((*self.row_pointers, *self.trip_counts))

    @property
    def all(self) -> frozenset[str]:
        return frozenset((*self.index_into, *self.row_pointers, *self.trip_counts, *self.counts))

    @property
    def filled(self) -> frozenset[str]:
        """Those of which more is known than the type."""
        return self.all | self.searched | self.sought.keys()

    @property
    def guesses(self) -> frozenset[str]:
        """Those whose contents decide how long a launch takes."""
        return self.decide_trips | self.searched | self.sought.keys()


def uses_of(kernel: Kernel, work: Work, hints: SourceHints) -> Uses:
    """Read all offsets and trip counts of `work`."""
    written = {access.buffer for access in work.accesses() if access.is_store}
    uses = Uses(counts={name: d for name, d in hints.counts.items() if name not in written})
    integers = {p.name for p in kernel.parameters if integer_element(p) is not None}
    for access in work.accesses():
        if access.offset is None or access.space not in (AddressSpace.GLOBAL, AddressSpace.CONSTANT):
            continue
        for name in {str(leaf.arguments[0]) for leaf in access.offset.leaves if leaf.kind == "load"}:
            if name != access.buffer and name in integers:
                uses.index_into.setdefault(name, []).append(access)
            elif name != access.buffer and kernel.parameter(name) is not None:
                uses.places.add(name)
    for trips in _trips(work.root):
        loads = [a for a in trips.leaves if a.kind == "load"]
        for load in loads:
            name = str(load.arguments[0])
            if name not in integers:
                continue
            paired = any(other is not load and other.arguments[0] == load.arguments[0] for other in loads)
            (uses.row_pointers if paired and not _nested(load, loads) else uses.trip_counts).add(name)
    for name in (*uses.index_into, *uses.row_pointers, *uses.trip_counts):
        uses.counts.pop(name, None)
    _note_searches(kernel, work, written, uses)
    return uses


def _note_searches(kernel: Kernel, work: Work, written: Set[str], uses: Uses) -> None:
    """Note what is searched by halves, and the buffers of the same type that are only read: there is what is sought."""
    reads = {p.name: _number(p) for p in kernel.of_kind(ParameterKind.BUFFER) if p.name not in written | uses.all}
    searched = [a.buffer for a in work.accesses() if a.waits_share and a.offset is not None and _halves(a.offset)]
    uses.searched.update(name for name in searched if reads.get(name) is not None)
    for table in sorted(uses.searched):
        alike = (name for name, number in reads.items() if number == reads[table] and name not in uses.searched)
        uses.sought.update((name, table) for name in alike)


def _number(parameter: Parameter) -> ScalarType | None:
    """Return the type of a buffer's numbers; None where they are more than that."""
    element = parameter.type.pointee if isinstance(parameter.type, PointerType) else None
    return element if isinstance(element, ScalarType) else None


def _halves(offset: Expression) -> bool:
    """Return whether half of something that changes from iteration to iteration is part of an offset."""

    def is_half(atom: Atom) -> bool:
        if atom.kind in _DIVISIONS and atom.operands[1].constant == 2 and _changes(atom.operands[0]):
            return True
        return any(is_half(inner) for operand in atom.operands for inner in _atoms(operand))

    return any(is_half(atom) for atom in _atoms(offset))


def _changes(value: Expression) -> bool:
    return value.has("unknown") or any(atom.kind == "phi" for atom in _atoms(value))


def _atoms(value: Expression) -> Iterator[Atom]:
    return (atom for monomial, _ in value.terms for atom in monomial)


def integer_element(parameter: Parameter) -> ScalarType | None:
    """Return the integer that a buffer is made of, also in vectors; None for other buffers."""
    element = parameter.type.pointee if isinstance(parameter.type, PointerType) else None
    if isinstance(element, VectorType):
        element = element.element
    return element if isinstance(element, ScalarType) and element.kind is not ScalarKind.FLOAT else None


def with_places(kernel: Kernel, work: Work, launch: Launch, uses: Uses) -> Launch:
    """`launch` with numbers in `uses.places` large enough that what is worked out from them is no negative index."""
    names = sorted(uses.places - {buffer_of(key) for key, _ in launch.fills})
    usual: dict[str, Bounds | None] = {
        p.name: None for p in kernel.of_kind(ParameterKind.BUFFER) if p.name not in uses.all
    }
    if not names or not AccessBounds(work, launch, usual).falls_short:
        return launch
    for least in _HIGHER:
        if not AccessBounds(work, launch, {**usual, **dict.fromkeys(names, (least, least + 1))}).falls_short:
            fill = Fill("uniform", (float(least), float(least + 1)))
            text = "`{}` is where an index comes from: assumed to hold numbers from {} to {}, so that none is negative"
            return replace(
                launch,
                fills=(*launch.fills, *((name, fill) for name in names)),
                assumptions=(
                    *launch.assumptions,
                    *(Assumption(name, text.format(name, least, least + 1), 1.5) for name in names),
                ),
            )
    return launch


def fill_for(parameter: Parameter, uses: Uses, launch: Launch, found: AccessBounds) -> tuple[Fill, str] | None:
    """Return what a buffer should hold, and the sentence that says so; None where that is not known (yet)."""
    name, known = parameter.name, dict(launch.buffers)
    if name in uses.searched or name in uses.sought:
        return _search_fill(parameter, uses, launch)
    element = integer_element(parameter)
    if element is None or name not in known:
        return None
    greatest = 2 ** (8 * element.size_bytes - (element.kind is ScalarKind.SIGNED))
    if name in uses.row_pointers:
        nonzeros = min(ROW_LENGTH * max(1, known[name] - 1), greatest - 1)
        return Fill("csr_rows", (nonzeros,)), (
            f"`{name}` bounds a loop: assumed to hold row pointers with {ROW_LENGTH} entries a row"
        )
    if name in uses.index_into:
        accesses = uses.index_into[name]
        target = accesses[0].buffer
        limit = min(greatest, *(_limit(name, access, launch, known, found) for access in accesses))
        if limit >= known[name] > 1 and all(a.is_store and not a.is_atomic for a in accesses):
            return Fill("perm"), f"`{name}` says where in `{target}` to write: assumed to hold a permutation"
        return Fill("randint", (0, limit)), (
            f"`{name}` is used as an index into `{target}`: assumed to hold random indices below {limit}"
        )
    if name in uses.counts:
        items = min(launch.global_size[uses.counts[name]], greatest - 1)
        return Fill("const", (items,)), (
            f"`{name}` says how many work-items have something to do: assumed to be {items}, all of them"
        )
    if name in uses.trip_counts:
        return Fill("randint", (0, LISTED_TRIPS)), (
            f"`{name}` says how often a loop runs: assumed to hold random counts below {LISTED_TRIPS}"
        )
    return None


def _search_fill(parameter: Parameter, uses: Uses, launch: Launch) -> tuple[Fill, str] | None:
    """Numbers that ascend, and random ones from the whole range of these: each search takes a way of its own."""
    name, element, lengths = parameter.name, _number(parameter), dict(launch.buffers)
    table = uses.sought.get(name, name)
    if element is None or table not in lengths:
        return None
    greatest = 2 ** (8 * element.size_bytes - (element.kind is ScalarKind.SIGNED))
    is_float = element.kind is ScalarKind.FLOAT
    low, high = (0.0, 1.0) if is_float else (0, min(2 * lengths[table], greatest))
    if name == table:
        text = f"`{name}` is searched by halves: assumed to hold ascending numbers from {low:,} to {high:,}"
        return Fill("sorted", (low, high)), text
    said = dict(launch.fills).get(table)
    if said is not None and said.kind in _RANGES:
        low, high = said.arguments[:2]
        if not is_float:  # whatever was said of integers, it must leave some to draw
            low, high = int(low), max(int(high), int(low) + 1)
    text = f"numbers of `{name}` are looked up in `{table}`: assumed to be random, from {low:,} to {high:,}"
    return Fill("uniform" if is_float else "randint", (low, high)), text


def _limit(name: str, access: Access, launch: Launch, known: Mapping[str, int], found: AccessBounds) -> int:
    """Return what the elements of `name` must stay below, so that `access` stays within its buffer.

    Of `x[i * width + 3]` the number of whole rows; for a buffer whose length is still open, as many as there is work.
    """
    assert access.offset is not None
    size = found.element_bytes(access.buffer)
    room = known.get(access.buffer, launch.work_items) * size
    step, rest = 0, access.offset
    for monomial, coefficient in access.offset.terms:
        if any(_is_load_of(name, atom) for atom in monomial):
            others = tuple(atom for atom in monomial if not _is_load_of(name, atom))
            low, high = found.bounds(Expression({others: coefficient}))
            if len(monomial) - len(others) != 1 or low <= 0 or not math.isfinite(high):
                return max(1, room // size)
            step += int(high)
            rest = rest - Expression({monomial: coefficient})
    if not step or any(_is_load_of(name, leaf) for leaf in rest.leaves):
        return max(1, room // size)
    beyond = found.bounds(rest)[1] if access.buffer in known else 0
    left = room - access.element_bytes - (beyond if math.isfinite(beyond) else 0)
    return max(1, int(left // step) + 1)


def _is_load_of(name: str, atom: Atom) -> bool:
    return atom.kind == "load" and atom.arguments[0] == name


def _nested(load: Atom, loads: list[Atom]) -> bool:
    return any(load in other.leaves and other is not load for other in loads)


def _trips(block: Block) -> list[Expression]:
    found: list[Expression] = []
    for inner in block.inner:
        if isinstance(inner, Loop):
            found += [inner.trips, *_trips(inner.body)]
        else:
            found += [*_trips(inner.then), *_trips(inner.otherwise)]
    return found
