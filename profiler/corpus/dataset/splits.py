"""Splits of the dataset by family and by origin, never by row, with nothing almost alike in two of them.

Which families and origins are held out follows from hashes of their names: it is the same for everybody, and a family
that is added moves none of the others.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from profiler.corpus.dataset.arrow import metadata_of, read_table, write_table
from profiler.corpus.dataset.columns import KERNELS, SPLITS
from profiler.corpus.dataset.signatures import as_matrix, near_pairs
from profiler.corpus.kernel import GENERATOR

VALIDATION_SHARE = 0.12  # of the families
LEAST_OF_A_GROUP = 3  # families, of which one at least is held out
LARGEST_SHARE = 0.05  # of all kernels: what is larger is worth more in training
ALWAYS_TESTED = ("silx", "pyclesperanto-prototype")
LEAST_OTHERS = 4  # further origins that are tested
TESTED_SHARE = 0x53 / 0x100  # of the hashes' range; of the further origins it was a quarter when it was set


class Split(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST_ORIGINS = "test-origins"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class SplitKernel:
    """What decides where a kernel goes."""

    id: str
    origin: str
    family: str
    group: str
    signature: bytes


@dataclass(frozen=True, slots=True)
class Placed:
    """`near`: for one left out, the kernel of another split that it is almost like."""

    split: Split
    near: str = ""


@dataclass(frozen=True, slots=True)
class SplitSummary:
    kernels: Mapping[Split, int]
    validation_families: tuple[str, ...]
    test_origins: tuple[str, ...]

    def __str__(self) -> str:
        counts = ", ".join(f"{self.kernels.get(split, 0)} {split}" for split in Split)
        return (
            f"{counts}; validation: {', '.join(self.validation_families) or 'nothing'}; "
            f"test-origins: {', '.join(self.test_origins) or 'nothing'}"
        )


def split(folder: Path) -> SplitSummary:
    """Write `splits.parquet` beside the tables in `folder`. Raises DatasetError."""
    kernels = read_split_kernels(folder)
    placed = place(kernels)
    cells = [{"kernel_id": each, "split": at.split.value, "near": at.near} for each, at in placed.items()]
    write_table(folder, SPLITS, cells, metadata_of(read_table(folder, KERNELS)))
    return summary(kernels, placed)


def read_split_kernels(folder: Path) -> list[SplitKernel]:
    """Read what decides a kernel's split. Raises DatasetError."""
    table = read_table(folder, KERNELS)
    names = ("id", "origin", "family", "group", "signature")
    return [SplitKernel(*row) for row in zip(*(table[name].to_pylist() for name in names), strict=True)]


def summary(kernels: Sequence[SplitKernel], placed: Mapping[str, Placed]) -> SplitSummary:
    held = {side: {k for k in kernels if placed[k.id].split is side} for side in Split}
    return SplitSummary(
        Counter(at.split for at in placed.values()),
        tuple(sorted({kernel.family for kernel in held[Split.VALIDATION]})),
        tuple(sorted({kernel.origin for kernel in held[Split.TEST_ORIGINS]})),
    )


def place(kernels: Sequence[SplitKernel]) -> dict[str, Placed]:
    """Return the split of each kernel by its id.

    Kernels of the test splits stay; of the others, those almost like one of them are excluded.
    """
    tested = tested_origins(kernels)
    held_out = validation_families([kernel for kernel in kernels if kernel.origin not in tested])
    sides: dict[Split, list[SplitKernel]] = defaultdict(list)
    for kernel in sorted(kernels, key=lambda each: each.id):
        sides[_side(kernel, tested, held_out)].append(kernel)
    placed = {kernel.id: Placed(side) for side, those in sides.items() for kernel in those}
    known = sides[Split.TEST_ORIGINS]
    for side in (Split.VALIDATION, Split.TRAIN):
        for near, other in _near(sides[side], known).items():
            placed[near] = Placed(Split.LEFT_OUT, other)
        known = known + [kernel for kernel in sides[side] if placed[kernel.id].split is side]
    return placed


def near_between(kernels: Sequence[SplitKernel], placed: Mapping[str, Placed]) -> list[tuple[str, str]]:
    """Kernels in different splits that are almost alike: none, if all is well."""
    sides = [[k for k in kernels if placed[k.id].split is side] for side in Split if side is not Split.LEFT_OUT]
    found: list[tuple[str, str]] = []
    for number, left in enumerate(sides):
        found += _near(left, [kernel for right in sides[number + 1 :] for kernel in right]).items()
    return found


def tested_origins(kernels: Iterable[SplitKernel]) -> frozenset[str]:
    """Return the origins that nothing is trained on: two well-known packages, and others by the hashes of their names.

    A hash alone decides, not how many there are: an origin that is added moves no other one.
    """
    counts = Counter(kernel.origin for kernel in kernels)
    total = counts.total()
    others = [
        name
        for name, count in counts.items()
        if name not in (GENERATOR, *ALWAYS_TESTED) and count <= LARGEST_SHARE * total
    ]
    others.sort(key=_order)
    number = max(LEAST_OTHERS, sum(_place(name) < TESTED_SHARE for name in others))
    return frozenset([*ALWAYS_TESTED, *others[:number]]) & counts.keys()


def validation_families(kernels: Sequence[SplitKernel]) -> frozenset[str]:
    """Return one family of each group that has some, then more until there are enough.

    Origins of real kernels count as families.
    """
    counts = Counter(kernel.family for kernel in kernels)
    groups = dict(sorted(((kernel.family, kernel.group) for kernel in kernels), reverse=True))
    by_group: dict[str, list[str]] = defaultdict(list)
    for family in sorted(counts, key=_order):
        by_group[groups[family]].append(family)
    fits = {family for family, count in counts.items() if count <= max(1, LARGEST_SHARE * counts.total())}
    chosen: list[str] = []
    for those in by_group.values():
        if len(those) >= LEAST_OF_A_GROUP:
            chosen += [family for family in those if family in fits][:1]
    left = [family for family in sorted(fits, key=_order) if family not in chosen]
    missing = max(0, round(VALIDATION_SHARE * len(counts)) - len(chosen))
    return frozenset(chosen + left[:missing])


def _side(kernel: SplitKernel, tested: frozenset[str], held_out: frozenset[str]) -> Split:
    if kernel.origin in tested:
        return Split.TEST_ORIGINS
    return Split.VALIDATION if kernel.family in held_out else Split.TRAIN


def _near(kernels: Sequence[SplitKernel], known: Sequence[SplitKernel]) -> dict[str, str]:
    """Of `kernels`, those that are almost like one of `known`, and which one."""
    if not kernels or not known:
        return {}
    pairs = near_pairs(as_matrix([k.signature for k in kernels]), as_matrix([k.signature for k in known]))
    return {kernels[left].id: known[right].id for left, right in pairs}


def _order(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _place(name: str) -> float:
    """Return the place of a name's hash, from 0 to 1."""
    return int(_order(name)[:8], 16) / 0x1_0000_0000
