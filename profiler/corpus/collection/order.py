"""In which order kernels are collected: balanced, wherever it stops."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from profiler.corpus.kernel import GENERATOR

OWN_PER_REAL = 2  # kernels of the generator for each of other people's, of which there are fewer and which tell more


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """What the order needs to know of a kernel."""

    id: str
    origin: str
    family: str


def balanced(kernels: Iterable[KernelEntry]) -> list[str]:
    """Return the ids, one of each family or origin in turn, and other people's kernels among the generator's.

    What comes first does not change when more kernels are added behind: each family keeps the order it was given in.
    """
    own: dict[str, list[str]] = defaultdict(list)
    real: dict[str, list[str]] = defaultdict(list)
    for kernel in kernels:
        if kernel.origin == GENERATOR:
            own[kernel.family].append(kernel.id)
        else:
            real[kernel.origin].append(kernel.id)
    return list(_merged(list(_in_turn(own)), list(_in_turn(real))))


def _in_turn(groups: dict[str, list[str]]) -> Iterator[str]:
    names = sorted(groups, key=lambda name: zlib.crc32(name.encode()))  # else all reductions come in a row
    longest = max(map(len, groups.values()), default=0)
    for at in range(longest):
        for name in names:
            if at < len(groups[name]):
                yield groups[name][at]


def _merged(own: Sequence[str], real: Sequence[str]) -> Iterator[str]:
    taken = 0
    for at, each in enumerate(own):
        yield each
        if at % OWN_PER_REAL == OWN_PER_REAL - 1 and taken < len(real):
            yield real[taken]
            taken += 1
    yield from real[taken:]
