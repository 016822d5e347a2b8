"""One walk over a kernel's blocks, added up."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

from model.launch.launch import Launch
from model.launch.local_size import effective_local_size
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.types import AddressSpace
from model.work.breakdown import Breakdown
from model.work.counts import AccessCount, OpCount, Pattern, WorkCounts
from model.work.divergence import Paths
from model.work.facts import GLOBAL_SPACES, Facts
from model.work.footprint import Reach, distinct_bytes
from model.work.outline import OpKey, Outline
from model.work.region import Access
from model.work.sample import Sample
from model.work.scopes import shape_of
from model.work.stride import pattern_of, step_of
from model.work.walk import Walk

if TYPE_CHECKING:
    from model.work.work import Work

PIXEL_BYTES = 16
MASKED_BYTES = frozenset({4, 8, 16})  # whole words, and vectors that fill a register by themselves
_GLOBAL = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC})


def totals(work: Work, launch: Launch, walk: Walk, sample: Sample | None = None) -> WorkCounts:
    """Return what `walk` found, over the whole launch."""
    local = effective_local_size(launch, work.kernel)
    group_items = prod(local)
    outline = work.outline
    paths = Paths(work.root, walk, shape_of(walk.known))
    read = _accesses(work, launch, paths)
    accesses = tuple(count for _, count in read)
    counted = {id(reach.access): count for reach, count in read}
    ops: dict[int, float] = {}
    scalar_ops: dict[int, float] = {}
    scalar_accesses = chain_ops = barriers = 0.0
    is_scalar: list[bool] = []
    masks: Sequence[bool] | None = None
    for number, part in enumerate(outline.parts):
        runs = walk.runs.get(id(part.block), 0.0)
        scalar = part.waits or (part.parent >= 0 and is_scalar[part.parent])
        if not scalar and part.parts_ways:
            if masks is None:
                masks = _masks(outline, walk, counted)
            scalar = not masks[number]
        is_scalar.append(scalar)
        if runs <= 0:
            continue
        for key, times in part.ops + part.unrolled:
            ops[key] = ops.get(key, 0.0) + times * runs
            if scalar:
                scalar_ops[key] = scalar_ops.get(key, 0.0) + times * runs
        if part.block.barriers:
            barriers += len(part.block.barriers) * runs / group_items
        if scalar:
            scalar_accesses += runs * len(part.accesses)
        if part.waits and part.loop is not None:
            chain_ops += part.loop.chain * runs
    op_counts = _op_counts(ops, outline.keys)
    images = {p.name for p in work.kernel.of_kind(ParameterKind.IMAGE, ParameterKind.OTHER)}
    plain = [a for a in accesses if not a.is_atomic and a.element_bytes and a.buffer not in images]

    def requested(spaces: frozenset[AddressSpace], *, store: bool) -> float:
        return sum(a.bytes for a in plain if a.is_store is store and a.space in spaces)

    return WorkCounts(
        work_items=launch.work_items,
        work_groups=prod(ceil(g / s) for g, s in zip(launch.global_size, local, strict=False)),
        flops=sum(op.flops for op in op_counts),
        ops=op_counts,
        accesses=accesses,
        global_load_bytes=requested(_GLOBAL, store=False),
        global_store_bytes=requested(_GLOBAL, store=True),
        global_footprint_bytes=_global_footprint(read, paths),
        constant_load_bytes=requested(frozenset({AddressSpace.CONSTANT}), store=False),
        local_load_bytes=requested(frozenset({AddressSpace.LOCAL}), store=False),
        local_store_bytes=requested(frozenset({AddressSpace.LOCAL}), store=True),
        local_bytes_per_group=sum(b or 0 for _, b in (*work.local_bytes, *launch.local_bytes)),
        private_array_bytes=work.private_bytes,
        atomics=sum(a.count for a in accesses if a.is_atomic),
        barriers=barriers,
        image_reads=sum(a.count for a in accesses if a.buffer in images and not a.is_store),
        image_writes=sum(a.count for a in accesses if a.buffer in images and a.is_store),
        scalar_ops=_op_counts(scalar_ops, outline.keys),
        scalar_accesses=scalar_accesses,
        chain_ops=chain_ops,
        undecided_loops=tuple(sorted(walk.undecided)),
        estimated_loops=tuple(sorted(walk.estimated)),
        local_size=tuple(local),
        global_size=launch.global_size,
        buffer_bytes=tuple(_buffer_bytes(work.kernel, launch)),
        breakdown=Breakdown(outline, walk, counted, group_items),
        facts=Facts(paths, read, work.pressure),
        sample=sample,
    )


def _buffer_bytes(kernel: Kernel, launch: Launch) -> Iterator[tuple[str, int]]:
    for name, elements in launch.buffers:
        parameter = kernel.parameter(name)
        pointee = getattr(parameter.type, "pointee", None) if parameter is not None else None
        yield name, elements * max(1, pointee.size_bytes if pointee is not None else 4)


def _op_counts(ops: Mapping[int, float], keys: Sequence[OpKey]) -> tuple[OpCount, ...]:
    return tuple(OpCount(keys[k][0], keys[k][1], count, keys[k][2], keys[k][3]) for k, count in ops.items())


def _masks(outline: Outline, walk: Walk, counted: Mapping[int, AccessCount]) -> Sequence[bool]:
    """Return whether code that only some work-items enter can run under a vector mask: memory in whole words, side by
    side or broadcast. Narrower, strided and gathered accesses, images and data-dependent branches cannot. By part."""
    found = [True] * len(outline.parts)
    for number in range(len(outline.parts) - 1, 0, -1):
        part = outline.parts[number]
        can = found[number] and all(
            access.space is AddressSpace.PRIVATE or id(access) not in counted or _can_be_masked(access, counted)
            for access in part.accesses
        )
        found[number] = can
        if not can:
            found[part.parent] = False
    return found


def _can_be_masked(access: Access, counted: Mapping[int, AccessCount]) -> bool:
    pattern = counted[id(access)].pattern
    return (
        not access.is_image
        and access.element_bytes in MASKED_BYTES
        and (pattern is Pattern.UNIT or pattern is Pattern.BROADCAST)
    )


def _accesses(work: Work, launch: Launch, paths: Paths) -> list[tuple[Reach, AccessCount]]:
    """Return all that are executed and go to memory, in the order of the parts."""
    walk = paths.walk
    limits = _limits(walk, launch)
    read: list[tuple[Reach, AccessCount]] = []
    for part in work.outline.parts:
        if not part.accesses or walk.runs.get(id(part.block), 0.0) <= 0:
            continue
        for access in part.accesses:
            extent = walk.extents[id(access)]
            point, ranges = walk.points[id(access)]
            pattern, stride = pattern_of(access, walk.known, point, ranges)
            reach = Reach(access, walk.visited[id(access)], extent, limits.get(access.buffer, math.inf))
            counted = AccessCount(
                access.buffer, access.space, access.is_store, access.is_atomic, access.line, pattern, stride,
                access.element_bytes, extent.count, extent.count * access.element_bytes, _distinct(reach, paths),
                step_of(access, walk.known, point, ranges), access.width,
            )  # fmt: skip
            read.append((reach, counted))
    return read


def _limits(walk: Walk, launch: Launch) -> dict[str, float]:
    """Return the bytes that each buffer and image holds."""
    contents = walk.known.contents
    limits = {name: float(c.elements * c.element_bytes) for name, c in contents.items()}
    return {**limits, **{name: float(prod(size) * PIXEL_BYTES) for name, size in launch.images}}


def _distinct(reach: Reach, paths: Paths) -> float:
    """Distinct bytes; of local and private memory, no more than requested or than the span reached."""
    if reach.access.space in GLOBAL_SPACES:
        return distinct_bytes([reach], paths.walk, paths.shape)
    low, high = reach.extent.low, reach.extent.high
    span = high - low if reach.extent.is_known and low is not None and high is not None else math.inf
    return float(min(reach.extent.count * reach.access.element_bytes, span))


def _global_footprint(read: Sequence[tuple[Reach, AccessCount]], paths: Paths) -> float:
    """Distinct bytes of global memory: per buffer, what all its accesses together touch."""
    own: dict[str, list[tuple[Reach, AccessCount]]] = defaultdict(list)
    for reach, counted in read:
        if reach.access.space in GLOBAL_SPACES:
            own[counted.buffer].append((reach, counted))
    return sum(
        pairs[0][1].footprint_bytes
        if len(pairs) == 1
        else distinct_bytes([reach for reach, _ in pairs], paths.walk, paths.shape)
        for pairs in own.values()
    )
