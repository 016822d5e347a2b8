"""`Work`: what a kernel does, as a function of its launch; `count` puts a launch in."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, prod

from model.launch.driver_choice import effective_local_size
from model.launch.fill_target import fills_of
from model.launch.launch import Assumption, Launch
from model.opencl.builtin_types import INT
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.types import AddressSpace, PointerType, ScalarType, Type, lane_names
from model.work.counts import AccessCount, OpCount, Pattern
from model.work.execution.registers import NO_PRESSURE, Pressure
from model.work.execution.unknowns import Unknown
from model.work.expressions.contents import Contents, contents_of
from model.work.expressions.launch_bindings import DataParameter, LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import GLOBAL_ID, GLOBAL_SIZE, GROUP_ID, LOCAL_ID, LOCAL_SIZE, NUM_GROUPS, Atom
from model.work.features.breakdown import Breakdown
from model.work.features.divergence import Paths
from model.work.features.facts import GLOBAL_SPACES, Facts
from model.work.memory.footprint import Reach, distinct_bytes, working_sets
from model.work.memory.scopes import shape_of
from model.work.memory.stride import pattern_of, step_of
from model.work.regions.flat_blocks import OpKey, Outline, Part, outline_of
from model.work.regions.reached_arithmetic import ReachedArithmetic, reached_arithmetic
from model.work.regions.region import Access, Block, Loop
from model.work.walk.idle import is_idle
from model.work.walk.sample import Sample, seen_in
from model.work.walk.walk import MAX_VISITS, Walk
from model.work.work_counts import WorkCounts

PIXEL_BYTES = 16
MASKED_BYTES = frozenset({4, 8, 16})  # whole words, and vectors that fill a register by themselves
_GLOBAL = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC})
MAX_SAMPLES = 256  # of one kernel


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The symbolic work of one kernel. Immutable; see `region` for its shape.

    `free_names` are names that nothing declares, with their line: a launch may give them like scalars.
    `unknowns` are the constructs that could not be read, in the order of lines.
    """

    kernel: Kernel
    root: Block
    parameters: Mapping[Atom, DataParameter]
    free_names: tuple[tuple[str, int], ...]
    assumptions: tuple[Assumption, ...]
    local_bytes: tuple[tuple[str, int | None], ...]
    private_bytes: int
    unknowns: tuple[Unknown, ...] = ()
    tables: Mapping[str, Mapping[int, Value]] = field(default_factory=dict)  # constant arrays: number by byte
    unrolled_lines: frozenset[int] = frozenset()  # of loops that were followed iteration by iteration
    pressure: Pressure = NO_PRESSURE
    steps: int = 0  # nodes of the source that the analysis came by
    uniform: frozenset[Atom] = frozenset()  # unknown values that are the same in all lanes
    asks_for_global_ids: bool = True  # False where global ids are sums of a group's start and a local id
    outline: Outline = field(init=False)
    rewritten: frozenset[str] = field(init=False)  # buffers that it stores to
    arithmetic: tuple[ReachedArithmetic, ...] = field(init=False)  # that the launch alone decides
    named: dict[str, tuple[Atom, ...]] = field(init=False, default_factory=dict)  # see `knowledge`
    samples: dict[str, Sample] = field(init=False, default_factory=dict)  # by the launch's key, see `remember`

    def __post_init__(self) -> None:
        outline = outline_of(self.root, self.unrolled_lines, self._bounding_ids())
        object.__setattr__(self, "outline", outline)
        object.__setattr__(self, "arithmetic", reached_arithmetic(self.root))
        object.__setattr__(self, "rewritten", frozenset(a.buffer for a in self.accesses() if a.is_store or a.is_atomic))

    def _bounding_ids(self) -> frozenset[Atom]:
        """Return the ids whose comparisons a runtime may make bounds of its loops: see `regions.loop_bounds`."""
        buffers = {access.buffer for access in self.accesses()}
        types = [parameter.type for parameter in self.kernel.parameters if parameter.name in buffers]
        pointers = [each for each in types if isinstance(each, PointerType)]
        if len(pointers) > 1 and any(each.is_restrict for each in pointers):
            return frozenset()
        return frozenset((*LOCAL_ID, *(GLOBAL_ID if self.asks_for_global_ids else ())))

    def count(self, launch: Launch, sample: Sample | None = None) -> WorkCounts:
        """Totals over `launch`. Needs no more than what `launch` says; what it lacks counts as the smallest.

        Where the data decide, `sample` does, or the one that `sample_for` has.
        """
        sample = sample or self.sample_for(launch)
        walk = self.walk(launch, sample)
        return totals(self, launch, walk, sample)

    def remember(self, launch: Launch, sample: Sample) -> None:
        """Whoever counts `launch` from here on gets it."""
        if len(self.samples) >= MAX_SAMPLES:
            self.samples.pop(next(iter(self.samples)), None)
        self.samples[launch.key] = sample

    def sample_of(self, launch: Launch) -> Sample | None:
        """Return what running some work-items of such a launch told, if that is known."""
        return self.samples.get(launch.key) if self.samples else None

    def sample_for(self, launch: Launch) -> Sample | None:
        """Return `sample_of`, or where that is not known what the last launch told.

        Shares stay nearer to that than to any guess.
        """
        if not self.samples:
            return None
        found = self.samples.get(launch.key)
        return found or next((s for s in reversed(list(self.samples.values())) if s.items), None)

    def walk(self, launch: Launch, sample: Sample | None = None, most_visits: int = MAX_VISITS) -> Walk:
        """Return how often each block runs, and what each access reaches; roughly beyond `most_visits` of blocks."""
        known = knowledge(self.kernel, launch, self.parameters, self.tables, self.named, self.uniform)
        seen = seen_in(self.root, sample) if sample is not None and sample.stopped is None else None
        walk = Walk(known, seen, self.rewritten, most_visits)
        ranges = {}
        for d in range(3):
            ranges[GLOBAL_ID[d]] = (0, max(1, int(known.symbols[GLOBAL_SIZE[d]])))
            ranges[LOCAL_ID[d]] = (0, max(1, int(known.symbols[LOCAL_SIZE[d]])))
            ranges[GROUP_ID[d]] = (0, max(1, int(known.symbols[NUM_GROUPS[d]])))
        walk.whole(self.root, float(launch.work_items), ranges)
        if not (self.unknowns or self.assumptions) and is_idle(self.outline, walk.runs):
            # Compilers leave nothing of it, and how long its loops would be does not matter.
            walk.runs.clear()
            walk.undecided.clear()
            walk.estimated.clear()
        return walk

    def accesses(self) -> Iterator[Access]:
        """Yield every load and store in the source, outermost blocks first."""
        stack = [self.root]
        while stack:
            block = stack.pop()
            yield from block.accesses
            for inner in block.inner:
                stack.extend([inner.body] if isinstance(inner, Loop) else [inner.then, inner.otherwise])


_WORK_DIM = Atom.of("symbol", "work_dim")


def knowledge(
    kernel: Kernel,
    launch: Launch,
    parameters: Mapping[Atom, DataParameter],
    tables: Mapping[str, Mapping[int, Value]] | None = None,
    named: dict[str, tuple[Atom, ...]] | None = None,
    uniform: frozenset[Atom] = frozenset(),
) -> LaunchBindings:
    """Return what a launch says, by symbol. `named` keeps the symbols of scalars from one launch to the next."""
    kept = named if named is not None else {}
    local = effective_local_size(launch, kernel)
    symbols: dict[Atom, Value] = {_WORK_DIM: len(launch.global_size)}
    for d in range(3):
        size = launch.global_size[d] if d < len(launch.global_size) else 1
        group = local[d] if d < len(local) else 1
        symbols[GLOBAL_SIZE[d]], symbols[LOCAL_SIZE[d]], symbols[NUM_GROUPS[d]] = size, group, ceil(size / group)
    for name, value in launch.scalars:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        atoms = kept.get(name)
        if atoms is None:
            atoms = kept[name] = _symbols_of(name, kernel.parameter(name))
        symbols[atoms[0]] = symbols[atoms[1]] = number
        for alias in atoms[2:]:
            symbols.setdefault(alias, number)
    for name, define in launch.options.defines:
        if define.lstrip("-").isdigit():
            symbols.setdefault(Atom.of("symbol", f"name.{name}"), int(define))
    for name, size3 in launch.images:
        for dimension, extent in zip(("width", "height", "depth"), size3, strict=True):
            symbols[Atom.of("symbol", f"image.{name}.{dimension}")] = extent
    contents = {}
    for name, elements in launch.buffers:
        contents[name] = contents_of(elements, _element(kernel.parameter(name)), fills_of(launch.fills, name))
    for name, values in (tables or {}).items():
        contents[name] = Contents(len(values), 1, None, values)
    return LaunchBindings(symbols, contents, parameters, uniform=uniform)


def _element(parameter: Parameter | None) -> Type:
    """Return what a pointer leads to."""
    return parameter.type.pointee if parameter is not None and isinstance(parameter.type, PointerType) else INT


def _symbols_of(name: str, parameter: Parameter | None) -> tuple[Atom, ...]:
    """Return a scalar as an argument, where nothing declares it, and as what else the source may call it.

    `v.x` is `v.s0`; a plain `v` given for a vector stands for each of its components.
    """
    own = Atom.of("symbol", f"arg.{name}"), Atom.of("symbol", f"name.{name}")
    if parameter is not None and isinstance(parameter.type, ScalarType):
        return own
    base, _, component = name.rpartition(".")
    lane = next((n for n in range(16) if name in lane_names(base, n)), None) if base and component else None
    aliases = [lane_names(base, lane)[0]] if lane is not None else [lane_names(name, n)[0] for n in range(16)]
    return (*own, *(Atom.of("symbol", f"arg.{alias}") for alias in aliases))


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
        is_local_size_chosen=launch.local_size is None,
        global_size=launch.global_size,
        buffer_bytes=tuple(_buffer_bytes(work.kernel, launch)),
        breakdown=Breakdown(outline, walk, counted, group_items),
        facts=Facts(paths, read, work.pressure),
        sample=sample,
    )


def _buffer_bytes(kernel: Kernel, launch: Launch) -> Iterator[tuple[str, int]]:
    for name, elements in launch.buffers:
        parameter = kernel.parameter(name)
        yield name, elements * (parameter.pointee_bytes if parameter is not None else 4)


def _op_counts(ops: Mapping[int, float], keys: Sequence[OpKey]) -> tuple[OpCount, ...]:
    return tuple(OpCount(keys[k][0], keys[k][1], count, keys[k][2], keys[k][3]) for k, count in ops.items())


def _masks(outline: Outline, walk: Walk, counted: Mapping[int, AccessCount]) -> Sequence[bool]:
    """Return by part whether code that only some work-items enter can run under a vector mask.

    Memory in whole words, side by side or broadcast, can. Narrower, strided and gathered accesses, images and data-
    dependent branches cannot.
    """
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
    trips: list[float] = []  # by number of the part
    has_rows, has_planes = (len(launch.global_size) > d for d in (1, 2))
    for part in work.outline.parts:
        runs = walk.runs.get(id(part.block), 0.0)
        trips.append(_trips(part, runs, work.outline.parts, trips, walk))
        if not part.accesses or runs <= 0:
            continue
        for access in part.accesses:
            extent = walk.extents[id(access)]
            point, ranges = walk.points[id(access)]
            pattern, stride = pattern_of(access, walk.known, point, ranges)
            rows = pattern_of(access, walk.known, point, ranges, 1) if has_rows else None
            planes = pattern_of(access, walk.known, point, ranges, 2) if has_planes else None
            reach = Reach(access, walk.visited[id(access)], extent, limits.get(access.buffer, math.inf))
            counted = AccessCount(
                access.buffer, access.space, access.is_store, access.is_atomic, access.line, pattern, stride,
                access.element_bytes, extent.count, extent.count * access.element_bytes, _distinct(reach, paths),
                step_of(access, walk.known, point, ranges), access.width, access.waits_share * extent.count,
                access.waits_ops, working_sets(reach, walk), trips[-1], rows, extent.end_bytes, planes,
            )  # fmt: skip
            read.append((reach, counted))
    return read


def _trips(part: Part, runs: float, parts: Sequence[Part], trips: Sequence[float], walk: Walk) -> float:
    """Return the iterations of the loops around a part for each work-item that enters them.

    `trips` has those of the parts before it.
    """
    if part.parent < 0:
        return 1.0
    outer = trips[part.parent]
    if part.loop is None:
        return outer
    entered: float = walk.runs.get(id(parts[part.parent].block), 0.0)
    return outer * runs / max(1.0, entered)


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
