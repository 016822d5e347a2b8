"""All rules together: `advise` is what a prediction's advice comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from model.advice.advice import Advice, relevant
from model.advice.coalescing import uncoalesced_access
from model.advice.groups import local_size_multiple, too_few_groups
from model.advice.local_memory import bank_conflicts, divergent_barrier
from model.advice.precision import precise_function
from model.advice.situation import Situation
from model.advice.tiles import local_tile

Rule = Callable[[Situation], Iterator[Advice]]

_GUESSED = " (for the launch that is assumed)"

RULES: tuple[Rule, ...] = (
    too_few_groups,
    local_size_multiple,
    precise_function,
    uncoalesced_access,
    bank_conflicts,
    local_tile,
    divergent_barrier,
)


def advise(situation: Situation) -> tuple[Advice, ...]:
    """Return what would help this launch, in the order of the source; launches as a whole come first.

    Only what is about a good part of the launch's time, and gains a good part of it by prediction: so it never
    contradicts what is said to limit the launch. Faults are always told. Says nothing of a kernel that could only be
    read in part: what is missing may be what matters.
    """
    if situation.work.kernel.has_errors:
        return ()
    every = relevant((advice for rule in RULES for advice in rule(situation)), situation.prediction.account)
    found = tuple(a for a in every if a.is_fault or (a.gain_us is not None and situation.is_worth(a.gain_us)))
    if situation.is_guessed:
        found = tuple(replace(advice, message=advice.message + _GUESSED) for advice in found)
    return tuple(sorted(found, key=lambda advice: (-1 if advice.line is None else advice.line, advice.code)))
