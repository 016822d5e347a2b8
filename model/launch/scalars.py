"""By-value arguments that nobody gave, from what the kernel uses them for, and failing that from their names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import IntEnum
from math import prod
from typing import NamedTuple

from model.launch.arg_name_hints import Meaning, meaning_of, meaning_of_float
from model.launch.extents import extents
from model.launch.launch import Number
from model.launch.source_hints import Product, SourceHints
from model.launch.spec import SharedGuesses
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.types import ScalarKind, ScalarType, StructType, Type, VectorType, lane_names
from model.work.execution.values import MAX_NUMBERS
from model.work.expressions.symbolic import Atom
from model.work.work import Work

_LOOP_BOUNDS = (64, 64, 16, 8)  # by how many loops with unknown bounds are in each other
_LIMITS = (256, 256, 64, 16)  # likewise of loops that may end earlier
_SHORT = 8  # sides below say nothing of loops
_USUAL_GROUP = 64
_GROUP_SIDES = {1: 64, 2: 16, 3: 4}
_USUAL_RADIUS = 2
_USUAL_BINS = 256
_USUAL_FACTOR = 2


UNUSED = ": its value does not matter to the counts"


class Strength(IntEnum):
    """What a guess rests upon, from weakest to strongest."""

    FREE = -1  # nothing: what is counted does not depend on it
    OWN = 0  # this kernel alone: no other kernel's business
    NONE = 1
    NAME = 2
    LOOP = 3  # it bounds a loop
    IDS = 4  # the source holds the ids of work-items against it


class GuessedScalar(NamedTuple):
    """A by-value argument that nobody gave, and the sentence that says why it has this value."""

    name: str
    value: Number
    text: str
    strength: Strength
    matters: bool = True  # whether what is counted depends on it


def name_of(atom: Atom) -> str:
    return str(atom.arguments[0]).partition(".")[2]


def missing_scalars(
    kernel: Kernel,
    work: Work,
    hints: SourceHints,
    size: tuple[int, ...],
    known: Mapping[str, Number],
    *,
    margin: int = 0,
    shared: SharedGuesses | None = None,
) -> list[GuessedScalar]:
    """Return a guess for each scalar that nobody gave, from what it is used for.

    `margin` is what scalars get that keep ids away from an edge; `shared` are guesses of the file's other kernels.
    """
    elsewhere = {name: (value, kernel) for name, value, kernel in shared.scalars} if shared is not None else {}
    wanted: list[tuple[str, Type | None]] = []
    for parameter in kernel.of_kind(ParameterKind.SCALAR, ParameterKind.STRUCT):
        wanted += _leaves(parameter.name, parameter.type)
    wanted += [(name, None) for name, _ in work.free_names]
    spoken_of = {
        meaning_of(lane) for name, kind in wanted for spellings in _lanes(name, kind) for lane in spellings[:1]
    }
    dimensions = 3 if Meaning.DEPTH in spoken_of else max(2, len(size))
    missing = []
    for name, kind in wanted:
        lanes = _lanes(name, kind)
        if name in known:
            continue
        element = kind.element if isinstance(kind, VectorType) else kind
        guesses = {
            lane[0]: _guess(lane[0], element, hints, size, dimensions, margin, known)
            for lane in lanes
            if not known.keys() & set(lane)
        }
        if len(guesses) == len(lanes) and len(set(guesses.values())) == 1:
            guesses = {name: guesses[lanes[0][0]]}  # one value for all components
        for lane, (value, why, strength) in guesses.items():
            if lane in elsewhere:
                other, of_kernel = elsewhere[lane]
                value, why = other, f", as in `{of_kernel}`"  # noqa: PLW2901
            kept = min(value, _greatest(element))
            declared = "" if kind is not None else " (not declared: give it with -D)"
            missing.append(
                GuessedScalar(lane, kept, f"`{lane}`={kept}{declared}{why}", strength, strength is not Strength.FREE)
            )
    return missing


def _lanes(name: str, kind: Type | None) -> list[tuple[str, ...]]:
    """Return the names of each number in a scalar or vector, every spelling of it."""
    if isinstance(kind, VectorType):
        return [lane_names(name, lane) for lane in range(kind.width)]
    return [(name,)]


def _leaves(name: str, kind: Type) -> list[tuple[str, Type | None]]:
    match kind:
        case StructType() if kind.numbers <= MAX_NUMBERS:
            return [leaf for member, of in kind.members for leaf in _leaves(f"{name}.{member}", of)]
        case ScalarType() | VectorType():
            return [(name, kind)]
        case _:
            return []


def _greatest(kind: Type | None) -> Number:
    """Return the largest value that a scalar type holds."""
    if not isinstance(kind, ScalarType) or kind.kind is ScalarKind.FLOAT:
        return 2**31 - 1
    return 1 if kind.kind is ScalarKind.BOOL else 2 ** (8 * kind.size_bytes - (kind.kind is ScalarKind.SIGNED)) - 1


def _guess(
    name: str,
    kind: Type | None,
    hints: SourceHints,
    size: tuple[int, ...],
    dimensions: int,
    margin: int,
    known: Mapping[str, Number],
) -> tuple[Number, str, Strength]:
    if isinstance(kind, ScalarType) and kind.kind is ScalarKind.FLOAT:
        return _float_by_name(name, is_used=bool(hints.used.intersection(_atoms(name))))
    atoms = _atoms(name)
    for d, guards in hints.guards.items():
        if any(a in guards for a in atoms) and d < len(size) and not _is_start_of_several(name, guards):
            return size[d], f", the global size of dimension {d}, which is checked against it", Strength.IDS
    for d, product in hints.products.items():
        factor = next((atom for atom in atoms if atom in product.factors), None)
        if factor is not None and d < len(size):
            others = " and ".join(f"`{name_of(other)}`" for other in product.factors if other is not factor)
            text = f": its product with {others or 'itself'} is what ids of dimension {d} stay below"
            return _factor(factor, product, size[d], known), text, Strength.IDS
    for atom in atoms:
        if atom in hints.strides:
            d = min(hints.strides[atom], len(size) - 1)
            return size[d], f", the global size of dimension {d}: it separates rows", Strength.IDS
        for d, guards in hints.group_guards.items():
            if atom in guards and d < len(size):
                return (
                    max(1, size[d] // _USUAL_GROUP),
                    ", about as many as there are work-groups to check against it",
                    Strength.OWN,
                )
        if atom in hints.grid_bounds and hints.grid_bounds[atom] < len(size):
            return size[hints.grid_bounds[atom]], ": the work-items together go up to it", Strength.IDS
        if atom in hints.trip_bounds and meaning_of(name) is Meaning.FACTOR:
            return _USUAL_FACTOR, ": it bounds a loop, and is a factor by its name", Strength.NAME
        if atom in hints.trip_bounds and meaning_of(name) is Meaning.LIMIT:
            limit = _LIMITS[min(hints.trip_bounds[atom], len(_LIMITS) - 1)]
            return limit, ": by its name, how often a loop runs at most", Strength.LOOP
        if atom in hints.trip_bounds:
            return _loop_bound(hints.trip_bounds[atom], size), ": it bounds a loop", Strength.LOOP
        if atom in hints.margins:
            return margin, ": ids are checked against it, and most of them pass", Strength.OWN
    if (sibling := _sibling_bound(name, hints)) is not None:
        return _loop_bound(sibling, size), ": like its sibling of another axis, which bounds a loop", Strength.LOOP
    if hints.group_sides.intersection(atoms):
        return (
            _GROUP_SIDES[len(size)],
            ": it multiplies the group id, so it is as wide as a usual work-group",
            Strength.OWN,
        )
    value = _by_name(name, size, dimensions)
    if value is not None:
        if meaning_of(name) is Meaning.LIMIT:
            return value, ": by its name, how often something is repeated at most", Strength.NAME
        return value, f", by its name, in a launch of {'x'.join(map(str, size))}", Strength.NAME
    if not hints.used.intersection(atoms):
        return 1, UNUSED, Strength.FREE
    return 1, ": nothing says how large it is", Strength.NONE


def _factor(wanted: Atom, product: Product, size: int, known: Mapping[str, Number]) -> int:
    """Return a factor that is not given: the factors are extents whose product is `size`."""
    left = size / product.times
    open_factors = []
    for factor in product.factors:
        value = known.get(name_of(factor))
        if value is None:
            open_factors.append(factor)
        else:
            left /= max(1, value)
    items = max(1, math.ceil(left))
    if len(open_factors) == 1:
        return items
    if len(set(open_factors)) < len(open_factors):  # `i < n * n`
        return max(1, round(math.pow(items, 1 / len(open_factors))))
    place = open_factors.index(wanted)
    return extents((items,), min(3, len(open_factors)))[place] if place < 3 else 1


def _is_start_of_several(name: str, guards: list[Atom]) -> bool:
    """Of `i < start ... i < end`, the first: ids are held against both, and those between have most to do."""
    return meaning_of(name) is Meaning.START and any(meaning_of(name_of(a)) is not Meaning.START for a in guards)


def _loop_bound(nested: int, size: tuple[int, ...]) -> int:
    """Moderate, and no larger than a side of the launch: what moves over each element is smaller than the whole."""
    usual = _LOOP_BOUNDS[min(nested, len(_LOOP_BOUNDS) - 1)]
    return min([usual, *(side for side in size if side >= _SHORT)])


def _atoms(name: str) -> list[Atom]:
    """Return what a scalar is called in expressions: an argument, or a name that nothing declares."""
    return [Atom.of("symbol", f"arg.{name}"), Atom.of("symbol", f"name.{name}")]


def _float_by_name(name: str, *, is_used: bool) -> tuple[float, str, Strength]:
    """Guess a float from its name: limits of ranges lie on both sides of the values in float buffers.

    `is_used`: a condition, a trip count or an index depends on it.
    """
    meaning = meaning_of_float(name)
    if meaning is Meaning.LEAST:
        return 0.0, ": by its name, what values lie above", Strength.FREE
    if meaning is Meaning.MOST:
        return 2.0, ": by its name, what values lie below", Strength.FREE
    if is_used:
        return 1.0, ": nothing says how large it is", Strength.NONE
    return 1.0, UNUSED, Strength.FREE


def _sibling_bound(name: str, hints: SourceHints) -> int | None:
    """Of `Ly`, what `Lx` bounds: how many loops are in each other."""
    if not name or name[-1].lower() not in "xyz":  # where the code is broken, a parameter may have no name
        return None
    axes = "xyz" if name[-1].islower() else "XYZ"
    atoms = (Atom.of("symbol", f"{kind}.{name[:-1]}{axis}") for axis in axes for kind in ("arg", "name"))
    return next((hints.trip_bounds[atom] for atom in atoms if atom in hints.trip_bounds), None)


def _by_name(name: str, size: tuple[int, ...], dimensions: int) -> int | None:
    """Sizes that fit each other and the launch: the width, the height and the depth of what it goes through."""
    width, height, depth = extents(size, dimensions)
    match meaning_of(name):
        case Meaning.WIDTH:
            return width
        case Meaning.HEIGHT:
            return height
        case Meaning.DEPTH:
            return depth
        case Meaning.COUNT:
            return prod(size)
        case Meaning.START:
            return 0
        case Meaning.RADIUS:
            return _USUAL_RADIUS
        case Meaning.BINS:
            return _USUAL_BINS
        case Meaning.WINDOW:
            return 2 * _USUAL_RADIUS + 1
        case Meaning.FACTOR:
            return _USUAL_FACTOR
        case Meaning.LIMIT:
            return _LIMITS[0]
        case _:
            return None
