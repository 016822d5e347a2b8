"""Expressions -> sums of slopes and intervals, under a launch: the least and the greatest that they can be."""

from __future__ import annotations

from model.work.expressions.contents import Interval, held_at
from model.work.expressions.evaluate import MAX_STEPS, MAX_UNSHARED, Memo, atom_value, evaluate, value_of_launch
from model.work.expressions.functions import LARGEST
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear_sums import Parts, Slopes, parts_of
from model.work.expressions.numbers import EVALUATED, Value
from model.work.expressions.symbolic import Atom, Expression, Point, Ranges

MAX_ROUNDS = 256  # of a loop's variable, for its interval

Bounds = dict[Atom, Interval | None]

_WITHOUT_INTERVAL = frozenset({"float", "compare", "call", "convert", "negate", "literal"})

_ALWAYS, _NEVER, _EITHER = (1, 1), (0, 0), (0, 1)


def _truth(kind: str, bounds: list[Interval | None]) -> Interval:
    """Of a condition: surely met, surely not, or either."""
    if kind in ("and", "or"):
        settled, other = (_NEVER, _ALWAYS) if kind == "and" else (_ALWAYS, _NEVER)
        if settled in bounds:
            return settled
        return other if all(b == other for b in bounds) else _EITHER
    (only,) = bounds
    if only is None:
        return _EITHER
    low, high = only
    if kind == "lt0":
        return _ALWAYS if high < 0 else _NEVER if low >= 0 else _EITHER
    if low == high == 0:
        return _ALWAYS
    return _NEVER if low > 0 or high < 0 else _EITHER


def operation_interval(kind: str, bounds: list[Interval | None]) -> Interval | None:
    """Interval arithmetic for the operations that are not polynomial."""
    match kind, bounds:
        case (("lt0" | "eq0" | "not" | "and" | "or"), _):
            return _truth(kind, bounds)
        case "select", [taken, (a, b), (c, d)]:
            if taken is not None and (taken[0] > 0 or taken == (0, 0)):
                return (a, b) if taken[0] > 0 else (c, d)
            return min(a, c), max(b, d)
        case (("mod" | "floormod"), [first, (c, d)]) if c > 0:
            if first is not None and first[0] >= 0 and first[1] < c:
                return first
            # C's remainder has the sign of what is divided.
            below = 0 if kind == "floormod" or (first is not None and first[0] >= 0) else 1 - d
            return below, d - 1
        case "bitand", [first, (c, d)] if c >= 0:
            return 0, d if first is None or first[0] < 0 else min(d, first[1])
        case "bitand", [(c, d), _] if c >= 0:
            return 0, d
        case (("min" | "max"), [(a, b), (c, d)]):
            return (min(a, c), min(b, d)) if kind == "min" else (max(a, c), max(b, d))
        case (("div" | "floordiv" | "ceildiv"), [(a, b), (c, d)]) if c <= 0 <= d:
            return -max(abs(a), abs(b)), max(abs(a), abs(b))  # dividing by 1 or -1 gives the most
        case (("div" | "floordiv" | "ceildiv" | "shl" | "shr" | "sum" | "product"), [(a, b), (c, d)]):
            corners = [EVALUATED[kind](x, y) for x in (a, b) for y in (c, d)]
            known = [x for x in corners if x is not None]
            return (min(known), max(known)) if len(known) == len(corners) else None
        case "abs", [(a, b)]:
            return (0 if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
        case _:
            return None


def interval(
    expression: Expression, known: LaunchBindings, point: Point, ranges: Ranges, memo: tuple[Memo, Bounds] | None = None
) -> Interval | None:
    """Return the least and greatest value while `ranges` (half-open) are run through; None where nobody knows.

    Exact for expressions in which each symbol grows or falls throughout; otherwise it may be too wide. `memo`, if
    given, holds what was worked out for this very point and these ranges before.
    """
    plain = slopes_of(expression, known)
    if plain is not None:
        return plain.bounds(point, ranges)
    if not expression.has("load") and ranges.keys().isdisjoint(expression.leaves):  # all is bound: a number
        value = evaluate(expression, known, point, memo[0] if memo is not None else None)
        return None if value is None else (value, value)
    if memo is None and expression.depth > MAX_UNSHARED:
        memo = ({}, {})
    return _interval(expression, known, point, ranges, memo)


def _interval(
    expression: Expression, known: LaunchBindings, point: Point, ranges: Ranges, memo: tuple[Memo, Bounds] | None
) -> Interval | None:
    if expression.atom is not None:
        bounds = _shared_interval(expression.atom, known, point, ranges, memo)
        if bounds is None:
            return None
        low, high = bounds if bounds[0] <= bounds[1] else (bounds[1], bounds[0])
        return (low, high) if low >= -LARGEST and high <= LARGEST else None
    low = high = 0
    for monomial, coefficient in expression.terms:
        least: Value = coefficient
        most: Value = coefficient
        for atom in monomial:
            bounds = _shared_interval(atom, known, point, ranges, memo)
            if bounds is None:
                return None
            corners = (least * bounds[0], least * bounds[1], most * bounds[0], most * bounds[1])
            least, most = min(corners), max(corners)
        low += least
        high += most
    return (low, high) if low >= -LARGEST and high <= LARGEST else None


def _shared_interval(
    atom: Atom, known: LaunchBindings, point: Point, ranges: Ranges, memo: tuple[Memo, Bounds] | None
) -> Interval | None:
    """Of one atom, which may stand in many places."""
    if memo is None:
        return _atom_interval(atom, known, point, ranges, None)
    if atom in memo[1]:
        return memo[1][atom]
    bounds = memo[1][atom] = _atom_interval(atom, known, point, ranges, memo)
    return bounds


def _atom_interval(
    atom: Atom, known: LaunchBindings, point: Point, ranges: Ranges, memo: tuple[Memo, Bounds] | None
) -> Interval | None:
    if atom in point:
        return point[atom], point[atom]
    if atom in ranges:
        return ranges[atom][0], max(ranges[atom][0], ranges[atom][1] - 1)
    if atom.kind == "load":
        contents = held_at(atom, known.contents)
        return contents.bounds if contents is not None else None
    is_one = atom in known.fixed or ranges.keys().isdisjoint(atom.leaves)
    if is_one and not (atom.varies and any(leaf.kind == "load" for leaf in atom.leaves)):
        value = atom_value(atom, known, point, memo[0] if memo is not None else None)
        return None if value is None else (value, value)
    if atom.kind in _WITHOUT_INTERVAL:
        return None
    if atom.kind == "iterate":
        return _iterated_interval(atom, known, point, ranges)
    bounds = [_interval(a, known, point, ranges, memo) for a in atom.operands]
    return operation_interval(atom.kind, bounds)


def _iterated_interval(atom: Atom, known: LaunchBindings, point: Point, ranges: Ranges) -> Interval | None:
    """Return all that a loop's variable may be in any of its rounds: once for what that rests on."""
    key = (atom, *((leaf, point.get(leaf), ranges.get(leaf)) for leaf in atom.leaves))
    if key not in known.iterated:
        known.iterated[key] = _found_interval(atom, known, point, ranges)
    return known.iterated[key]


def _found_interval(atom: Atom, known: LaunchBindings, point: Point, ranges: Ranges) -> Interval | None:
    """`interval` of the step, round by round."""
    rounds, symbol, start, after = atom.operands
    reach, now = interval(rounds, known, point, ranges), interval(start, known, point, ranges)
    if reach is None or now is None or symbol.atom is None:
        return None
    low, high = now
    for _ in range(min(int(reach[1]), MAX_ROUNDS)):
        known.steps[0] += 1
        if known.steps[0] > MAX_STEPS:  # an editor waits no longer
            return None
        if not all(isinstance(bound, int) and abs(bound) < LARGEST for bound in now):
            return None
        span = (int(now[0]), int(now[1]) + 1)
        following = interval(after, known, point, {**ranges, symbol.atom: span})
        if following is None:
            return None
        if following == now:
            return low, high
        now = following
        low, high = min(low, now[0]), max(high, now[1])
    return (low, high) if reach[1] <= MAX_ROUNDS else None


MAX_BITS = 128  # of numbers in a sum: it then stays far below what `evaluate` takes for a number

_NOT_YET = Slopes(0, (), (), Parts((), None, uses=0))


def slopes_of(expression: Expression, known: LaunchBindings) -> Slopes | None:
    """None for what is no such sum."""
    kept: tuple[Parts | None] | None = expression.parts
    if kept is None:
        kept = expression.parts = (parts_of(expression),)
    parts = kept[0]
    if parts is None:
        return None
    found = known.sums.get(expression, _NOT_YET)
    if found is _NOT_YET:
        found = known.sums[expression] = _under(parts, known)
    return found


def _under(parts: Parts, known: LaunchBindings) -> Slopes | None:
    base = 0
    terms: list[tuple[Atom, int]] = []
    for coefficient, fixed, varying in parts.terms:
        factor = coefficient
        for atom in fixed:
            value = value_of_launch(atom, known)
            if not isinstance(value, int):
                return None
            factor *= value
        if factor.bit_length() > MAX_BITS:
            return None
        if varying is None:
            base += factor
        else:
            terms.append((varying, factor))
    apart = tuple(terms)
    merged = dict(apart)
    if len(merged) == len(apart):
        return Slopes(base, apart, apart, parts)
    for atom in merged:
        merged[atom] = sum(factor for other, factor in apart if other is atom)
    return Slopes(base, tuple(merged.items()), apart, parts)
