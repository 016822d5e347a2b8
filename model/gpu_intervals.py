"""How far a GPU's runtime may lie from what the analytical model says: below and above, by whose GPU it is.

Taken from launches that others measured on GPUs (profiler/corpus/public), by `model.training.gpu_margins`: 80 % of them
lie between. Source: split conformal prediction after Lei et al., "Distribution-free predictive inference for
regression", JASA 2018.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from model.architectures import vendor_of
from model.device import Device

OTHER_VENDORS = "others"
# Where nothing like it was measured: how far the model was off before anything was known.
UNKNOWN = 4.0
LEAST = 1.05  # no interval is narrower on either side


@dataclass(frozen=True, slots=True)
class Margins:
    """Factors from the prediction to p10 (at most 1) and to p90 (at least 1)."""

    below: float
    above: float

    def widened(self, doubt: float) -> Margins:
        """Return margins widened by `doubt`, the logarithm of a factor; doubts are independent, so squares add."""
        return Margins(
            math.exp(-math.hypot(math.log(self.below), doubt)), math.exp(math.hypot(math.log(self.above), doubt))
        )


def margins_of(device: Device) -> Margins:
    """Return the same for all launches of a device, so that no quantile falls as the work grows."""
    table = _table()
    return table.get(vendor_of(device)) or table.get(OTHER_VENDORS) or Margins(1 / UNKNOWN, UNKNOWN)


@lru_cache(maxsize=1)
def _table() -> dict[str, Margins]:
    text = resources.files("model").joinpath("gpu_margins.csv").read_text("utf-8")
    return {
        row["vendor"]: Margins(float(row["below"]), float(row["above"])) for row in csv.DictReader(text.splitlines())
    }
