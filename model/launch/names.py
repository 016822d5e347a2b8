"""Names that are given in terms of each other: `A=N*N N=1024`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from model.launch.arithmetic import Number
from model.launch.expression import Expression, ExpressionError, parse_expression
from model.opencl.options import BuildOptions


@dataclass(frozen=True, slots=True)
class Resolution:
    """`numbers` for what could be worked out; `errors` for what never can; the rest waits for `missing` names."""

    numbers: dict[str, tuple[Number, ...]]
    errors: dict[str, ExpressionError]
    missing: frozenset[str]

    @property
    def scalars(self) -> dict[str, Number]:
        """The names that stand for one number each, so that expressions may use them."""
        return {name: values[0] for name, values in self.numbers.items() if len(values) == 1}


def resolve(values: Iterable[tuple[str, tuple[Expression, ...]]], known: Mapping[str, Number]) -> Resolution:
    """Work out `values` in whatever order they depend on each other; `known` names may be used by all of them.

    A name that is given in `values` hides one of `known`.
    """
    waiting = dict(values)
    numbers: dict[str, tuple[Number, ...]] = {}
    errors: dict[str, ExpressionError] = {}
    names = {name: number for name, number in known.items() if name not in waiting}
    while True:
        ready = [name for name, parts in waiting.items() if all(part.names <= names.keys() for part in parts)]
        for name in ready:
            parts = waiting.pop(name)
            try:
                numbers[name] = tuple(part.evaluate(names) for part in parts)
            except ExpressionError as error:
                errors[name] = error
                continue
            if len(parts) == 1:
                names[name] = numbers[name][0]
        if not ready:
            break
    used = frozenset(name for parts in waiting.values() for part in parts for name in part.names)
    missing = used - names.keys() - waiting.keys() - errors.keys()
    errors.update(_circles(waiting, missing | errors.keys() | numbers.keys()))
    return Resolution(numbers, errors, missing)


def defined_numbers(options: BuildOptions) -> dict[str, Number]:
    """Return the `-D` names whose values are plain numbers, so that sizes can speak of them: `-DTILE=16 local=TILE`."""
    numbers: dict[str, Number] = {}
    for name, value in options.defines:
        try:
            numbers[name] = parse_expression(value).evaluate({})
        except ExpressionError:  # a type, a function-like macro, anything else C allows: no number
            continue
    return numbers


def _circles(waiting: Mapping[str, tuple[Expression, ...]], elsewhere: Iterable[str]) -> dict[str, ExpressionError]:
    """Return what waits for itself: that which waits for nothing outside the circle."""
    stuck = {name: frozenset[str]().union(*(p.names for p in parts)) for name, parts in waiting.items()}
    outside = set(elsewhere)
    while freed := {name for name, uses in stuck.items() if uses & outside}:
        outside |= freed
        for name in freed:
            del stuck[name]
    return {
        name: ExpressionError(f"`{name}` depends on itself", waiting[name][0].start, waiting[name][-1].end)
        for name in stuck
    }
