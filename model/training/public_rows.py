"""Measured launches on several GPUs as arrays: what the evaluation on unseen GPUs takes."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.str_]
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
        """One fact of all rows. Raises ValueError for a name that is none."""
        return self.facts[:, self.fact_names.index(name)].astype(np.float64)

    @property
    def laws_us(self) -> Floats:
        """What the laws alone say."""
        return np.maximum(np.exp2(self.fact("law.total")), self.least_us)
