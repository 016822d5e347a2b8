"""`Work`: what a kernel does, as a function of its launch; `count` puts a launch in."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil, prod

from model.launch.launch import Assumption, Fill, Launch
from model.launch.local_size import effective_local_size
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.types import AddressSpace, PointerType, lane_names
from model.work.contents import Contents, holds_floats
from model.work.contexts import contexts_of
from model.work.counts import AccessCount, LineCount, OpCount, OpKind, Pattern, WorkCounts
from model.work.divergence import Paths
from model.work.evaluate import Knowledge
from model.work.facts import GLOBAL_SPACES, Facts, reach_of
from model.work.footprint import Reach, footprint_of
from model.work.numbers import Value
from model.work.region import Access, Block, Branch, DataParameter, Loop
from model.work.registers import NO_PRESSURE, Pressure
from model.work.scopes import Scope, shape_of
from model.work.stride import pattern_of, step_of
from model.work.symbolic import GLOBAL_ID, GLOBAL_SIZE, GROUP_ID, LOCAL_ID, LOCAL_SIZE, NUM_GROUPS, Atom
from model.work.unknowns import Unknown
from model.work.walk import Walk

UNROLLED_TRIPS = 64
PIXEL_BYTES = 16
MASKED_BYTES = frozenset({4, 8, 16})  # whole words, and vectors that fill a register by themselves


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

    def count(self, launch: Launch) -> WorkCounts:
        """Totals over `launch`. Needs no more than what `launch` says; what it lacks counts as the smallest."""
        walk = self.walk(launch)
        return _Totals(self, launch, walk).counts()

    def walk(self, launch: Launch) -> Walk:
        """How often each block runs, and what each access reaches."""
        known = knowledge(self.kernel, launch, self.parameters, self.tables)
        walk = Walk(known)
        ranges = {}
        for d in range(3):
            ranges[GLOBAL_ID[d]] = (0, max(1, int(known.symbols[GLOBAL_SIZE[d]])))
            ranges[LOCAL_ID[d]] = (0, max(1, int(known.symbols[LOCAL_SIZE[d]])))
            ranges[GROUP_ID[d]] = (0, max(1, int(known.symbols[NUM_GROUPS[d]])))
        walk.visit(self.root, float(launch.work_items), {}, ranges)
        return walk

    def accesses(self) -> Iterator[Access]:
        """Every load and store in the source, outermost blocks first."""
        stack = [self.root]
        while stack:
            block = stack.pop()
            yield from block.accesses
            for inner in block.inner:
                stack.extend([inner.body] if isinstance(inner, Loop) else [inner.then, inner.otherwise])


def knowledge(
    kernel: Kernel,
    launch: Launch,
    parameters: Mapping[Atom, DataParameter],
    tables: Mapping[str, Mapping[int, Value]] | None = None,
) -> Knowledge:
    """What a launch says, by symbol."""
    local = effective_local_size(launch, kernel)
    symbols: dict[Atom, Value] = {Atom.of("symbol", "work_dim"): len(launch.global_size)}
    for d in range(3):
        size = launch.global_size[d] if d < len(launch.global_size) else 1
        group = local[d] if d < len(local) else 1
        symbols[GLOBAL_SIZE[d]], symbols[LOCAL_SIZE[d]], symbols[NUM_GROUPS[d]] = size, group, ceil(size / group)
    for name, value in launch.scalars:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        symbols[Atom.of("symbol", f"arg.{name}")] = number
        symbols[Atom.of("symbol", f"name.{name}")] = number
        for alias in _lanes(name):
            symbols.setdefault(alias, number)
    for name, define in launch.options.defines:
        if define.lstrip("-").isdigit():
            symbols.setdefault(Atom.of("symbol", f"name.{name}"), int(define))
    for name, size3 in launch.images:
        for dimension, extent in zip(("width", "height", "depth"), size3, strict=True):
            symbols[Atom.of("symbol", f"image.{name}.{dimension}")] = extent
    fills: dict[str, Fill] = dict(launch.fills)
    contents = {}
    for name, elements in launch.buffers:
        parameter = kernel.parameter(name)
        size = parameter.type.pointee.size_bytes if parameter and isinstance(parameter.type, PointerType) else 4
        is_whole = parameter is None or not holds_floats(parameter)
        contents[name] = Contents(elements, max(1, size), fills.get(name), is_whole=is_whole)
    for name, values in (tables or {}).items():
        contents[name] = Contents(len(values), 1, None, values)
    return Knowledge(symbols, contents, parameters)


@lru_cache(1024)
def _lanes(name: str) -> tuple[Atom, ...]:
    """`v.x` is `v.s0`; a plain `v` given for a vector stands for each of its components."""
    base, _, component = name.rpartition(".")
    lane = next((n for n in range(16) if name in lane_names(base, n)), None) if base and component else None
    aliases = [lane_names(base, lane)[0]] if lane is not None else [lane_names(name, n)[0] for n in range(16)]
    return tuple(Atom.of("symbol", f"arg.{alias}") for alias in aliases)


OpKey = tuple[OpKind, str, int, str]  # kind, element, width, function


def _op_counts(ops: Mapping[OpKey, float]) -> tuple[OpCount, ...]:
    return tuple(
        OpCount(kind, element, count, width, function) for (kind, element, width, function), count in ops.items()
    )


class _Totals:
    """Adds up one walk."""

    def __init__(self, work: Work, launch: Launch, walk: Walk) -> None:
        self.work, self.launch, self.walk = work, launch, walk
        self.local = effective_local_size(launch, work.kernel)
        self.group_items = prod(self.local)
        self.ops: dict[OpKey, float] = defaultdict(float)
        self.line_ops: dict[int, dict[OpKey, float]] = defaultdict(lambda: defaultdict(float))
        self.line_accesses: dict[int, list[AccessCount]] = defaultdict(list)
        self.line_barriers: dict[int, float] = defaultdict(float)
        self.accesses: list[AccessCount] = []
        self.read: list[tuple[Reach, AccessCount]] = []
        self.paths = Paths(work.root, walk, shape_of(walk.known))
        self.limits = self._limits()
        self.scalar_ops: dict[OpKey, float] = defaultdict(float)
        self.scalar_accesses = 0.0
        self.chain_ops = 0.0
        self.counted: dict[int, AccessCount] = {}

    def counts(self) -> WorkCounts:
        self._add(self.work.root, is_scalar=False, over_barrier=False)
        groups = prod(ceil(g / s) for g, s in zip(self.launch.global_size, self.local, strict=False))
        plain = [a for a in self.accesses if not a.is_atomic and a.element_bytes and a.buffer not in self._images()]
        images = [a for a in self.accesses if a.buffer in self._images()]
        ops = _op_counts(self.ops)

        def requested(*spaces: AddressSpace, store: bool) -> float:
            return sum(a.bytes for a in plain if a.space in spaces and a.is_store is store)

        return WorkCounts(
            work_items=self.launch.work_items,
            work_groups=groups,
            flops=sum(op.flops for op in ops),
            ops=ops,
            accesses=tuple(self.accesses),
            global_load_bytes=requested(AddressSpace.GLOBAL, AddressSpace.GENERIC, store=False),
            global_store_bytes=requested(AddressSpace.GLOBAL, AddressSpace.GENERIC, store=True),
            global_footprint_bytes=self._global_footprint(),
            constant_load_bytes=requested(AddressSpace.CONSTANT, store=False),
            local_load_bytes=requested(AddressSpace.LOCAL, store=False),
            local_store_bytes=requested(AddressSpace.LOCAL, store=True),
            local_bytes_per_group=sum(b or 0 for _, b in (*self.work.local_bytes, *self.launch.local_bytes)),
            private_array_bytes=self.work.private_bytes,
            atomics=sum(a.count for a in self.accesses if a.is_atomic),
            barriers=sum(self.line_barriers.values()),
            image_reads=sum(a.count for a in images if not a.is_store),
            image_writes=sum(a.count for a in images if a.is_store),
            lines=self._lines(),
            scalar_ops=_op_counts(self.scalar_ops),
            scalar_accesses=self.scalar_accesses,
            chain_ops=self.chain_ops,
            undecided_loops=tuple(sorted(self.walk.undecided)),
            local_size=tuple(self.local),
            contexts=contexts_of(self.work.root, self.walk, self.counted, self.work.unrolled_lines),
            facts=Facts(self.paths, self.read, self.work.pressure),
        )

    def _images(self) -> set[str]:
        return {p.name for p in self.work.kernel.of_kind(ParameterKind.IMAGE, ParameterKind.OTHER)}

    def _add(self, block: Block, *, is_scalar: bool, over_barrier: bool) -> None:
        runs = self.walk.runs.get(id(block), 0.0)
        if runs > 0:
            for line, kind, element, count, width, function in block.ops:
                if count:
                    key = (kind, element, width, function)
                    self.ops[key] += count * runs
                    if is_scalar:
                        self.scalar_ops[key] += count * runs
                    self.line_ops[line][key] += count * runs
            for line in block.barriers:
                self.line_barriers[line] += runs / self.group_items
            for access in block.accesses:
                self._add_access(access)
            if is_scalar:
                self.scalar_accesses += runs * sum(1 for a in block.accesses if not _is_register(a))
        for inner in block.inner:
            if isinstance(inner, Loop):
                has_barrier = _has_barrier(inner.body)
                waits = self._waits(inner, over_barrier=over_barrier) and not has_barrier
                if waits:
                    self.chain_ops += inner.chain * self.walk.runs.get(id(inner.body), 0.0)
                self._add(inner.body, is_scalar=is_scalar or waits, over_barrier=over_barrier or has_barrier)
            else:
                for side in (inner.then, inner.otherwise):
                    one_by_one = is_scalar or (_differs(inner) and not self._masks(side))
                    self._add(side, is_scalar=one_by_one, over_barrier=over_barrier)

    def _masks(self, block: Block) -> bool:
        """Whether code that only some work-items enter can run under a vector mask: memory in whole words, side by
        side or broadcast. Narrower, strided and gathered accesses, images and data-dependent branches cannot."""
        for access in block.accesses:
            if access.space is AddressSpace.PRIVATE or id(access) not in self.walk.points:
                continue
            pattern, _ = pattern_of(access, self.walk.known, *self.walk.points[id(access)])
            if (
                access.is_image
                or access.element_bytes not in MASKED_BYTES
                or pattern not in (Pattern.UNIT, Pattern.BROADCAST)
            ):
                return False
        parts = [p for i in block.inner for p in ([i.body] if isinstance(i, Loop) else [i.then, i.otherwise])]
        return all(self._masks(p) for p in parts)

    def _waits(self, loop: Loop, *, over_barrier: bool) -> bool:
        """Whether work-items go through this loop one by one: its iterations wait for each other, or the data
        decide how many there are. Short loops of fixed length are unrolled, unless what they sum up lives across
        barriers and so in memory."""
        if loop.trips.constant is not None and loop.trips.constant <= UNROLLED_TRIPS and not over_barrier:
            return False
        return loop.chain > 0 or loop.trips.has("load", "unknown")

    def _add_access(self, access: Access) -> None:
        extent = self.walk.extents.get(id(access))
        if extent is None or _is_register(access):
            return
        point, ranges = self.walk.points[id(access)]
        pattern, stride = pattern_of(access, self.walk.known, point, ranges)
        requested = extent.count * access.element_bytes
        reach = reach_of(access, self.paths, self.limits)
        counted = AccessCount(
            access.buffer, access.space, access.is_store, access.is_atomic, access.line, pattern, stride,
            access.element_bytes, extent.count, requested, self._distinct(reach),
            step_of(access, self.walk.known, point, ranges), access.width,
        )  # fmt: skip
        self.accesses.append(counted)
        self.counted[id(access)] = counted
        self.read.append((reach, counted))
        self.line_accesses[access.line].append(counted)

    def _distinct(self, reach: Reach) -> float:
        """Distinct bytes; of local and private memory, no more than requested or than the span reached."""
        if reach.access.space in GLOBAL_SPACES:
            return self._footprint([reach])
        low, high = reach.extent.low, reach.extent.high
        span = high - low if reach.extent.is_known and low is not None and high is not None else math.inf
        return float(min(reach.extent.count * reach.access.element_bytes, span))

    def _footprint(self, reaches: Sequence[Reach]) -> float:
        return footprint_of(reaches, Scope.LAUNCH, self.walk, self.paths.shape, lines=False).distinct_bytes

    def _limits(self) -> dict[str, float]:
        """The bytes that each buffer and image holds."""
        contents = self.walk.known.contents
        limits = {name: float(c.elements * c.element_bytes) for name, c in contents.items()}
        return {**limits, **{name: float(prod(size) * PIXEL_BYTES) for name, size in self.launch.images}}

    def _global_footprint(self) -> float:
        """Distinct bytes of global memory: per buffer, what all its accesses together touch."""
        own: dict[str, list[tuple[Reach, AccessCount]]] = defaultdict(list)
        for reach, counted in self.read:
            if reach.access.space in GLOBAL_SPACES:
                own[counted.buffer].append((reach, counted))
        return sum(
            pairs[0][1].footprint_bytes if len(pairs) == 1 else self._footprint([reach for reach, _ in pairs])
            for pairs in own.values()
        )

    def _lines(self) -> tuple[LineCount, ...]:
        numbers = sorted({*self.line_ops, *self.line_accesses, *self.line_barriers})
        return tuple(
            LineCount(
                line,
                _op_counts(self.line_ops[line]),
                tuple(self.line_accesses[line]),
                self.line_barriers[line],
            )
            for line in numbers
        )


def _is_register(access: Access) -> bool:
    """Private arrays indexed by constants live in registers."""
    return access.space is AddressSpace.PRIVATE and access.offset is not None and access.offset.constant is not None


def _differs(branch: Branch) -> bool:
    """Whether neighbouring work-items may take different sides."""
    return branch.share is not None or any(a in branch.condition.leaves for a in (*GLOBAL_ID, *LOCAL_ID))


def _has_barrier(block: Block) -> bool:
    if block.barriers:
        return True
    parts = [p for i in block.inner for p in ([i.body] if isinstance(i, Loop) else [i.then, i.otherwise])]
    return any(_has_barrier(p) for p in parts)
