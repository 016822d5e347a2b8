"""How often a condition over data holds, where `fill` describes the data.

Everything random in it (what buffers hold, ids that are still ranges) is drawn together a fixed number of times, from
a low-discrepancy sequence, so that equal launches give equal answers; what enclosing branches have decided is taken
as given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from model.work.evaluate import Contents, Knowledge, evaluate
from model.work.numbers import Value, function_of
from model.work.symbolic import Atom, Expression

DRAWS = 96
DRAWS_OF_IDS = 512  # where ids alone decide, as in `length(at) < radius`: that is no matter of chance
MAX_ENUMERATED = 256  # a lone value from so few is tried through
MAX_RANDOM = 24
FEWEST = 6  # draws that enclosing branches must leave over

Assumed = tuple[Expression, bool]  # a condition, and whether it holds
Ranges = Mapping[Atom, tuple[int, int]]
Draw = dict[Atom, Value]


class _Undecided(Exception):
    """Something that no fill describes."""


def chance(
    condition: Expression, assumed: Sequence[Assumed], known: Knowledge, point: Mapping[Atom, Value], ranges: Ranges
) -> float | None:
    """The share, 0 to 1, of draws that meet `condition` among those that meet what is `assumed`; None where no fill
    says what it rests on."""
    random = _random(condition, known, point, ranges)
    if random is None:
        return None
    given = _related(assumed, random, known, point, ranges)
    atoms = sorted({*random, *(a for _, _, own in given for a in own)}, key=lambda a: a.serial)
    if len(atoms) > MAX_RANDOM:
        return None
    met = kept = 0
    try:
        for draw in _draws(atoms, known, point, ranges):
            if all(bool(_value(expression, known, draw)) == holds for expression, holds, _ in given):
                kept += 1
                met += bool(_value(condition, known, draw))
    except _Undecided:
        return None
    if kept < FEWEST:
        return chance(condition, (), known, point, ranges) if given else None
    return met / kept


def _random(
    condition: Expression, known: Knowledge, point: Mapping[Atom, Value], ranges: Ranges
) -> frozenset[Atom] | None:
    """What must be drawn for `condition`; None where something cannot be."""
    drawn = set()
    for leaf in condition.leaves:
        if leaf in point or leaf.kind == "symbol":
            if leaf in ranges:
                drawn.add(leaf)
            continue
        if leaf.kind != "load":
            return None
        contents = known.contents.get(str(leaf.arguments[0]))
        is_table = contents is not None and contents.values is not None
        if contents is None or (not is_table and (contents.fill is None or contents.fill.kind == "random")):
            return None
        drawn.add(leaf)
    return frozenset(drawn)


def _related(
    assumed: Sequence[Assumed],
    random: frozenset[Atom],
    known: Knowledge,
    point: Mapping[Atom, Value],
    ranges: Ranges,
) -> list[tuple[Expression, bool, frozenset[Atom]]]:
    """Those of `assumed` that rest on the same draws, directly or through each other."""
    related: list[tuple[Expression, bool, frozenset[Atom]]] = []
    reached = {a for a in random if a.kind == "load"}
    left = [(e, holds, own) for e, holds in assumed if (own := _random(e, known, point, ranges)) is not None]
    while True:
        more = [entry for entry in left if reached & entry[2]]
        if not more:
            return related
        related += more
        left = [entry for entry in left if not reached & entry[2]]
        for _, _, own in more:
            reached |= {a for a in own if a.kind == "load"}


def _draws(atoms: list[Atom], known: Knowledge, point: Mapping[Atom, Value], ranges: Ranges) -> Iterator[Draw]:
    count = DRAWS if any(a.kind == "load" for a in atoms) else DRAWS_OF_IDS
    if len(atoms) == 1:
        domain = _domain(atoms[0], known, ranges)
        count = domain if domain is not None and domain <= MAX_ENUMERATED else DRAWS
    ordered = sorted(atoms, key=lambda a: a.kind == "load")  # ids before what stands at them
    for i in range(count):
        draw = dict(point)
        for dimension, atom in enumerate(ordered):
            # The first goes through its range evenly, the others by square roots of primes (Richtmyer, 1951).
            u = (i + 0.5) / count if dimension == 0 else (0.5 + (i + 1) * _STEPS[dimension - 1]) % 1.0
            if atom in ranges:
                low, high = ranges[atom]
                draw[atom] = low + int(u * (high - low))
            else:
                draw[atom] = _element(atom, u, known, draw)
        yield draw


def _domain(atom: Atom, known: Knowledge, ranges: Ranges) -> int | None:
    """How many values there are to draw from; None for very many."""
    if atom in ranges:
        return max(1, ranges[atom][1] - ranges[atom][0])
    contents = known.contents[str(atom.arguments[0])]
    bounds = contents.bounds
    if bounds is None or contents.fill is None or contents.fill.kind in ("uniform", "csr_rows"):
        return None
    return max(1, int(bounds[1] - bounds[0]) + 1)


def _element(atom: Atom, u: float, known: Knowledge, draw: Draw) -> Value:
    """What a load gives for `u` in 0..1."""
    contents, offset = known.contents[str(atom.arguments[0])], atom.arguments[1]
    try:
        at = _value(offset, known, draw) if isinstance(offset, Expression) else None
    except _Undecided:
        at = None
    return _drawn(contents, u, None if at is None else at // contents.element_bytes)


def _drawn(contents: Contents, u: float, index: Value | None) -> Value:
    if contents.values is not None and index is not None:
        held = contents.mean_at(index)
        if held is None:
            raise _Undecided
        return held
    if contents.fill is None:
        raise _Undecided
    if contents.is_smooth and index is not None:
        expected = contents.mean_at(index)
        if expected is not None:
            return expected
    bounds = contents.bounds
    if bounds is None:
        raise _Undecided
    low, high = bounds
    if contents.fill.kind in ("uniform", "csr_rows"):
        return low + (high - low) * u
    return low + int(u * (high - low + 1))


def _value(expression: Expression, known: Knowledge, draw: Draw) -> Value:
    total: Value = 0
    for monomial, coefficient in expression.terms:
        product: Value = coefficient
        for atom in monomial:
            product *= _of_atom(atom, known, draw)
        total += product
    return total


def _of_atom(atom: Atom, known: Knowledge, draw: Draw) -> Value:
    value = draw.get(atom)
    if value is not None:
        return value
    kind, arguments = atom.kind, atom.arguments
    if kind == "literal":
        return _number(str(arguments[0]))
    if kind in ("symbol", "load", "unknown", "trips", "iterate"):
        value = evaluate(Expression({(atom,): 1}), known, draw)
        if value is None:
            raise _Undecided
        return value
    numbers = [_value(a, known, draw) for a in arguments if isinstance(a, Expression)]
    function = function_of(kind, str(arguments[0]) if arguments else "")
    try:
        result = function(*numbers) if function is not None else None
    except (ArithmeticError, ValueError, TypeError):
        result = None
    if result is None:
        raise _Undecided
    draw[atom] = result  # also for whoever shares it
    return result


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _Undecided from None


_STEPS = [math.sqrt(p) % 1.0 for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71,
                                       73, 79, 83, 89)]  # fmt: skip
