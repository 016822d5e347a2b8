"""What GPUs' compilers load once and keep in registers: places that unrolled loops ask for again.

Neighbouring outputs of a filter or of a product share inputs. Once the loops around are unrolled, each place has a
constant distance from the others, and the second load of one is the first one's register, as far as registers reach.
Sources: Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008 (register blocking); LLVM's early
elimination of common subexpressions after full unrolling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from model.opencl.types import AddressSpace
from model.work.expressions.evaluate import evaluate
from model.work.features.access_facts import AccessFacts
from model.work.features.divergence import Decision, LoopFacts, Paths
from model.work.memory.scopes import is_counter
from model.work.regions.enclosing_scopes import Setting
from model.work.regions.region import Loop

KEPT_WORDS = 128  # 32-bit registers of a work-item that hold what is asked for again
MOST_LOADS = 4096  # of an unrolled nest: authors who block for registers ask for it by pragma
WORD_BYTES = 4
_SHARED = frozenset({AddressSpace.LOCAL, AddressSpace.GLOBAL, AddressSpace.CONSTANT, AddressSpace.GENERIC})


@dataclass(frozen=True, slots=True)
class _Load:
    """One load in a nest of loops of constant length: its place is `constant` + the sum of `steps` x iteration."""

    facts: AccessFacts
    nest: tuple[Loop, ...]  # outermost first
    group: tuple[object, ...]  # loads with the same group have constant distances
    constant: int
    steps: tuple[int, ...]  # bytes, by loop of `nest`


def loaded_shares(accesses: Iterable[AccessFacts], paths: Paths) -> dict[int, float]:
    """Return, by the identity of its count, the share of an access' executions that compilers leave as loads."""
    together: dict[tuple[object, ...], list[_Load]] = defaultdict(list)
    for load in _loads(list(accesses), paths):
        together[(load.facts.count.buffer, *(id(loop) for loop in load.nest), *load.group)].append(load)
    shares: dict[int, float] = {}
    for loads in together.values():
        shares.update(_shares(loads))
    return shares


def _loads(accesses: Sequence[AccessFacts], paths: Paths) -> Iterator[_Load]:
    settings = paths.settings
    barred: dict[str, set[int]] = defaultdict(set)  # by buffer, the loops that store to it
    for facts in accesses:
        if facts.count.is_store:
            loops = settings.accesses.get(id(facts.reach.access), Setting()).loops
            barred[facts.count.buffer].update(id(loop) for loop in loops)
    ordered = {id(loop) for _, setting, _ in settings.barriers for loop in setting.loops}
    for facts in accesses:
        count = facts.count
        if count.is_store or count.is_atomic or count.space not in _SHARED or count.count <= 0:
            continue
        setting = settings.accesses.get(id(facts.reach.access), Setting())
        nest = _nest(setting, barred[count.buffer] | ordered)
        load = _load(facts, setting, nest, paths) if nest else None
        if load is not None:
            yield load


def _nest(setting: Setting, barred: set[int]) -> tuple[Loop, ...]:
    """Return the innermost loops that are unrolled together: of constant length, and none of `barred`.

    Barred are loops with stores to the buffer or with barriers.
    """
    nest: list[Loop] = []
    loads = 1
    for loop in reversed(setting.loops):
        trips = loop.trips.constant
        if trips is None or id(loop) in barred or loads * trips > MOST_LOADS:
            break
        loads *= max(1, int(trips))
        nest.append(loop)
    return tuple(reversed(nest))


def _load(facts: AccessFacts, setting: Setting, nest: tuple[Loop, ...], paths: Paths) -> _Load | None:
    index = facts.index
    if index.obstacle is not None:
        return None
    constant = evaluate(index.constant, paths.known, {})
    steps = [evaluate(index.coefficient(loop.counter), paths.known, {}) for loop in nest]
    if constant is None or any(step is None for step in steps):
        return None
    counters = {loop.counter for loop in nest}
    rest = frozenset((term.variable, term.coefficient) for term in index.terms if term.variable not in counters)
    conditions = tuple((condition, holds) for condition, holds, _ in setting.conditions)
    return _Load(facts, nest, (rest, conditions), int(constant), tuple(int(step) for step in steps if step is not None))


def _shares(loads: Sequence[_Load]) -> Iterator[tuple[int, float]]:
    """Follow the loads in their order, with as many places kept as registers reach; the longest unused one goes."""
    trips = [range(int(loop.trips.constant or 1)) for loop in loads[0].nest]
    while trips and len(loads) * prod(map(len, trips)) > MOST_LOADS:
        del trips[0]
    if not trips or (len(loads) == 1 and _is_apart(loads[0], trips)):
        return
    kept: dict[int, None] = {}
    most = max(1, KEPT_WORDS * WORD_BYTES // max(load.facts.count.element_bytes for load in loads))
    made = [0] * len(loads)
    for at in product(*trips):
        for number, load in enumerate(loads):
            place = load.constant + sum(step * i for step, i in zip(load.steps[-len(at) :], at, strict=True))
            if place in kept:
                del kept[place]
            else:
                made[number] += 1
                if len(kept) >= most:
                    del kept[next(iter(kept))]
            kept[place] = None
    for load, count in zip(loads, made, strict=True):
        yield id(load.facts.count), count / prod(map(len, trips))


def _is_apart(load: _Load, trips: Sequence[range]) -> bool:
    """Return whether plainly no iteration asks for another's place: each step passes all that smaller ones reach."""
    reach = 0
    for step, count in sorted(
        (abs(step), len(each)) for step, each in zip(load.steps[-len(trips) :], trips, strict=True)
    ):
        if count > 1 and step <= reach:
            return False
        reach += step * (count - 1)
    return True


REGISTER_BYTES = 4
MOST_UNROLLED = 64  # iterations of one loop that compilers unroll whole


@dataclass(frozen=True, slots=True)
class Promotion:
    """Arrays that registers can hold, and how many 32-bit registers they would need."""

    arrays: frozenset[str]
    registers: float


NOTHING = Promotion(frozenset(), 0.0)


def promotion(accesses: Iterable[AccessFacts], loops: Iterable[LoopFacts]) -> Promotion:
    """Private arrays whose every index is a constant after unrolling."""
    constant = {loop.line for loop in loops if loop.trip_kind is Decision.CONSTANT and loop.trips <= MOST_UNROLLED}
    of_array: dict[str, list[AccessFacts]] = defaultdict(list)
    for facts in accesses:
        if facts.count.space is AddressSpace.PRIVATE:
            of_array[facts.count.buffer].append(facts)
    kept = {name: own for name, own in of_array.items() if all(_is_constant(facts, constant) for facts in own)}
    return Promotion(frozenset(kept), sum(_extent_bytes(own) for own in kept.values()) / REGISTER_BYTES)


def _is_constant(facts: AccessFacts, constant: set[int]) -> bool:
    index = facts.index
    if index.obstacle is not None or index.constant.constant is None:
        return False
    if not all(is_counter(term.variable) for term in index.terms):
        return False
    return all(step.line in constant for step in facts.steps if step.bytes != 0)


def _extent_bytes(own: Sequence[AccessFacts]) -> float:
    lows = [facts.reach.extent.low or 0 for facts in own]
    highs = [facts.reach.extent.high or 0 for facts in own]
    return float(max(highs) - min(lows))
