"""The working sets of a sequence of accesses, estimated from a sample of it (`model.sampling.totals` counts it).

Longer windows of the sequence touch more different places. How fast that number grows gives the share of the accesses
that miss a cache of a given size. Source: Denning, "The working set model for program behavior", CACM 11(5), 1968.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

WINDOWS = 5  # each twice as long as the one before; the last is the whole sample
_MOST_DOUBLINGS = 40


@dataclass(frozen=True)
class Growth:
    """`places[k]` different places in a window of `draws / 2**(WINDOWS - 1 - k)` accesses, on average."""

    draws: float
    places: tuple[float, ...]

    @cached_property
    def _new_shares(self) -> tuple[float, ...]:
        """Return which share of the accesses in each doubling goes where none of the window had been."""
        sizes = [self.draws / 2**k for k in reversed(range(WINDOWS))]
        shares = [self.places[0] / sizes[0]]
        for (size, places), (next_size, next_places) in pairwise(zip(sizes, self.places, strict=True)):
            shares.append(min(shares[-1], max(0.0, (next_places - places) / (next_size - size))))
        return tuple(shares)

    def at(self, draws: float, most: float = math.inf) -> float:
        """Return how many different places `draws` accesses touch; there are `most` of them."""
        if draws <= 0 or not self.places:
            return 0.0
        if draws <= self.draws:
            return min(most, draws, self._within(draws))
        return min(most, draws, sum(new for _, new in self._doublings(draws, most)) + self.places[-1])

    def working_sets(self, draws: float, most: float = math.inf) -> tuple[tuple[float, float], ...]:
        """Split `draws` accesses into shares; give for each how many places a cache must hold for it to hit.

        The last ones come back after the whole launch, or never.
        """
        if not self.places:
            return ()
        shares, places = list(self._new_shares), list(self.places)
        for share, new in self._doublings(draws, most):
            shares.append(share)
            places.append(min(most, places[-1] + new))
        sets = [(1 - shares[0], places[0])]
        sets += [(before - after, at) for (before, after), at in zip(pairwise(shares), places[1:], strict=True)]
        sets.append((shares[-1], places[-1]))
        return tuple((share, at) for share, at in sets if share > 0)

    def _within(self, draws: float) -> float:
        """Interpolate between windows; a single access touches one place."""
        points = [(1.0, 1.0), *((self.draws / 2 ** (WINDOWS - 1 - k), p) for k, p in enumerate(self.places))]
        for (size, places), (next_size, next_places) in pairwise(points):
            if draws <= next_size and next_size > size:
                share = math.log(max(draws, size) / size) / math.log(next_size / size)
                return float(places * (max(next_places, 1e-9) / places) ** share)
        return self.places[-1]

    def _doublings(self, draws: float, most: float) -> list[tuple[float, float]]:
        """Return, for each doubling beyond the sample, the share of new places, and how many these are.

        The share falls by as much each time where places are visited at all scales alike (a search tree), and by ever
        more where they are drawn from one pool; the last steps of the sample tell between the two.
        """
        shares = self._new_shares
        step, before = shares[-2] - shares[-1], shares[-3] - shares[-2]
        grows = math.sqrt(min(2.0, max(1.0, step / before))) if before > 0 else 1.0
        found, share, size, places = [], shares[-1], self.draws, self.places[-1]
        for _ in range(_MOST_DOUBLINGS):
            if size >= draws or share <= 0 or places >= most:
                break
            step *= grows
            share = max(0.0, share - step)
            new = share * (min(draws, 2 * size) - size)
            found.append((share, new))
            size, places = 2 * size, places + new
        return found
