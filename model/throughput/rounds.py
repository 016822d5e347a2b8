"""How often each loop and region of a kernel's machine code runs in a launch. Nothing is run.

PoCL's loops over the work-items of a group go round as often as the group is large; they are those that end at no
loop of the source. The others are scaled until their lines do what the source was counted to do there, so many
operations, loads and stores. Where a compiler keeps several versions of a loop, the one that does most a round comes
first, and what is left goes to the next; where it wrote a loop once for each of several work-items, all do alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model.compiled import CompiledFacts
from model.throughput.amounts import SURENESS, Amounts, amounts_of, wanted_by_line
from model.work.work_counts import WorkCounts

Doubles = npt.NDArray[np.float64]
_SURE = 0.5  # at least, to tell which share of a loop's rounds executes a line
_QUANTILE = 0.75  # of what a loop's lines suggest: those under conditions run less often than the loop
_OPEN_TRIPS = 1.0  # of a loop of which nothing tells
_ALIKE = 0.75  # of a loop's lines that another version of it has, too
_SAME = 0.2  # relative: versions that do so nearly the same a round are copies
_LEAST_WANTED = 0.05  # of the source's work, where other loops seem to do all of it
_ROUNDING = 0.02  # of a round
LEAST_FOUND = 0.5  # of the lines that do something, those that the code has, too


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """How often a launch executes the loops and regions of its code.

    `often`: rounds of each loop of `CompiledFacts.profile` in the launch; `active`: in which share of its loop's rounds
    each of `CompiledFacts.regions` is executed.
    """

    often: Doubles
    active: Doubles


def rounds_of(facts: CompiledFacts, work: WorkCounts) -> Rounds | None:
    """Return None where fewer than half of the work's lines stand in the code."""
    wanted = wanted_by_line(work)
    sure = {line for line, own in wanted.items() if any(SURENESS[kind] >= _SURE for kind in own)} or wanted.keys()
    found = sure & {region.line for region in facts.regions}
    if not facts.profile or len(found) < LEAST_FOUND * len(sure):
        return None
    return _Counting(facts, work, wanted).rounds()


class _Counting:
    """Outer loops come before those in them, so that one pass in order knows how often each is entered."""

    def __init__(self, facts: CompiledFacts, work: WorkCounts, wanted: Mapping[int, Amounts]) -> None:
        self.facts, self.work, self.wanted = facts, work, wanted
        self.profile = facts.profile
        self.inside: list[list[int]] = [[] for _ in self.profile]
        for number, loop in enumerate(self.profile):
            if loop.parent is not None:
                self.inside[loop.parent].append(number)
        self.code = amounts_of(facts.regions, len(self.profile), work)
        self.lines = [{line for each in self._within([n]) for line in self.code[each]} for n in range(len(self.code))]
        self.often = np.zeros(len(self.profile))
        self.part = [1.0] * len(self.profile)  # of the source's work that falls to a loop, where it has copies
        self.apart: list[frozenset[int]] = [frozenset()] * len(self.profile)  # loops that do the other parts
        self.is_explicit = any(op.width > 1 for op in work.ops)
        self.sizes = [float(size) for size in work.local_size if size > 1][::-1]  # the last dimension is outermost

    def rounds(self) -> Rounds:
        self.often[0] = float(max(1, self.work.work_groups))
        self._enter(0, 0)
        return Rounds(self.often, self._active())

    def _enter(self, outer: int, dimension: int) -> None:
        """Set the rounds of the loops in `outer`; `dimension` counts the loops over work-items that stand around."""
        for versions in self._versions(outer):
            for number in versions:
                self.part[number], self.apart[number] = self.part[outer], self.apart[outer]
            classes = self._classes(versions)
            trips = self._known_trips(versions[0], dimension)
            if trips is None:
                self._share_out(classes, self._suggested(versions[0], versions), self.often[outer])
            else:
                rounds = self.often[outer] * trips
                for number in classes[0][1]:  # other versions stand by for what hardly happens
                    self.often[number] = rounds * self._share_entered(versions, len(classes[0][1]), rounds)
            for _, copies in classes:
                for number in copies:
                    self.part[number] /= len(copies)
                    self.apart[number] |= frozenset(self._within([other for other in copies if other != number]))
            for number in versions:
                self._enter(number, dimension + self._is_over_items(number))

    def _is_over_items(self, number: int) -> bool:
        """Whether this is a loop of the compiler's over work-items: none of the source ends there."""
        loops = self.facts.loops
        return number - 1 < len(loops) and loops[number - 1].line is None

    def _known_trips(self, number: int, dimension: int) -> float | None:
        loop = self.profile[number]
        if loop.trips is not None:
            return float(loop.trips)
        if not self._is_over_items(number) or dimension >= len(self.sizes):
            return None
        is_wide = loop.lanes > 1 and not self.inside[number] and dimension == len(self.sizes) - 1
        return max(1.0, self.sizes[dimension] / loop.lanes) if is_wide else self.sizes[dimension]

    def _share_entered(self, versions: Sequence[int], copies: int, rounds: float) -> float:
        """Return the share of `rounds` that is left where the source enters its loop under a condition."""
        if self._is_over_items(versions[0]):
            return float(not self._is_unwanted(versions[0]))
        suggested = self._suggested(versions[0], versions)
        return 1.0 if suggested is None else min(1.0, suggested / copies / max(rounds, 1e-9))

    def _is_unwanted(self, number: int) -> bool:
        """Whether the source never does what stands in it: the side of a condition that no work-item takes."""
        sure = {
            line
            for each in self._within([number])
            for line, own in self.code[each].items()
            if any(SURENESS[kind] >= _SURE for kind in own)
        }
        return bool(sure) and sure.isdisjoint(self.wanted)

    def _share_out(
        self, classes: Sequence[tuple[float, Sequence[int]]], suggested: float | None, entered: float
    ) -> None:
        """Give each version of a loop as many whole rounds as what is left to do allows, the largest first."""
        left = _OPEN_TRIPS if suggested is None else suggested / max(entered, 1e-9)  # in rounds of the first
        for at, (size, copies) in enumerate(classes):
            fits = left / max(size * len(copies), 1e-9)
            done = fits if at == len(classes) - 1 and suggested is not None else math.floor(fits + _ROUNDING)
            for number in copies:
                self.often[number] = entered * done
            left = max(0.0, left - done * size * len(copies))

    def _suggested(self, number: int, versions: Sequence[int]) -> float | None:
        """Return the rounds in the launch at which a loop's lines do what the source does; None if they say nothing.

        The lines of loops in it with known rounds count, too.
        """
        tied = self._tied(number)
        passed_over = {*self._within(versions), *self.apart[number], *self._around(number)}
        others = [each for each in range(len(self.profile)) if self.often[each] and each not in passed_over]
        values: list[float] = []
        weights: list[float] = []
        for inner, factor in tied:
            for line, own in self.code[inner].items():
                for kind, amount in own.items():
                    wants = self.wanted.get(line, {}).get(kind, 0.0) * self.part[number]
                    if wants <= 0:
                        continue
                    elsewhere = sum(self.often[each] * self._does(each, line, kind) for each in others)
                    beside = sum(times * self._does(each, line, kind) for each, times in tied)
                    values.append(max(wants - elsewhere, _LEAST_WANTED * wants) / beside)
                    weights.append(SURENESS[kind] * math.sqrt(amount * factor))
        return _quantile(values, weights) if values else None

    def _does(self, number: int, line: int, kind: str) -> float:
        return self.code[number].get(line, {}).get(kind, 0.0)

    def _tied(self, number: int) -> list[tuple[int, float]]:
        """Return the loop and those in it whose rounds are known, with their rounds for one of its own."""
        found = [(number, 1.0)]
        for inner in self.inside[number]:
            trips = self.profile[inner].trips
            if trips is not None and not self.profile[inner].leftover:
                found += [(each, trips * factor) for each, factor in self._tied(inner)]
        return found

    def _within(self, numbers: Sequence[int]) -> list[int]:
        return [each for number in numbers for each in (number, *self._within(self.inside[number]))]

    def _around(self, number: int) -> list[int]:
        parent = self.profile[number].parent
        return [] if parent is None else [parent, *self._around(parent)]

    def _versions(self, outer: int) -> list[list[int]]:
        """Return the loops in `outer`, those that do the same together, the one that does most a round first."""
        groups: list[list[int]] = []
        for number in self.inside[outer]:
            own = self.lines[number]
            same = next((g for g in groups if own and _are_alike(own, self.lines[g[0]])), None)
            if same is None:
                groups.append([number])
            else:
                same.append(number)
        return [sorted(group, key=self._weight, reverse=True) for group in groups]

    def _weight(self, number: int) -> tuple[bool, float]:
        done = sum(
            amount * factor * SURENESS[kind]
            for inner, factor in self._tied(number)
            for own in self.code[inner].values()
            for kind, amount in own.items()
        )
        return not self.profile[number].leftover, done

    def _classes(self, versions: Sequence[int]) -> list[tuple[float, list[int]]]:
        """Put versions that do equally much a round together, with what that is of the first one's."""
        found: list[tuple[float, list[int]]] = []
        for number in versions:
            size = 1.0 if number == versions[0] else self._size(number, versions[0])
            same = next((of for of in found if self._is_copy(number, size, of)), None)
            if same is None:
                found.append((size, [number]))
            else:
                same[1].append(number)
        return sorted(found, key=lambda each: -each[0])

    def _is_copy(self, number: int, size: float, of: tuple[float, list[int]]) -> bool:
        own, other = self.profile[number], self.profile[of[1][0]]
        return abs(of[0] - size) < _SAME * of[0] and (own.lanes, own.leftover) == (other.lanes, other.leftover)

    def _size(self, number: int, most: int) -> float:
        """Return what a round of a version does of a round of the largest."""
        ratios = [
            self._does(number, line, kind) / amount
            for line, own in self.code[most].items()
            for kind, amount in own.items()
            if SURENESS[kind] >= _SURE and self._does(number, line, kind)
        ]
        if ratios:
            return min(1.0, float(np.median(ratios)))
        return self.profile[number].lanes / max(1, self.profile[most].lanes)

    def _active(self) -> Doubles:
        """Vectors are executed whatever their lanes' conditions say; scalar code, as often as the source does it."""
        shares: dict[int, float] = {}
        for line, wants in self.wanted.items():
            done = {k: sum(self.often[n] * self._does(n, line, k) for n in range(len(self.code))) for k in wants}
            told = [wants[kind] / does for kind, does in done.items() if does and SURENESS[kind] >= _SURE]
            if told:
                shares[line] = min(1.0, max(told))
        known = [
            1.0 if self._is_masked(each.loop) else None if each.line is None else shares.get(each.line)
            for each in self.facts.regions
        ]
        return np.array([own if own is not None else self._beside(at, known) for at, own in enumerate(known)])

    def _is_masked(self, number: int) -> bool:
        """Return whether work-items go side by side in vectors, in which a condition stops none.

        Not where the source itself works on vectors.
        """
        return self.profile[number].lanes > 1 and not self.inside[number] and not self.is_explicit

    def _beside(self, at: int, known: Sequence[float | None]) -> float:
        """Return the share of lines that give none: as those around them in the same loop.

        All of the loop's rounds before the first line that does; what is of no line, as the loop on average.
        """
        regions = self.facts.regions
        own = [(i, share) for i, share in enumerate(known) if share is not None and regions[i].loop == regions[at].loop]
        if regions[at].line is None:
            instructions = sum(regions[i].instructions for i, _ in own)
            return sum(share * regions[i].instructions for i, share in own) / instructions if own else 1.0
        before = [share for i, share in own if i < at]
        after = [share for i, share in own if i > at]
        return max(before[-1], after[0] if after else 0.0) if before else 1.0


def _are_alike(own: set[int], other: set[int]) -> bool:
    return len(own & other) >= _ALIKE * max(len(own), len(other))


def _quantile(values: Sequence[float], weights: Sequence[float]) -> float:
    order = np.argsort(values)
    reached = np.cumsum(np.array(weights)[order])
    return float(np.array(values)[order][np.searchsorted(reached, _QUANTILE * reached[-1])])
