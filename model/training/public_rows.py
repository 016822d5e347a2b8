"""Measured launches on several GPUs as arrays: what the evaluation on unseen GPUs takes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.str_]
FOLDS = 4
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One row for each launch and device, in columns. Rows with the same `key` are the same launch."""

    facts: npt.NDArray[np.float32]  # [rows, facts]
    fact_names: tuple[str, ...]
    runtime_us: Floats  # [rows], as the others
    least_us: Floats  # the roofline: no prediction is below
    noise_percent: Floats  # NaN where not known
    device: Words
    maker: Words  # of the device
    family: Words
    key: Words
    source: Words  # whose measurement

    def __len__(self) -> int:
        return len(self.runtime_us)

    def where(self, rows: Mask) -> Measured:
        """Only these rows."""
        columns = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "fact_names"}
        return Measured(fact_names=self.fact_names, **{name: column[rows] for name, column in columns.items()})

    def fact(self, name: str) -> Floats:
        """Return one fact of all rows. Raises ValueError for a name that is none."""
        return self.facts[:, self.fact_names.index(name)].astype(np.float64)

    @property
    def kernel(self) -> Words:
        """The first word of each family: what shares code has it in common."""
        return np.array([name.split(" ")[0] for name in self.family])

    @property
    def fold(self) -> npt.NDArray[np.int64]:
        """Which of FOLDS parts each device is in: a part is left out as a whole. By a hash, so always the same."""
        found = {name: int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) for name in np.unique(self.device)}
        return np.array([found[name] % FOLDS for name in self.device], np.int64)

    @property
    def analytic_us(self) -> Floats:
        """The analytical model's times alone."""
        return np.maximum(np.exp2(self.fact("analytic.total")), self.least_us)
