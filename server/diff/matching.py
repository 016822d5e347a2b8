"""Which kernel of the old version a kernel of the new one was: by name and file, by name elsewhere, or by its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from model.forecast import Forecast
from server.cli.forecasts import Found

_TOKEN = re.compile(r"\w+|[^\w\s]")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ALIKE = 0.6  # of two kernels' pairs of tokens, so that one is taken for the other under another name
_MOST_PAIRS = 1_000_000


@dataclass(frozen=True, slots=True)
class KernelVersion:
    """A kernel of one version with the forecasts of its launches; `line` counts from 1."""

    name: str
    file: str
    line: int
    part: str
    found: Found = field(compare=False)
    forecasts: tuple[Forecast, ...] = field(compare=False)
    pairs: Counter[tuple[str, str]] = field(compare=False, repr=False)

    @property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(each.kernel.fingerprint for each in self.forecasts)


@dataclass(frozen=True, slots=True)
class Match:
    """A kernel of both versions, or of one."""

    old: KernelVersion | None
    new: KernelVersion | None


def kernel_versions(file: str, found: Found) -> list[KernelVersion]:
    """Return the kernels of a file in its order."""
    own: dict[tuple[str, str], list[Forecast]] = {}
    for forecast in found.forecasts:
        own.setdefault((forecast.part, forecast.kernel.name), []).append(forecast)
    lines = found.text.split("\n")
    return [
        KernelVersion(
            name, file, forecasts[0].kernel.name_range.start_line + 1, part.rpartition("#")[2], found, tuple(forecasts),
            _pairs(lines, forecasts[0]),
        )
        for (part, name), forecasts in own.items()
    ]  # fmt: skip


def matched(old: Sequence[KernelVersion], new: Sequence[KernelVersion]) -> list[Match]:
    """Return each kernel once, with the other version of it if there is one; new ones in their order, then the gone."""
    left, of_new = _Left(old), dict[int, KernelVersion]()
    rules: list[Callable[[KernelVersion, KernelVersion], bool]] = [
        lambda one, other: (one.file, one.name) == (other.file, other.name) and _means_the_same(one, other),
        lambda one, other: (one.file, one.name) == (other.file, other.name),
        _means_the_same,
        lambda one, other: one.name == other.name,
        lambda one, other: one.file == other.file and _similarity(one, other) >= _ALIKE,
        lambda one, other: _similarity(one, other) >= _ALIKE,
    ]
    for rule in rules:
        for _, at, one in _ranked(left.kernels, new, of_new, rule):
            if at not in of_new and (was := left.take(one)) is not None:
                of_new[at] = was
    found = [Match(of_new.get(at), each) for at, each in enumerate(new)]
    return found + [Match(each, None) for each in left.kernels.values()]


class _Left:
    """The old kernels that no new one was matched with so far."""

    def __init__(self, old: Sequence[KernelVersion]) -> None:
        self.kernels = dict(enumerate(old))

    def take(self, number: int) -> KernelVersion | None:
        return self.kernels.pop(number, None)


def _means_the_same(one: KernelVersion, other: KernelVersion) -> bool:
    return bool(one.fingerprints & other.fingerprints)


def _ranked(
    old: dict[int, KernelVersion],
    new: Sequence[KernelVersion],
    done: Iterable[int],
    rule: Callable[[KernelVersion, KernelVersion], bool],
) -> Iterator[tuple[float, int, int]]:
    """Return similarity and numbers of all pairs for which a rule holds, the most similar first."""
    open_ones = [(at, other) for at, other in enumerate(new) if at not in done]
    if len(open_ones) * len(old) > _MOST_PAIRS:  # nothing that anyone would follow by eye
        return iter(())
    pairs = [
        (_similarity(one, other), at, number)
        for at, other in open_ones
        for number, one in old.items()
        if rule(one, other)
    ]
    return iter(sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])))


def _similarity(one: KernelVersion, other: KernelVersion) -> float:
    whole = one.pairs.total() + other.pairs.total()
    same = (one.pairs & other.pairs).total()
    # Of equal texts the one in the same file, then the one in the same place.
    return (2 * same / whole if whole else 0.0) + 1e-6 * (one.file == other.file) + 1e-7 * (one.part == other.part)


def _pairs(lines: Sequence[str], forecast: Forecast) -> Counter[tuple[str, str]]:
    """Return how often each two tokens follow one another in a kernel, its name aside."""
    where = forecast.kernel.range
    text = _COMMENT.sub(" ", "\n".join(lines[where.start_line : where.end_line + 1]))
    tokens = [token if token != forecast.kernel.name else "" for token in _TOKEN.findall(text)]
    return Counter(pairwise(tokens))
