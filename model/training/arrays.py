"""The arrays that the network is trained from: kernels, their launches, and rows that were measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]


class Split(StrEnum):
    """What a kernel may be used for, as `Rows.split` says it. By family or by package, but for `KNOWN_FAMILIES`."""

    TRAIN = "train"
    KNOWN_FAMILIES = "known"  # unseen kernels of families that are trained on
    VALIDATION = "validation"  # families that are not trained on; these choose between checkpoints
    TEST_ORIGINS = "test-origins"  # other people's packages, not looked at in training
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class KernelText:
    id: str
    family: str
    origin: str
    split: Split
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Of the columns, in order. Those of devices are `group.name`, a group's side by side."""

    launch_facts: tuple[str, ...]
    laws: tuple[str, ...]
    compiled_facts: tuple[str, ...]
    device_facts: tuple[str, ...]
    devices: tuple[str, ...]

    @property
    def device_groups(self) -> tuple[int, ...]:
        """How many facts each group has."""
        groups = [name.split(".")[0] for name in self.device_facts]
        first = list(dict.fromkeys(groups))
        if sorted(groups, key=first.index) != groups:
            raise ValueError("facts of one device group must stand side by side")
        return tuple(groups.count(group) for group in first)


@dataclass(frozen=True)
class Arrays:
    """L launches of K kernels, R rows. NaN = not known. Times are log2 us."""

    names: Names
    kernels: tuple[KernelText, ...]
    launch_kernel: Indices  # [L]
    launch_facts: Floats  # [L, facts]
    row_launch: Indices  # [R]
    row_device: Indices  # [R]
    row_laws: Floats  # [R, 2 + resources] total, least, resources
    row_compiled: Floats  # [R, facts]
    row_log2_us: Floats  # [R]
    row_weight: Floats  # [R]
    device_facts: Floats  # [devices, facts]

    @cached_property
    def row_kernel(self) -> Indices:
        return self.launch_kernel[self.row_launch]

    @cached_property
    def rows_of(self) -> list[Indices]:
        """The rows of each kernel."""
        order = np.argsort(self.row_kernel, kind="stable")
        ends = np.searchsorted(self.row_kernel[order], np.arange(1, len(self.kernels)))
        return np.split(order, ends)

    def kernels_in(self, split: Split) -> list[int]:
        """Those with rows."""
        return [at for at, kernel in enumerate(self.kernels) if kernel.split is split and len(self.rows_of[at])]

    def rows_in(self, split: Split) -> Indices:
        rows = [self.rows_of[at] for at in self.kernels_in(split)]
        return np.sort(np.concatenate(rows)) if rows else np.empty(0, np.int64)
