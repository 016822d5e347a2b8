"""Other guesses of scalars, where the first ones make a launch that no program would make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from model.launch.arg_name_hints import Meaning, meaning_of_float
from model.launch.launch import Launch
from model.launch.plausible import Implausible, implausible
from model.launch.scalars import GuessedScalar, Strength
from model.work.expressions.symbolic import Atom
from model.work.work import Work

LaunchWith = Callable[[Sequence[GuessedScalar]], Launch]
_LARGER = (2, 4, 16, 256, 4096, 65536)
_RANGE = 256  # of values between two limits
_MOST_HALVINGS = 31


def plausible_scalars(work: Work, guesses: list[GuessedScalar], launch_with: LaunchWith) -> list[GuessedScalar]:
    """Return `guesses`, with others in place of those that make the launch implausible, as far as others do better.

    A divisor that is 0 gets a larger scalar, first one that is a limit by its name (`sup` of `sup - inf`); of a product
    that exceeds 32 bits, factors are made smaller, first those that no id is compared with.
    """
    reasons = implausible(work, launch_with(guesses)) if guesses else ()
    while reasons:
        tried = _first_better(work, guesses, reasons, launch_with)
        if tried is None:
            break
        guesses, reasons = tried
    return guesses


def _first_better(
    work: Work, guesses: list[GuessedScalar], reasons: tuple[Implausible, ...], launch_with: LaunchWith
) -> tuple[list[GuessedScalar], tuple[Implausible, ...]] | None:
    """Return the first other guesses that leave fewer reasons, and those."""
    for reason in reasons:
        for changed in _not_zero(reason, guesses) if reason.divides_by_zero else _smaller(reason, guesses):
            others = [changed.get(guess.name, guess) for guess in guesses]
            left = implausible(work, launch_with(others))
            if len(left) < len(reasons):
                return others, left
    return None


def _not_zero(reason: Implausible, guesses: list[GuessedScalar]) -> Iterator[dict[str, GuessedScalar]]:
    """Yield guesses with one scalar larger, or else smaller, for `reason.written` not to be 0."""
    why = f": so that `{reason.written}`, which something is divided by, is not 0"
    if reason.value:  # a product that wraps around to 0
        yield from _smaller(reason, guesses)
    order = sorted(_deciding(reason, guesses), key=lambda g: (not _is_limit(g.name), g.strength))
    for guess in order:
        if _sinks_with(reason, guess.name):
            continue
        first = (int(guess.value) + _RANGE,) if _is_limit(guess.name) else ()
        for value in (*first, *(v for v in _LARGER if v > guess.value), 2 * int(guess.value)):
            yield {guess.name: _with_value(guess, value, why)}
    for guess in order:
        for halvings in range(1, int(guess.value).bit_length()):  # of what a divisor is itself divided by
            yield {guess.name: _with_value(guess, int(guess.value) >> halvings, why)}


def _smaller(reason: Implausible, guesses: list[GuessedScalar]) -> Iterator[dict[str, GuessedScalar]]:
    """Yield guesses with smaller scalars, for `reason.written` to stay within 32 bits."""
    why = f": so that 32 bits hold `{reason.written}`"
    found = [guess for guess in _deciding(reason, guesses) if guess.value > 1]
    weak = [guess for guess in found if guess.strength < Strength.IDS]
    for chosen in (weak, found) if weak else (found,):
        for halvings in range(1, _MOST_HALVINGS):
            yield {guess.name: _with_value(guess, max(1, int(guess.value) >> halvings), why) for guess in chosen}


def _deciding(reason: Implausible, guesses: list[GuessedScalar]) -> list[GuessedScalar]:
    """Return those of `guesses` that decide what is wrong: whole numbers, given once for all components of a vector."""
    return [
        guess
        for guess in guesses
        if isinstance(guess.value, int)
        and any(name == guess.name or name.startswith(f"{guess.name}.") for name in reason.scalars)
    ]


def _is_limit(name: str) -> bool:
    return meaning_of_float(name) is Meaning.MOST


def _sinks_with(reason: Implausible, name: str) -> bool:
    """Return whether what is divided by gets smaller as a scalar gets larger."""
    atoms = (Atom.of("symbol", f"{kind}.{name}") for kind in ("arg", "name"))
    slopes = (reason.arithmetic.value.coefficient(atom) for atom in atoms)
    return any(slope is not None and (slope.constant or 0) < 0 for slope in slopes)


def _with_value(guess: GuessedScalar, value: int, why: str) -> GuessedScalar:
    declared = " (not declared: give it with -D)" if "(not declared" in guess.text else ""
    return guess._replace(value=value, text=f"`{guess.name}`={value}{declared}{why}")
