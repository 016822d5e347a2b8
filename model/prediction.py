"""A prediction: what `Predictor.predict` answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from model.advice.advice import Advice
from model.fit import Fit
from model.launch.launch import Assumption
from model.work.counts import WorkCounts

if TYPE_CHECKING:
    from model.laws import Times


class Bound(StrEnum):
    """What limits a launch."""

    COMPUTE = "compute"
    MEMORY = "memory"
    LATENCY = "latency"  # too little parallelism, barriers, contended atomics, dependent loads
    LAUNCH = "launch"  # the launch floor and the cost of starting groups


class Basis(StrEnum):
    """How an answer came about, from weakest to strongest."""

    ANALYTIC = "analytic"
    MODEL = "model"
    COMPILED = "compiled"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Runtime in microseconds; p10 <= p50 <= p90."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class LineShare:
    """`share` of the predicted runtime (0..1) that source line `line` (from 0) accounts for, and its main cost."""

    line: int
    share: float
    what: str  # "12.6 MB loaded from `A`, strided", "268 M fp32 operations"


@dataclass(frozen=True, slots=True)
class ResourceTime:
    """Time that one resource alone would need: `fp32`, `dram`, `local memory`, `barriers`, `launch` ..."""

    resource: str
    time_us: float


@dataclass(frozen=True, slots=True)
class Through:
    """The measurements that a prediction goes through, of launches from `least_items` to `most_items` work-items.

    `own_us`, on its `own_basis`, is what the model says without them: what a measurement of the launch itself is held
    against.
    """

    fit: Fit
    least_items: int
    most_items: int
    own_us: Quantiles
    own_basis: Basis


@dataclass(frozen=True, slots=True)
class Prediction:
    """The runtime of one launch of one kernel on one device, why, and how sure it is."""

    runtime_us: Quantiles
    bound: Bound
    basis: Basis
    work: WorkCounts
    assumptions: tuple[Assumption, ...]
    device_id: str
    device_name: str
    calibrated: bool
    resources: tuple[ResourceTime, ...]  # slowest first
    lines: Sequence[LineShare]  # hottest first; a tuple, or equal to one
    novelty: float | None = None  # 0 = as seen in training, 1 = unlike anything; None for the laws alone
    advice: tuple[Advice, ...] = ()  # in the order of the source
    through: Through | None = None  # set where the basis is `measured`
    laws: Times | None = None  # what the laws alone say; None where nobody asked them

    @property
    def own_us(self) -> Quantiles:
        """What the model says by itself, whatever was measured of other launches."""
        return self.through.own_us if self.through else self.runtime_us

    @property
    def laws_us(self) -> float | None:
        """What the laws alone say, in the middle; within their bounds."""
        return self.laws.bounded_us if self.laws else None

    @property
    def floor_us(self) -> float:
        """What no answer about this launch may be below: see `model.bounds`."""
        return self.laws.floor_us if self.laws else 0.0
