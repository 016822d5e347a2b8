"""What the learned model is asked: one launch of one kernel on one device, in numbers and normalised tokens.

Plain tuples, so that a question can be made without numpy in one process and be answered in another.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

from model.account import RESOURCES, Times
from model.prediction import Quantiles

LEAST_US = 2.0**-20
ANALYTIC_FACT_NAMES = ("total", "least", *RESOURCES)


def analytic_facts(times: Times) -> tuple[float, ...]:
    """log2 of microseconds, in the order of ANALYTIC_FACT_NAMES; -20 for what a launch has nothing of."""
    by_name = {name: time_us for name, _, time_us in times.resources}
    found = (times.total_us, times.least_us, *(by_name[name] for name in RESOURCES))
    return tuple(math.log2(min(max(time_us, LEAST_US), 1e30)) for time_us in found)


@dataclass(frozen=True, slots=True)
class Question:
    """`kernel` names the tokens: what is asked twice of one kernel is encoded once.

    Facts are in the order of the names beside the functions that make them. `total_us` and `least_us` are the
    analytical time and its bound, which no answer is below; `doubt` is the logarithm of the factor that assumptions
    add. `analytic_alone` is the analytical model's answer, without that doubt, on devices that the learned model was
    not trained for: what was measured there corrects it all the same.
    """

    kernel: str
    tokens: tuple[str, ...]
    launch_facts: tuple[float, ...]
    analytic_facts: tuple[float, ...]
    device_facts: tuple[float, ...]
    compiled_facts: tuple[float, ...] | None  # None where the kernel was not compiled on the device
    total_us: float
    least_us: float
    doubt: float
    device_id: str
    analytic_alone: Quantiles | None = None

    @property
    def key(self) -> tuple[str, str, bytes]:
        """The same for the same question; facts as bytes, since those that are no numbers equal nothing.

        Of the bytes, which are thousands, the digest: what is asked is remembered by the ten thousand.
        """
        groups = (self.launch_facts, self.analytic_facts, self.device_facts, self.compiled_facts or ())
        sizes = (float(len(group)) for group in groups)
        rest = (self.total_us, self.least_us, self.doubt)
        facts = array("d", chain(sizes, *groups, rest)).tobytes()
        return self.kernel, self.device_id, blake2b(facts, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Answer:
    """`novelty`: 0 = as seen in training, 1 = unlike anything.

    `place` is where the launch lies among all, in units of how far apart those of like kernels are; empty where a model
    cannot tell. `is_corrected`: measurements of other kernels on the device have moved it; `uncorrected_us` is the p50
    before they did, 0 where they did not.
    """

    runtime_us: Quantiles
    novelty: float
    place: tuple[float, ...] = ()
    is_corrected: bool = False
    uncorrected_us: float = 0.0
