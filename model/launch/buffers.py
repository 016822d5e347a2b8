"""Lengths and contents of buffers, from how the kernel indexes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from math import prod

from model.launch.access_bounds import AccessBounds
from model.launch.bounds import Bounds
from model.launch.index_fills import Uses, fill_for, uses_of, with_places
from model.launch.launch import Assumption, Launch
from model.launch.source_hints import SourceHints
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.types import PointerType
from model.work.work import Work

Tried = Callable[[], dict[str, float | None]]  # ends as some work-items reach them; a walk, so it is made once
_TRUSTED = 4  # times what some work-items reach
_MOST_BYTES = 1 << 40  # no device has more: an index that may reach further is one that only the data bound


def with_buffers(kernel: Kernel, work: Work, launch: Launch, hints: SourceHints) -> Launch:
    """`launch` with every buffer's length, fills for those used as indices, and bytes of local pointers.

    Lengths are the furthest element reached under the launch; what nobody said is noted as an assumption.
    """
    uses = uses_of(kernel, work, hints)
    buffers = kernel.of_kind(ParameterKind.BUFFER)
    launch = with_places(kernel, work, launch, uses)
    tried = cache(partial(_tried, work, launch))
    # Several rounds: what an index buffer may hold depends on lengths that the first round finds.
    for _ in range(4):
        before, launch = launch, _round(work, launch, buffers, uses, tried)
        if launch is before:
            break
    rest = [p for p in buffers if p.name not in dict(launch.buffers)]
    longest = max([launch.work_items, *(n for _, n in launch.buffers)])
    for parameter in rest:
        text = f"the length of `{parameter.name}` is not known from its index: assumed to be {longest} elements"
        launch = _add_buffer(launch, parameter.name, longest, text, is_guess=True)
    launch = _round(work, launch, buffers, uses, tried)
    return _with_local(kernel, work, launch, tried)


def _round(work: Work, launch: Launch, buffers: tuple[Parameter, ...], uses: Uses, tried: Tried) -> Launch:
    known, fills = dict(launch.buffers), dict(launch.fills)
    missing = [p for p in buffers if p.name not in known]
    unfilled = [p for p in buffers if p.name in uses.filled and p.name not in fills]
    if not missing and not unfilled:
        return launch
    most = AccessBounds(work, launch)
    if missing:
        reaches = (most, AccessBounds(work, launch, _ordinary(buffers, uses)))
        reached = _reached(work, launch, [p.name for p in missing], reaches, tried)
        for parameter in missing:
            high = reached.get(parameter.name)
            if high is None or not isinstance(parameter.type, PointerType):
                continue
            elements = max(1, -(-int(high) // max(1, parameter.type.pointee.size_bytes)))
            held = f"{elements} element{'s' if elements > 1 else ''}"
            text = f"`{parameter.name}` holds {held}, as far as its index reaches"
            launch = _add_buffer(launch, parameter.name, elements, text)
    for parameter in unfilled:
        found = fill_for(parameter, uses, launch, most)
        if found is not None:
            launch = replace(
                launch,
                fills=(*launch.fills, (parameter.name, found[0])),
                assumptions=(
                    *launch.assumptions,
                    Assumption(parameter.name, found[1], 1.5, is_guess=parameter.name in uses.guesses),
                ),
            )
    return launch


def _ordinary(buffers: tuple[Parameter, ...], uses: Uses) -> dict[str, Bounds | None]:
    """Those whose contents are left as they are: no index and no count rests on them alone."""
    return {p.name: None for p in buffers if p.name not in uses.all}


def _reached(
    work: Work, launch: Launch, names: Iterable[str], reaches: tuple[AccessBounds, ...], tried: Tried
) -> dict[str, float | None]:
    """Return the end of the furthest byte at which each of the buffers is accessed; None where the data decide.

    The first of `reaches` that knows an end counts. Only ends that are large for the launch are held against what some
    work-items do: they may rest on what never happens.
    """
    ends: dict[str, float | None] = {}
    doubtful = False
    for name in {a.buffer for a in work.accesses()}.intersection(names):
        if name not in reaches[0].spans:
            ends[name] = 1  # not under this launch
            continue
        highs = (reach.spans[name].high for reach in reaches if name in reach.spans)
        bound = ends[name] = next((high for high in highs if high <= _MOST_BYTES), None)
        size = reaches[0].element_bytes(name)
        doubtful |= bound is None or bound > _TRUSTED * size * launch.work_items
    if doubtful:
        for name, end in tried().items():
            bound = ends.get(name)
            if name in ends and end is not None and not (bound is not None and end <= bound <= _TRUSTED * end):
                ends[name] = end
    return ends


def _tried(work: Work, launch: Launch) -> dict[str, float | None]:
    """Return the same for some of the work-items, of which none may be the last."""
    walk = work.walk(launch)
    ends: dict[str, float | None] = {a.buffer: 1 for a in work.accesses()}
    for access in work.accesses():
        extent = walk.extents.get(id(access))
        end = ends[access.buffer]
        if extent is not None and end is not None:
            ends[access.buffer] = max(end, extent.high) if extent.is_known and extent.high is not None else None
    return ends


def _add_buffer(launch: Launch, name: str, elements: int, text: str, *, is_guess: bool = False) -> Launch:
    return replace(
        launch,
        buffers=(*launch.buffers, (name, elements)),
        assumptions=(*launch.assumptions, Assumption(name, text, is_guess=is_guess)),
    )


def _with_local(kernel: Kernel, work: Work, launch: Launch, tried: Tried) -> Launch:
    """Bytes of local pointers, as far as the kernel reaches into them."""
    known = dict(launch.local_bytes)
    missing = [p for p in kernel.of_kind(ParameterKind.LOCAL) if p.name not in known]
    if not missing:
        return launch
    reached = _reached(work, launch, [p.name for p in missing], (AccessBounds(work, launch),), tried)
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
