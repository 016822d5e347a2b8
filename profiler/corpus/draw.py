"""Seeded choices, the same on every machine and for every version of Python.

Of Python's own generator only `random()` is promised never to change, so all else is made of it here.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from profiler.corpus.logarithm import exp2, log2

T = TypeVar("T")


class Draw:
    """A stream of choices; those that are given a name are kept in `choices`."""

    def __init__(self, *seed: str | int) -> None:
        self._seed = "/".join(map(str, seed))
        digest = hashlib.sha256(self._seed.encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))
        self.choices: dict[str, str] = {}

    def child(self, label: str | int) -> Draw:
        """Return a stream of its own, whatever is drawn from this one before or after."""
        return Draw(self._seed, label)

    def real(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * self._random.random()

    def log_real(self, low: float, high: float) -> float:
        """Evenly spread in the logarithm."""
        return min(high, max(low, exp2(self.real(log2(low), log2(high)))))

    def integer(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + int((high - low + 1) * self._random.random())

    def log_integer(self, low: int, high: int) -> int:
        """Both ends included, evenly spread in the logarithm; `low` is at least 1."""
        return min(high, int(self.log_real(low, high + 1)))

    def chance(self, probability: float, name: str = "") -> bool:
        return self._kept(name, self._random.random() < probability)

    def choose(self, options: Sequence[T], name: str = "") -> T:
        return self._kept(name, options[int(len(options) * self._random.random())])

    def weighted(self, options: Mapping[T, float], name: str = "") -> T:
        """Return each with a chance in proportion to its weight."""
        left = self._random.random() * sum(options.values())
        for option, weight in options.items():
            left -= weight
            if left < 0:
                return self._kept(name, option)
        return self._kept(name, next(reversed(list(options))))

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """So many different ones, in a random order."""
        left = list(options)
        return [left.pop(int(len(left) * self._random.random())) for _ in range(min(count, len(left)))]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self.sample(options, len(options))

    def _kept(self, name: str, chosen: T) -> T:
        if name:
            self.choices[name] = str(chosen)
        return chosen
