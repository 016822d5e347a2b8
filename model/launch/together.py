"""Guesses for the kernels of one file, made together: what means the same to several of them gets one value.

Two versions of one kernel are written to be compared. Where nobody says how large their arguments are, each alone
would be guessed from its own source, and the version that tells less would seem to have less to do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import NamedTuple

from model.errors import KernelcastError
from model.launch.inference import is_too_much
from model.launch.launch import Launch, Number
from model.launch.scalars import Strength, missing_scalars
from model.launch.source_hints import gather
from model.launch.spec import LaunchSpec, SharedGuesses
from model.opencl.kernel import Kernel, Parameter, ParameterKind
from model.opencl.options import BuildOptions
from model.opencl.types import ScalarKind, ScalarType
from model.work.expressions.symbolic import Atom
from model.work.work import Work

Complete = Callable[[Kernel, Work, LaunchSpec], Launch]  # may raise KernelcastError
MAX_SHARED_STEPS = 40_000  # of analysing kernels that are guessed together: about a second
_SHRINK = (1, 4, 16, 64)  # of work-items, where together they would be too much


@dataclass(frozen=True, slots=True, eq=False)
class OwnGuess:
    """What one kernel alone would be guessed to be launched with. `sides` are scalars that measure rows or loops."""

    kernel: Kernel
    work: Work
    spec: LaunchSpec
    launch: Launch
    scalars: Mapping[str, tuple[Number, Strength]]
    sides: frozenset[str]

    @property
    def rank(self) -> int:
        return len(self.launch.global_size)

    @property
    def signature(self) -> Hashable:
        """All that others take over depends on: most edits of a kernel leave it as it is."""
        return self.kernel.name, self.launch.global_size, self.launch.scalars, tuple(self.scalars.items()), self.sides

    @property
    def strength(self) -> Strength:
        return max((strength for _, strength in self.scalars.values()), default=Strength.OWN)


def own_guess(kernel: Kernel, work: Work, spec: LaunchSpec, complete: Complete) -> OwnGuess:
    """Guess the launch of one kernel alone. Raises KernelcastError where there is none."""
    launch = complete(kernel, work, spec)
    hints = gather(work)
    guesses = missing_scalars(kernel, work, hints, launch.global_size, {})
    values = dict(launch.scalars)
    scalars = {
        g.name: (values.get(g.name, g.value), g.strength)
        for g in guesses
        if g.strength > Strength.OWN and _is_size(kernel, g.name)
    }
    atoms = {name: Atom.of("symbol", f"arg.{name}") for name in scalars}
    loops = hints.trip_bounds.keys() - hints.grid_bounds.keys()
    sides = frozenset(name for name, atom in atoms.items() if atom in loops or atom in hints.strides)
    return OwnGuess(kernel, work, spec, launch, scalars, sides)


def shared_guesses(guesses: Sequence[OwnGuess], complete: Complete) -> dict[str, SharedGuesses]:
    """By kernel what it takes over from others; kernels that keep their own guesses are not in it."""
    found: dict[str, SharedGuesses] = {}
    for group in _groups(guesses):
        found |= _agreed(group, complete)
    return found


def _groups(guesses: Sequence[OwnGuess]) -> list[list[OwnGuess]]:
    """Kernels that share a whole number's name and meaning: in launches of as many dimensions, or as a side."""
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for place, guess in enumerate(guesses):
        for name in guess.scalars:
            holders[name, guess.rank].append(place)
            if name in guess.sides:
                holders[name, "side"].append(place)
    parent = list(range(len(guesses)))

    def root(place: int) -> int:
        while parent[place] != place:
            place = parent[place]
        return place

    for places in holders.values():
        for other in places[1:]:
            parent[root(other)] = root(places[0])
    groups: dict[int, list[OwnGuess]] = defaultdict(list)
    for place, guess in enumerate(guesses):
        groups[root(place)].append(guess)
    return [group for group in groups.values() if len(group) > 1]


def _agreed(group: list[OwnGuess], complete: Complete) -> dict[str, SharedGuesses]:
    """Return for all the guess of the kernel whose source says most, reduced until it is not too much for any."""
    order = sorted(group, key=lambda g: (-g.strength, g.launch.work_items, g.kernel.name))
    leader = order[0]
    found: dict[str, SharedGuesses] = {}
    for shrink in _SHRINK:
        size = leader.launch.global_size
        if shrink > 1:
            size = tuple(max(1, round(side / shrink ** (1 / leader.rank))) for side in size)
        found, is_fitting = _round(order, leader, size, complete)
        if is_fitting:
            break
    return found


def _round(
    order: Sequence[OwnGuess], leader: OwnGuess, size: tuple[int, ...], complete: Complete
) -> tuple[dict[str, SharedGuesses], bool]:
    """Return what each takes over if the leader is launched with `size`, and whether none of them gets too much.

    Twice: who comes later may know more of a name.
    """
    values: dict[str, _Value] = {}
    found: dict[str, SharedGuesses] = {}
    for guess in (*order, *order):
        shared = _taken(guess, leader, size, values)
        launch = guess.launch
        if shared is not None:
            try:
                launch = complete(guess.kernel, guess.work, replace(guess.spec, shared=shared))
            except KernelcastError:
                shared = None  # the source proves that it is not the same
        found.pop(guess.kernel.name, None)
        if shared is not None:
            found[guess.kernel.name] = shared
            if is_too_much(guess.kernel, guess.work, launch):
                return found, False
        has = dict(launch.scalars)
        for name, (value, strength) in guess.scalars.items():
            known = values.get(name)
            if known is None or strength > known.strength or known.kernel == guess.kernel.name:
                values[name] = _Value(has.get(name, value), strength, guess.kernel.name)
    return found, True


def _taken(
    guess: OwnGuess, leader: OwnGuess, size: tuple[int, ...], values: Mapping[str, _Value]
) -> SharedGuesses | None:
    """Return what this kernel takes over from others; None where that is what it has."""
    own, name = guess.launch.global_size, guess.kernel.name
    taken: tuple[int, ...] | None = None
    if guess.rank == leader.rank:
        taken = size
    elif guess.rank == 1 and guess.sides & leader.scalars.keys():
        taken = size[:1]  # one work-item a row
    if taken == own:
        taken = None
    others = ((each, values[each]) for each in guess.scalars if each in values and values[each].kernel != name)
    scalars = tuple(
        (each, known.number, known.kernel)
        for each, known in others
        if known.number != guess.scalars[each][0] or taken is not None
    )
    if not scalars and taken is None:
        return None
    return SharedGuesses(scalars, taken, leader.kernel.name if leader is not guess else "")


class _Value(NamedTuple):
    number: Number
    strength: Strength
    kernel: str


def _is_size(kernel: Kernel, name: str) -> bool:
    parameter = kernel.parameter(name)
    kind = parameter.type if parameter is not None else None
    return isinstance(kind, ScalarType) and kind.kind in (ScalarKind.SIGNED, ScalarKind.UNSIGNED)


class FileGuesses:
    """The guesses of one file; what did not change is not guessed again. Not for two threads at once."""

    def __init__(self) -> None:
        self._own: dict[str, OwnGuess | None] = {}
        self._works: dict[str, Work] = {}
        self._sizes: dict[str, tuple[tuple[Parameter, ...], frozenset[str]]] = {}
        self._guesses: tuple[OwnGuess, ...] = ()
        self._specs: dict[str, tuple[LaunchSpec, LaunchSpec]] = {}
        self._shared: dict[str, SharedGuesses] = {}

    def specs(
        self,
        kernels: Mapping[str, tuple[Kernel, LaunchSpec]],
        options: BuildOptions,
        work_of: Callable[[Kernel], Work | None],
        complete: Complete,
    ) -> dict[str, LaunchSpec]:
        """By kernel its spec with what it takes over from others; those that take over nothing are not in it.

        `kernels` are those of which nothing is said, with their specs. A kernel that cannot be read for a moment counts
        as it was: nothing of the others shall change for that. In the order of the source they are analysed until that
        took `MAX_SHARED_STEPS`, the same ones whichever kernel is asked about: each question may come to need them all.
        """
        guesses: tuple[OwnGuess, ...] = ()
        steps = 0
        for name in self._sharing(kernels):
            kernel, spec = kernels[name]
            if not kernel.has_errors or self._own.get(name) is None:
                self._guess(kernel, spec, options, work_of(kernel), complete)
            own = self._own.get(name)
            if own is not None:
                guesses = (*guesses, own)
                steps += own.work.steps
            if steps > MAX_SHARED_STEPS:
                break
        if len(guesses) != len(self._guesses) or not all(map(is_, guesses, self._guesses)):
            if [guess.signature for guess in guesses] != [guess.signature for guess in self._guesses]:
                self._shared, self._specs = shared_guesses(guesses, complete), {}
            self._guesses = guesses
        return {name: self._laid_over(name, kernels[name][1]) for name in self._shared}

    def _laid_over(self, name: str, spec: LaunchSpec) -> LaunchSpec:
        """`spec` with what is taken over, the same object while nothing changes."""
        known = self._specs.get(name)
        if known is None or known[0] is not spec:
            known = self._specs[name] = spec, replace(spec, shared=self._shared[name])
        return known[1]

    def _guess(
        self, kernel: Kernel, spec: LaunchSpec, options: BuildOptions, work: Work | None, complete: Complete
    ) -> None:
        if work is None or self._works.get(kernel.name) is work:
            return
        self._works[kernel.name] = work
        try:
            self._own[kernel.name] = own_guess(kernel, work, replace(spec, options=options), complete)
        except KernelcastError:
            self._own[kernel.name] = None

    def _sharing(self, kernels: Mapping[str, tuple[Kernel, LaunchSpec]]) -> list[str]:
        """Those that have a whole number by value that another one has, too: cheap, and often none."""
        sizes = {name: self._sizes_of(kernel) for name, (kernel, _) in kernels.items()}
        count = Counter(size for each in sizes.values() for size in each)
        return [name for name, each in sizes.items() if any(count[size] > 1 for size in each)]

    def _sizes_of(self, kernel: Kernel) -> frozenset[str]:
        known = self._sizes.get(kernel.name)
        if known is None or known[0] is not kernel.parameters:
            names = frozenset(p.name for p in kernel.of_kind(ParameterKind.SCALAR) if _is_size(kernel, p.name))
            known = self._sizes[kernel.name] = kernel.parameters, names
        return known[1]
