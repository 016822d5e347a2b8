"""Lengths and contents of buffers, from how the kernel indexes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from model.launch.launch import Assumption, Fill, Launch
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.types import AddressSpace, PointerType, ScalarKind, ScalarType
from model.work.region import Block, Loop
from model.work.symbolic import Atom, Expression
from model.work.work import Work

ROW_LENGTH = 16  # assumed average length of a row between two row pointers
LISTED_TRIPS = 32  # assumed upper bound of a loop count that a buffer holds


@dataclass(slots=True)
class _Uses:
    """What buffers are used for besides being read: as an index into others, as a loop's bounds."""

    index_into: dict[str, str]
    row_pointers: set[str]
    trip_counts: set[str]


def with_buffers(kernel: Kernel, work: Work, launch: Launch) -> Launch:
    """`launch` with every buffer's length, fills for those used as indices, and bytes of local pointers.

    Lengths are the furthest element reached under the launch; what nobody said is noted as an assumption.
    """
    uses = _uses(work)
    buffers = kernel.of_kind(ParameterKind.BUFFER)
    # Several rounds: what an index buffer may hold depends on lengths that the first round finds.
    for _ in range(3):
        before, launch = launch, _round(work, launch, buffers, uses)
        if launch is before:
            break
    rest = [p for p in buffers if p.name not in dict(launch.buffers)]
    longest = max([launch.work_items, *(n for _, n in launch.buffers)])
    for parameter in rest:
        text = f"the length of `{parameter.name}` is not known from its index: taken for {longest} elements"
        launch = _add_buffer(launch, parameter.name, longest, text)
    launch = _round(work, launch, buffers, uses)
    return _with_local(kernel, work, launch)


def _round(work: Work, launch: Launch, buffers: tuple[Parameter, ...], uses: _Uses) -> Launch:
    launch = _with_fills(launch, buffers, uses)
    known = dict(launch.buffers)
    missing = [p for p in buffers if p.name not in known]
    if not missing:
        return launch
    reached = _reached(work, launch)
    for parameter in missing:
        high = reached.get(parameter.name)
        if high is None or not isinstance(parameter.type, PointerType):
            continue
        elements = max(1, -(-int(high) // max(1, parameter.type.pointee.size_bytes)))
        text = f"`{parameter.name}` holds {elements} elements, as far as its index reaches"
        launch = _add_buffer(launch, parameter.name, elements, text)
    return launch


def _reached(work: Work, launch: Launch) -> dict[str, float | None]:
    """The end of the furthest byte that each buffer is accessed at; None where the data decide."""
    walk = work.walk(launch)
    ends: dict[str, float | None] = {}
    for access in work.accesses():
        extent = walk.extents.get(id(access))
        if extent is None:
            continue
        if not extent.is_known or extent.high is None:
            ends[access.buffer] = None
        elif ends.get(access.buffer, 0) is not None:
            ends[access.buffer] = max(ends.get(access.buffer, 0) or 0, extent.high)
    for name in {a.buffer for a in work.accesses()} - ends.keys():
        ends[name] = 1  # never reached under this launch
    return ends


def _add_buffer(launch: Launch, name: str, elements: int, text: str) -> Launch:
    return replace(
        launch,
        buffers=(*launch.buffers, (name, elements)),
        assumptions=(*launch.assumptions, Assumption(name, text)),
    )


def _with_fills(launch: Launch, buffers: tuple[Parameter, ...], uses: _Uses) -> Launch:
    fills, known = dict(launch.fills), dict(launch.buffers)
    for parameter in buffers:
        name = parameter.name
        if name in fills or not _holds_integers(parameter):
            continue
        fill, text = None, ""
        if name in uses.row_pointers:
            if name in known:
                nonzeros = ROW_LENGTH * max(1, known[name] - 1)
                fill = Fill("csr_rows", (nonzeros,))
                text = f"`{name}` bounds a loop: taken for row pointers with {ROW_LENGTH} entries a row"
        elif name in uses.index_into:
            target = uses.index_into[name]
            length = known.get(target) or (launch.work_items if name in known else None)
            if length:
                fill = Fill("randint", (0, length))
                text = f"`{name}` is used as an index into `{target}`: taken for random indices below {length}"
        elif name in uses.trip_counts:
            fill = Fill("randint", (0, LISTED_TRIPS))
            text = f"`{name}` says how often a loop runs: taken for random counts below {LISTED_TRIPS}"
        if fill is not None:
            launch = replace(
                launch,
                fills=(*launch.fills, (name, fill)),
                assumptions=(*launch.assumptions, Assumption(name, text, 1.5)),
            )
    return launch


def _holds_integers(parameter: Parameter) -> bool:
    match parameter.type:
        case PointerType(pointee=ScalarType(kind=kind)):
            return kind is not ScalarKind.FLOAT
        case _:
            return False


def _uses(work: Work) -> _Uses:
    uses = _Uses({}, set(), set())
    for access in work.accesses():
        if access.offset is None or access.space not in (AddressSpace.GLOBAL, AddressSpace.CONSTANT):
            continue
        for leaf in access.offset.leaves:
            if leaf.kind == "load" and str(leaf.arguments[0]) != access.buffer:
                uses.index_into.setdefault(str(leaf.arguments[0]), access.buffer)
    for trips in _trips(work.root):
        loads = [a for a in trips.leaves if a.kind == "load"]
        for load in loads:
            name = str(load.arguments[0])
            paired = any(other is not load and other.arguments[0] == load.arguments[0] for other in loads)
            (uses.row_pointers if paired and not _nested(load, loads) else uses.trip_counts).add(name)
    return uses


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


def _with_local(kernel: Kernel, work: Work, launch: Launch) -> Launch:
    """Bytes of local pointers, as far as the kernel reaches into them."""
    known = dict(launch.local_bytes)
    missing = [p for p in kernel.of_kind(ParameterKind.LOCAL) if p.name not in known]
    if not missing:
        return launch
    reached = _reached(work, launch)
    for parameter in missing:
        high = reached.get(parameter.name)
        size = parameter.type.pointee.size_bytes if isinstance(parameter.type, PointerType) else 4
        group = prod(launch.local_size or (64,))
        local = int(high) if high else group * max(1, size)
        text = f"`{parameter.name}` gets {local} bytes of local memory, as far as the kernel reaches"
        launch = replace(
            launch,
            local_bytes=(*launch.local_bytes, (parameter.name, local)),
            assumptions=(*launch.assumptions, Assumption(parameter.name, text)),
        )
    return launch
