"""Expressions -> numbers, under a launch."""

from __future__ import annotations

from collections.abc import Sequence

from model.work.expressions.floats import known_value
from model.work.expressions.functions import LARGEST, MAX_DEPTH_OF_TEXT, function_for
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.loop_simulation import Running, running_of
from model.work.expressions.numbers import Value, function_of, word_of
from model.work.expressions.symbolic import Atom, Expression, Point
from model.work.expressions.trips import ENDLESS, MAX_SIMULATED_TRIPS

MAX_STEPS = 20_000  # of loops run for their trip counts, under one launch

_LARGEST = float(LARGEST)  # the same number: comparing floats with whole ones of so many digits takes long


Memo = dict[Atom, Value | None]
MAX_UNSHARED = 6  # deeper expressions may hold the same part many times over
USES_OF_TEXT = 32  # after which reading an expression anew takes longer than making a function of it


def evaluate(expression: Expression, known: LaunchBindings, point: Point, memo: Memo | None = None) -> Value | None:
    """Return the value at `point` (ids and loop counters); None where the launch does not decide it.

    `memo`, if given, holds what was worked out at this very point before.
    """
    function = expression.function
    if function is not None:
        return function(point, known)
    if expression.constant is not None:
        return expression.constant
    expression.uses += 1
    if expression.uses == USES_OF_TEXT and expression.depth <= MAX_DEPTH_OF_TEXT:
        function = expression.function = function_for(expression, alone)
        return function(point, known)
    if expression.depth <= MAX_UNSHARED:
        return _evaluate(expression, known, point, None)
    return _evaluate(expression, known, point, memo if memo is not None else {})


def value_at(atom: Atom, known: LaunchBindings, point: Point) -> Value | None:
    """As `evaluate`, of one atom."""
    if atom.kind == "symbol":
        value = point.get(atom)
        return value if value is not None else known.symbols.get(atom)
    if atom.function is not None:
        return atom.function(point, known)
    if atom in known.fixed:
        value = known.fixed[atom]
    else:
        atom.uses += 1
        if atom.uses == USES_OF_TEXT and atom.depth <= MAX_DEPTH_OF_TEXT:
            atom.function = function_for(Expression({(atom,): 1}), alone)
            return atom.function(point, known)
        value = atom_value(atom, known, point, {})
    return None if isinstance(value, int) and abs(value) > LARGEST else value


def _evaluate(expression: Expression, known: LaunchBindings, point: Point, memo: Memo | None) -> Value | None:
    total: Value = 0
    for monomial, coefficient in expression.terms:
        product: Value = coefficient
        for atom in monomial:
            value = atom_value(atom, known, point, memo)
            if value is None:
                return None
            product *= value
        total += product
        if isinstance(total, int) and abs(total) > LARGEST:
            return None
    return total


def atom_value(atom: Atom, known: LaunchBindings, point: Point, memo: Memo | None = None) -> Value | None:
    value = point.get(atom)
    if value is not None:
        return value
    if atom.kind == "symbol":
        return known.symbols.get(atom)
    if atom in known.fixed:
        return known.fixed[atom]
    if memo is not None and atom in memo:
        return memo[atom]
    value = _worked_out(atom, known, point, memo)
    if atom.leaf_kinds <= 1 and known.is_fixed(atom):
        known.fixed[atom] = value
    elif memo is not None:
        memo[atom] = value
    return value


def alone(atom: Atom, known: LaunchBindings, point: Point) -> Value | None:
    """Return an atom that a function leaves to others."""
    if atom.kind == "load" and isinstance(atom.arguments[1], Expression):
        contents, at = known.contents.get(str(atom.arguments[0])), evaluate(atom.arguments[1], known, point)
        return contents.at_byte(at) if contents is not None and at is not None else None
    if atom.kind in _RUN and atom not in point and running_of(atom).leaves:
        return _run(atom, known, point)  # asked for lane by lane, and never to be had otherwise
    return atom_value(atom, known, point, {})


def _worked_out(atom: Atom, known: LaunchBindings, point: Point, memo: Memo | None) -> Value | None:
    kind = atom.kind
    if kind in _APART:
        return _apart(atom, known, point, memo)
    function = function_of(kind, word_of(atom.arguments))
    if function is None:
        return None
    arguments = []
    for operand in atom.operands:
        number = _evaluate(operand, known, point, memo)
        if number is None:
            return None
        arguments.append(number)
    try:
        return function(*arguments)
    except (ArithmeticError, ValueError, TypeError):
        return None


_RUN = frozenset({"trips", "iterate"})
_APART = frozenset({"unknown", "load", "literal", *_RUN})


def _apart(atom: Atom, known: LaunchBindings, point: Point, memo: Memo | None) -> Value | None:
    """Return what takes more than its operands."""
    match atom.kind:
        case "unknown":
            parameter = known.parameters.get(atom)
            return parameter.default if parameter is not None else None
        case "load":
            contents, offset = known.contents.get(str(atom.arguments[0])), atom.arguments[1]
            if contents is None or not isinstance(offset, Expression):
                return None
            at = _evaluate(offset, known, point, memo)
            return contents.at_byte(at) if at is not None else None
        case "literal":
            return known_value(Expression({(atom,): 1}))
    return _run(atom, known, point)


def _run(atom: Atom, known: LaunchBindings, point: Point) -> Value | None:
    """Run a loop's own variables: until its condition fails ("trips") or for so many rounds ("iterate").

    Equal starts are run once. A loop that thousands of work-items run differently is run for so many of them as
    an editor can wait for; the last one stands for the others.
    """
    running = running_of(atom)
    key = (atom, *map(point.get, running.leaves))
    found = known.simulated.get(key, atom)  # which is no value
    if found is not atom:
        return found  # type: ignore[return-value]
    if known.steps[0] > MAX_STEPS and atom in known.last:
        known.estimated.add(atom)
        return known.last[atom]
    value = known.simulated[key] = known.last[atom] = _simulated(running, known, point)
    if value == MAX_SIMULATED_TRIPS and running.limit is None:
        known.estimated.add(atom)
    return value


def _simulated(running: Running, known: LaunchBindings, point: Point) -> Value | None:
    values: list[Value] = []
    for symbol, start in zip(running.symbols, running.starts, strict=True):
        value = evaluate(start, known, point)
        if value is None or symbol is None:
            return None
        values.append(value)
    limit = MAX_SIMULATED_TRIPS if running.limit is None else evaluate(running.limit, known, point)
    if limit is None:
        return None
    most = min(limit, MAX_SIMULATED_TRIPS)
    if most <= 0:
        return 0 if running.limit is None else values[0]
    function = running.function_if_often(alone, point)
    if function is not None:
        return function(point, known, 0, most, *values)
    return _round_by_round(running, known, point, values, most)


def _round_by_round(
    running: Running, known: LaunchBindings, point: Point, values: Sequence[Value], most: Value
) -> Value | None:
    symbols = [symbol for symbol in running.symbols if symbol is not None]
    state = {**point, **dict(zip(symbols, values, strict=True))}
    done = 0
    while done < most:
        running.note_round()
        function = running.function_if_often(alone, point)
        if function is not None:
            return function(point, known, done, most, *(state[symbol] for symbol in symbols))
        step = running.step_if_often(alone)
        afters = step(state, known) if step is not None else _one_round(running, known, state)
        if afters is None:
            return None
        if not afters:
            break
        known.steps[0] += len(afters)
        changed = False
        for symbol, after in zip(symbols, afters, strict=True):
            if after > _LARGEST or after < -_LARGEST:
                return None
            changed = changed or state[symbol] != after
            state[symbol] = after
        if not changed:  # nor will it ever
            return ENDLESS if running.limit is None else state[symbols[0]]
        done += 1
    return done if running.limit is None else state[symbols[0]]


def _one_round(running: Running, known: LaunchBindings, state: Point) -> Sequence[Value] | None:
    """Return the variables after one iteration; nothing where the loop ends, None where that is not decided."""
    holds = evaluate(running.condition, known, state) if running.condition is not None else 1
    if not holds:
        return None if holds is None else ()
    afters = [evaluate(after, known, state) for after in running.afters]
    decided = [after for after in afters if after is not None]
    return decided if len(decided) == len(afters) else None


def value_of_launch(atom: Atom, known: LaunchBindings) -> Value | None:
    """Return the value of what rests on the launch alone."""
    return known.symbols.get(atom) if atom.kind == "symbol" else atom_value(atom, known, {}, {})
