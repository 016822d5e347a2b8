"""`Work`: what a kernel does, as a function of its launch; `count` puts a launch in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil

from model.launch.fill_target import fills_of
from model.launch.launch import Assumption, Launch
from model.launch.local_size import effective_local_size
from model.opencl.builtin_types import INT
from model.opencl.kernel import Kernel, Parameter
from model.opencl.types import PointerType, ScalarType, Type, lane_names
from model.work.contents import Contents, contents_of
from model.work.counts import WorkCounts
from model.work.evaluate import Knowledge
from model.work.numbers import Value
from model.work.outline import Outline, outline_of
from model.work.region import Access, Block, DataParameter, Loop
from model.work.registers import NO_PRESSURE, Pressure
from model.work.sample import Sample, seen_in
from model.work.symbolic import GLOBAL_ID, GLOBAL_SIZE, GROUP_ID, LOCAL_ID, LOCAL_SIZE, NUM_GROUPS, Atom
from model.work.totals import totals
from model.work.unknowns import Unknown
from model.work.walk import MAX_VISITS, Walk

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
    outline: Outline = field(init=False)
    rewritten: frozenset[str] = field(init=False)  # buffers that it stores to
    named: dict[str, tuple[Atom, ...]] = field(init=False, default_factory=dict)  # see `knowledge`
    samples: dict[str, Sample] = field(init=False, default_factory=dict)  # by the launch's key, see `remember`

    def __post_init__(self) -> None:
        object.__setattr__(self, "outline", outline_of(self.root, self.unrolled_lines))
        object.__setattr__(self, "rewritten", frozenset(a.buffer for a in self.accesses() if a.is_store or a.is_atomic))

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
        """As `sample_of`; where that is not known, what the last launch told: shares stay nearer to that than to any
        guess."""
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
) -> Knowledge:
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
    return Knowledge(symbols, contents, parameters, uniform=uniform)


def _element(parameter: Parameter | None) -> Type:
    """Return what a pointer leads to."""
    return parameter.type.pointee if parameter is not None and isinstance(parameter.type, PointerType) else INT


def _symbols_of(name: str, parameter: Parameter | None) -> tuple[Atom, ...]:
    """Return a scalar as an argument, where nothing declares it, and as what else the source may call it.

    `v.x` is `v.s0`; a plain `v` given for a vector stands for each of its components."""
    own = Atom.of("symbol", f"arg.{name}"), Atom.of("symbol", f"name.{name}")
    if parameter is not None and isinstance(parameter.type, ScalarType):
        return own
    base, _, component = name.rpartition(".")
    lane = next((n for n in range(16) if name in lane_names(base, n)), None) if base and component else None
    aliases = [lane_names(base, lane)[0]] if lane is not None else [lane_names(name, n)[0] for n in range(16)]
    return (*own, *(Atom.of("symbol", f"arg.{alias}") for alias in aliases))
