"""A prediction: what `Predictor.predict` answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from model.account import OTHER, Bound, ResourceTime, TimeAccount, account_of
from model.advice.advice import Advice, relevant
from model.fit import Fit
from model.launch.launch import Assumption
from model.work.work_counts import WorkCounts

if TYPE_CHECKING:
    from model.compiled_occupancy import OfflineFacts
    from model.laws import Times


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


# The factor between p50 and p90 (and p10) of the host's launch cost, by whether the device is calibrated: in clpeak's
# public results a card differs by 1.5 between two computers, and from others under such drivers by up to 2.5.
HOST_COST_SPREAD = {True: 1.2, False: 2.0}
NO_LINE = -2  # of the source: what the launch itself costs, and what nothing explains


@dataclass(frozen=True, slots=True)
class LineShare:
    """`share` of the predicted runtime (0..1) that source line `line` accounts for, and its main cost.

    Lines count from 0; -1 are those of included files, `NO_LINE` is what no line takes.
    """

    line: int
    share: float
    what: str  # "12.6 MB loaded from `A`, strided", "268 M fp32 operations"


@dataclass(frozen=True, slots=True)
class LinePart:
    """`fraction` (0..1) of the time of a resource, and what it is for."""

    resource: str
    fraction: float
    what: str


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one source line has in the time of each resource; each resource's fractions sum to 1 over all lines."""

    line: int
    parts: tuple[LinePart, ...]


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
    basis: Basis
    work: WorkCounts
    assumptions: tuple[Assumption, ...]
    device_id: str
    device_name: str
    calibrated: bool
    line_costs: Sequence[LineCost] = ()  # a tuple, or equal to one
    is_guessed: bool = False  # whether sizes, or how often loops run, are among the assumptions
    novelty: float | None = None  # 0 = as seen in training, 1 = unlike anything; None for the analytical model alone
    advice: tuple[Advice, ...] = ()  # in the order of the source
    through: Through | None = None  # set where the basis is `measured`
    laws: Times | None = None  # by the analytical model alone; None where it was not evaluated
    code: OfflineFacts | None = None  # what a GPU's compiler made of the kernel, where the analytical model uses it
    by_lessons: bool = False  # whether measurements of other kernels on the device were compared with it
    is_corrected: bool = False  # whether measurements of other kernels on the device moved what the model says alone
    host_cost_us: float = 0.0  # what the host waits for a launch beyond the device's time; 0: unknown

    @property
    def guesses(self) -> tuple[Assumption, ...]:
        """What was guessed of sizes and of how often loops run."""
        return tuple(each for each in self.assumptions if each.is_guess)

    @property
    def account(self) -> TimeAccount:
        """Where the time that is predicted goes, whatever gave it."""
        return account_of(self.laws, self.runtime_us.p50)

    @property
    def bound(self) -> Bound:
        return self.account.limiter

    @property
    def resources(self) -> tuple[ResourceTime, ...]:
        """What each resource adds to the time, the slowest first; they sum to it."""
        return self.account.parts

    @property
    def lines(self) -> tuple[LineShare, ...]:
        """The same time by source line, hottest first."""
        return _shares(self.line_costs, self.account)

    @property
    def host_runtime_us(self) -> Quantiles | None:
        """What a host waits that enqueues this launch and then for its end [us]; None where its cost is unknown.

        `runtime_us` is what the device spends, as a profiling event says. The cost of the host was measured on this
        computer where the device is calibrated, and elsewhere on others (see `model.host_cost`): it varies more there.
        """
        if self.host_cost_us <= 0:
            return None
        varies = HOST_COST_SPREAD[self.calibrated]
        q, cost_us = self.runtime_us, self.host_cost_us
        return Quantiles(q.p10 + cost_us / varies, q.p50 + cost_us, q.p90 + cost_us * varies)

    @property
    def own_us(self) -> Quantiles:
        """What the model says by itself, whatever was measured of other launches."""
        return self.through.own_us if self.through else self.runtime_us

    @property
    def laws_us(self) -> float | None:
        """Time by the analytical model alone (p50), within its bounds."""
        return self.laws.bounded_us if self.laws else None

    @property
    def floor_us(self) -> float:
        """What no answer about this launch may be below: see `model.bounds`."""
        return self.laws.floor_us if self.laws else 0.0


def retimed(prediction: Prediction, runtime_us: Quantiles, basis: Basis, **changes: Any) -> Prediction:  # noqa: ANN401
    """`prediction` with another time, and with the advice that is worth giving in its account."""
    before_us, account = prediction.runtime_us.p50, account_of(prediction.laws, runtime_us.p50)
    advice = relevant(prediction.advice, account, runtime_us.p50 / before_us if before_us > 0 else 1.0)
    return replace(prediction, runtime_us=runtime_us, basis=basis, advice=advice, **changes)


def _shares(costs: Sequence[LineCost], account: TimeAccount) -> tuple[LineShare, ...]:
    of_resource = {part.resource: part.share for part in account.parts}
    found = []
    placed = dict.fromkeys(of_resource, 0.0)
    for cost in costs:
        own = [(of_resource.get(part.resource, 0.0) * part.fraction, part) for part in cost.parts]
        for share, part in own:
            placed[part.resource] = placed.get(part.resource, 0.0) + share
        whole = sum(share for share, _ in own)
        if whole > 0:
            found.append(LineShare(cost.line, whole, max(own, key=lambda each: each[0])[1].what))
    for resource, share in of_resource.items():
        left = share - placed[resource]
        if left > _ROUNDING:
            found.append(LineShare(NO_LINE, left, _NO_LINES.get(resource, resource)))
    return tuple(sorted(found, key=lambda each: (-each.share, each.line)))


_ROUNDING = 1e-9
_NO_LINES = {OTHER: "more than the analytical model explains"}
