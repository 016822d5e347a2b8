"""How far a GPU's runtime may lie from what the analytical model says: below and above, by class of device and launch.

Taken from launches that others measured on GPUs (profiler/corpus/public), by `model.training.gpu_margins`: 80 % of them
lie between. Memory is what datasheets know best, so launches that are short of its bandwidth are told apart. Source:
split conformal prediction after Lei et al., "Distribution-free predictive inference for regression", JASA 2018.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from model.architectures import vendor_of
from model.device import Device

MEMORY_BOUND = 0.5  # share of the launch's time that memory takes at its full bandwidth
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
        """With all that had to be assumed: `doubt` is the logarithm of a factor. Independent, so squares add."""
        return Margins(
            math.exp(-math.hypot(math.log(self.below), doubt)), math.exp(math.hypot(math.log(self.above), doubt))
        )


def margins_of(device: Device, memory_share: float) -> Margins:
    """`memory_share` of the predicted time is what memory alone needs at its full bandwidth."""
    table, vendor = _table(), vendor_of(device)
    memory, cores = (
        table.get((vendor, bound)) or table.get((OTHER_VENDORS, bound)) or Margins(1 / UNKNOWN, UNKNOWN)
        for bound in ("memory", "cores")
    )
    return mixed(memory, cores, memory_share)


def mixed(memory: Margins, cores: Margins, memory_share: float) -> Margins:
    """Each part of the time is as uncertain as its class, so that no answer's p90 falls as the work grows."""
    share = min(1.0, max(0.0, memory_share))
    return Margins(
        *(share * m + (1 - share) * c for m, c in ((memory.below, cores.below), (memory.above, cores.above)))
    )


def bound_of(memory_share: float) -> str:
    return "memory" if memory_share >= MEMORY_BOUND else "cores"


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], Margins]:
    text = resources.files("model").joinpath("gpu_margins.csv").read_text("utf-8")
    return {
        (row["vendor"], row["bound"]): Margins(float(row["below"]), float(row["above"]))
        for row in csv.DictReader(text.splitlines())
    }
