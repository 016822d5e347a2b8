"""Which parts of a launch grow when its problem does, and how: what a problem is made larger by.

A launch says more than its size: a filter's radius, a flag or a table's length stand beside the number of pixels.
What grows is found from how the launch was written (`global=(W, H) picture=W*H`: W and H do), and where it was
written in plain numbers, from what the source holds against its ids (`if (i < n)`).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from math import prod

from model.launch.expression import Expression, ExpressionError, constant
from model.launch.launch import Launch, Number
from model.launch.names import defined_numbers, resolve
from model.launch.source_hints import SourceHints
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.types import ScalarKind, ScalarType
from model.work.expressions.symbolic import Atom

Values = dict[str, tuple[Expression, ...]]
_STEP = 16  # how much larger names are made to see what grows with them; rounding hardly matters then
_SIZED = (ParameterKind.BUFFER, ParameterKind.LOCAL, ParameterKind.IMAGE)


@dataclass(frozen=True, slots=True)
class Growth:
    """`name` is multiplied by (problem's factor) ** `power`; `global` stands for sizes in plain numbers.

    `dimension` is set where the name goes with one side of the NDRange, which is rounded to whole work-groups: then
    the name takes exactly the factor that this side has taken.
    """

    name: str
    at: Number  # its value now
    power: float
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How one launch scales. `spec` is the launch with everything said that must not be guessed anew."""

    spec: LaunchSpec
    drivers: tuple[Growth, ...] = ()  # what the global size is written with
    sides: tuple[float, ...] = ()  # the power of each side, where the global size is in plain numbers
    followers: tuple[Growth, ...] = ()  # other numbers that go along
    follows: tuple[str, ...] = ()  # what is written in terms of those, or was inferred
    stays: tuple[tuple[str, Number], ...] = ()
    reason: str = ""  # why nothing can be scaled

    @property
    def can_scale(self) -> bool:
        return not self.reason


def plan(kernel: Kernel, spec: LaunchSpec, launch: Launch, local: tuple[int, ...], hints: SourceHints) -> Plan:
    """Return how `launch`, which completes `spec`, scales; `local` is the work-group that it runs with."""
    grounded = _grounded(kernel, spec, launch)
    return _Planner(kernel, grounded, launch, local, hints).plan()


def _grounded(kernel: Kernel, spec: LaunchSpec, launch: Launch) -> LaunchSpec:
    """`spec` with the sizes and scalars that were inferred; lengths are inferred anew for each size."""
    said = dict(spec.values)
    lanes = {name.partition(".")[0] for name in said}
    scalars = {n: (constant(v),) for n, v in launch.scalars if n not in said and n.partition(".")[0] not in lanes}
    return replace(
        spec,
        global_size=spec.global_size or tuple(constant(size) for size in launch.global_size),
        local_size=spec.local_size or (tuple(constant(s) for s in launch.local_size) if launch.local_size else None),
        driver_chooses_local=launch.local_size is None,
        values=tuple({**said, **scalars}.items()),
    )


class _Planner:
    def __init__(
        self, kernel: Kernel, spec: LaunchSpec, launch: Launch, local: tuple[int, ...], hints: SourceHints
    ) -> None:
        self.kernel, self.spec, self.launch, self.local, self.hints = kernel, spec, launch, local, hints
        self.values: Values = dict(spec.values)
        self.known = defined_numbers(spec.options)
        self.numbers = {**self.known, **resolve(spec.values, self.known).scalars}
        self.roots = {n for n, parts in self.values.items() if not any(p.names for p in parts)}
        self.fixed = self._reached(spec.local_size or ())

    def plan(self) -> Plan:
        global_size = self.spec.global_size or ()
        reached = self._reached(global_size)
        drivers = sorted(n for n in reached & self.roots - self.fixed if _is_whole(self.numbers[n]))
        growth = self._degrees(global_size, drivers) if drivers else ()
        degree = sum(growth)
        if degree < 0.5:
            compiled_in = sorted(reached & self.known.keys() - self.roots)
            if compiled_in:
                return Plan(
                    self.spec,
                    reason=f"the global size is written with {_listed(compiled_in)}, which a build option compiles "
                    "into the kernel",
                )
            drivers, growth, degree = [], self._plain_sides(), 1.0
            if not any(growth):
                return Plan(self.spec, reason="the launch runs a single work-group, which holds no size to scale")
        sides = tuple(g / degree for g in growth)
        found = tuple(Growth(n, self.numbers[n], 1 / degree) for n in drivers)
        followers = self._followers({*drivers}, sides)
        grown = {g.name for g in (*found, *followers)}
        return Plan(
            self.spec,
            drivers=found,
            sides=() if drivers else sides,
            followers=followers,
            follows=self._follows(grown),
            stays=self._stays(grown),
        )

    def _plain_sides(self) -> tuple[float, ...]:
        """Sides of more than one work-group share the growth; a side that one group spans is no size."""
        grows = [size > group for size, group in zip(self.launch.global_size, self.local, strict=False)]
        return tuple(side / sum(grows) if any(grows) else 0.0 for side in grows)

    def _followers(self, drivers: set[str], sides: tuple[float, ...]) -> tuple[Growth, ...]:
        found: dict[str, Growth] = {}
        for name in sorted(self.roots - drivers - self.fixed):
            growth = self._scalar_growth(name, sides)
            if growth is not None:
                found[name] = growth
        large: set[int] = set()
        for name, parts in self.values.items():
            kind = self._kind(name)
            if kind not in (ParameterKind.BUFFER, ParameterKind.IMAGE):
                continue
            roots = self._reached(parts) & self.roots | ({name} & self.roots)
            if roots & (drivers | found.keys()) or not roots or roots & self.fixed:
                continue
            size = prod(int(p.evaluate(self.numbers)) for p in parts)
            side = self._same_side(size, sides) if kind is ParameterKind.BUFFER else None
            if side is not None:
                found[name] = Growth(name, size, sides[side], side)
            elif size >= self.launch.work_items:
                large.add(size)
                owners = sorted(r for r in roots if r == name or _is_whole(self.numbers.get(r, 0.5)))
                degree = len(parts) if name in owners else sum(self._degrees(parts, owners))
                for owner in owners if degree >= 0.5 else ():
                    found[owner] = Growth(owner, self.numbers.get(owner, size), 1 / degree)
        for name in sorted(self.roots - drivers - self.fixed - found.keys()):
            # `count=1048576 signal=1048576`: a scalar that tells a large buffer's length.
            if self._is_scalar(name) and self.numbers.get(name) in large:
                found[name] = Growth(name, self.numbers[name], 1.0)
        return tuple(found.values())

    def _scalar_growth(self, name: str, sides: tuple[float, ...]) -> Growth | None:
        """Return a plain number that the source holds ids against, walks rows with, or loops up to."""
        value = self.numbers.get(name)
        if not self._is_scalar(name) or value is None or not _is_whole(value) or value < 2:
            return None
        atoms = _atoms(name)
        if atoms & self.hints.margins:
            return None
        for guards in (self.hints.guards, self.hints.group_guards):
            for side in range(len(sides)):
                if atoms.intersection(guards.get(side, ())):
                    return Growth(name, value, sides[side], side) if sides[side] else None
        for side, product in self.hints.products.items():
            if atoms.intersection(product.factors) and side < len(sides):
                share = sides[side] / len(product.factors)  # so that their product grows as the side does
                return Growth(name, value, share) if share else None
        rows = next((self.hints.strides[a] for a in atoms if a in self.hints.strides), None)
        if rows is not None and rows < len(sides):
            return Growth(name, value, sides[rows], rows) if sides[rows] else None
        if atoms & self.hints.trip_bounds.keys():
            same = self._same_side(int(value), sides)
            if same is not None:
                return Growth(name, value, sides[same], same)
            if value == self.launch.work_items:
                return Growth(name, value, 1.0)
        return None

    def _same_side(self, size: int, sides: tuple[float, ...]) -> int | None:
        return next((d for d, s in enumerate(self.launch.global_size) if s == size and size > 1 and sides[d]), None)

    def _follows(self, grown: set[str]) -> tuple[str, ...]:
        """Parameters that are written in terms of what grows, and lengths that nobody gave."""
        names = {p.name for p in self.kernel.parameters}
        said = {n for n, parts in self.values.items() if n not in self.roots and self._reached(parts) & grown}
        inferred = {n for n, _ in (*self.launch.buffers, *self.launch.images) if n not in self.values}
        return tuple(p.name for p in self.kernel.parameters if p.name in (said | inferred) & names - grown)

    def _stays(self, grown: set[str]) -> tuple[tuple[str, Number], ...]:
        """Whole numbers that shape the work and stay as they are: lengths, and what loops or other values use."""
        used = {n for parts in self.values.values() for p in parts for n in p.names}
        lengths = {p.name for p in self.kernel.of_kind(ParameterKind.BUFFER)}
        return tuple(
            (name, self.numbers[name])
            for name in sorted(self.roots - grown)
            if _is_whole(self.numbers.get(name, 0.5)) and (name in used | lengths or self._bears_on_work(name))
        )

    def _bears_on_work(self, name: str) -> bool:
        parameter = self.kernel.parameter(name)
        kind = parameter.type if parameter is not None else None
        is_float = isinstance(kind, ScalarType) and kind.kind is ScalarKind.FLOAT
        return self._is_scalar(name) and not is_float and not self.hints.used.isdisjoint(_atoms(name))

    def _is_scalar(self, name: str) -> bool:
        return self._kind(name) not in _SIZED

    def _kind(self, name: str) -> ParameterKind | None:
        parameter = self.kernel.parameter(name.partition(".")[0])
        return parameter.kind if parameter is not None else None

    def _reached(self, parts: tuple[Expression, ...]) -> set[str]:
        """Return every name that `parts` depend on, directly or not."""
        found: set[str] = set()
        waiting = [n for p in parts for n in p.names]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [n for p in self.values.get(name, ()) for n in p.names]
        return found

    def _degrees(self, parts: tuple[Expression, ...], roots: Collection[str]) -> tuple[float, ...]:
        """Return how fast each part grows when all `roots` do: 1 in proportion, 2 with their square, 0 not at all."""
        larger = {n: (constant(int(self.numbers[n]) * _STEP),) for n in roots}
        values = [(n, larger.get(n, e)) for n, e in self.values.items()]
        try:
            names = {**self.known, **resolve(values, self.known).scalars}
            grown = [max(1.0, float(p.evaluate(names))) for p in parts]
            now = [max(1.0, float(p.evaluate(self.numbers))) for p in parts]
        except ExpressionError:  # only some sizes can be written like this: `n/3`
            return tuple(0.0 for _ in parts)
        return tuple(_whole(math.log(after / before, _STEP)) for after, before in zip(grown, now, strict=True))


def _whole(degree: float) -> float:
    """Whole where only the rounding up to work-groups keeps it from that."""
    nearest = round(degree)
    return float(max(0, nearest)) if abs(degree - nearest) < 0.1 else max(0.0, degree)


def _atoms(name: str) -> set[Atom]:
    """Return a parameter, or a name that nothing declares."""
    return {Atom.of("symbol", f"arg.{name}"), Atom.of("symbol", f"name.{name}")}


def _is_whole(value: Number) -> bool:
    return isinstance(value, int) or (math.isfinite(value) and value.is_integer())


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)
