"""A prediction: what `Predictor.predict` answers.

It holds its parts: what the analysis counted, and the times that the analytical model, the learned model and
measurements give. All that is shown follows from them, so that no two places can tell different figures, and a part
that comes later changes one field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from model.account import Bound, ResourceTime, TimeAccount, account_of
from model.advice.advice import Advice, relevant
from model.fit import Fit
from model.launch.launch import Assumption
from model.line_costs import LineCost, LineShare, line_shares
from model.line_remap import LineShifts, PlacedCounts
from model.work.work_counts import WorkCounts

if TYPE_CHECKING:
    from model.account import Times
    from model.compiled_occupancy import OfflineFacts

# The factor between p50 and p90 (and p10) of the host's launch cost, by whether the device is calibrated: in clpeak's
# public results a card differs by 1.5 between two computers, and from others under such drivers by up to 2.5.
HOST_COST_SPREAD = {True: 1.2, False: 2.0}
HELD = Assumption(
    "sample", "the time is the one before the last edit: work-items of the kernel as it is now are being run"
)


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

    def at_least(self, floor_us: float) -> Quantiles:
        """Return the same quantiles, in order and none of them below `floor_us`.

        A median that is lifted takes p90 with it: what was too low by so much says nothing of how long it may take.
        """
        p50 = max(self.p50, floor_us)
        p90 = p50 * (self.p90 / self.p50) if p50 > self.p50 > 0 else self.p90
        return Quantiles(min(max(self.p10, floor_us), p50), p50, max(p90, p50))


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """A time of a launch, and what says so.

    `novelty` is how far the kernel is from those in training: 0 = as seen there, 1 = unlike anything; None where no
    learned model was asked. `by_lessons`: an analytic time was compared with measurements of other kernels on the
    device; `is_corrected`: these moved the time, which was `uncorrected_us` before (p50; 0 where it was not moved).
    """

    runtime_us: Quantiles
    basis: Basis
    novelty: float | None = None
    by_lessons: bool = False
    is_corrected: bool = False
    uncorrected_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of a new version over that of an old one: 0.9 is 10 % less. 80 % lie from p10 to p90."""

    p10: float
    p50: float
    p90: float

    def of(self, old_us: float) -> Quantiles:
        """Return the new version's time where the old one takes `old_us`."""
        return Quantiles(old_us * self.p10, old_us * self.p50, old_us * self.p90)


@dataclass(frozen=True, slots=True)
class Relative:
    """The time of an edited kernel, through a measurement of how it was before: that time, and the predicted ratio."""

    runtime_us: Quantiles
    ratio: Ratio
    measured_us: float
    measured_at: str  # ISO 8601, UTC

    @property
    def assumption(self) -> Assumption:
        when = self.measured_at[:16].replace("T", " ")
        return Assumption("version", f"its time follows from an earlier version of this kernel, measured {when} UTC")


@dataclass(frozen=True, slots=True)
class Through:
    """The time of a launch through measurements of its kernel, of launches from `least_items` to `most_items`."""

    runtime_us: Quantiles
    fit: Fit
    least_items: int
    most_items: int

    @property
    def assumption(self) -> Assumption:
        count = len(self.fit.points)
        what = "one measurement" if count == 1 else f"{count} measurements"
        return Assumption("measurements", f"its time follows its work through {what} of this kernel on this device")


@dataclass(frozen=True)
class Prediction:
    """The runtime of one launch of one kernel on one device, why, and how sure it is.

    `learned` replaces what the analytical model says; `relative` goes before both, and `through` before all. Where
    `is_held`, `learned` is the last prediction's time, which is shown until this launch's own is known.
    """

    analytic_range_us: Quantiles
    counted: PlacedCounts
    device_id: str
    device_name: str
    calibrated: bool
    is_guessed: bool = False  # whether sizes, or how often loops run, are among the assumptions
    candidate_advice: tuple[Advice, ...] = ()  # as the analytical model's time has it; in the order of the source
    analytic_times: Times | None = None  # by the analytical model alone; None where it was not evaluated
    code: OfflineFacts | None = None  # what a GPU's compiler made of the kernel, where the analytical model uses it
    host_cost_us: float = 0.0  # what the host waits for a launch beyond the device's time; 0: unknown
    learned: ModelEstimate | None = None
    through: Through | None = None
    relative: Relative | None = None
    is_held: bool = False

    @cached_property
    def own(self) -> ModelEstimate:
        """What the models say, whatever was measured of other launches of the kernel; never below the launch's bound.

        A measurement of the launch itself is compared with this.
        """
        if self.learned is None:
            return ModelEstimate(self.analytic_range_us.at_least(self.floor_us), Basis.ANALYTIC)
        return replace(self.learned, runtime_us=self.learned.runtime_us.at_least(self.floor_us))

    @property
    def runtime_us(self) -> Quantiles:
        return self._measured.runtime_us if self._measured is not None else self.own.runtime_us

    @property
    def _measured(self) -> Through | Relative | None:
        """What measurements of the kernel, or of an earlier version of it, say."""
        return self.through or self.relative

    @property
    def basis(self) -> Basis:
        return Basis.MEASURED if self._measured is not None else self.own.basis

    @property
    def own_us(self) -> Quantiles:
        return self.own.runtime_us

    @property
    def novelty(self) -> float | None:
        return self.own.novelty

    @property
    def is_corrected(self) -> bool:
        """Whether measurements of other kernels on the device moved what the model says alone."""
        return self.own.is_corrected

    @property
    def analytic_us(self) -> float | None:
        """Time by the analytical model alone (p50), within its bounds."""
        return self.analytic_times.bounded_us if self.analytic_times else None

    @property
    def floor_us(self) -> float:
        """What no answer may be below: see `model.analytic.bounds`. Measurements may show it too high."""
        return self.analytic_times.floor_us if self.analytic_times else 0.0

    @property
    def work(self) -> WorkCounts:
        return self.counted.work

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        measured = (self._measured.assumption,) if self._measured is not None else ()
        return (*measured, *self.counted.assumptions, *((HELD,) if self.is_held else ()))

    @property
    def guesses(self) -> tuple[Assumption, ...]:
        """What was guessed of sizes and of how often loops run."""
        return tuple(each for each in self.assumptions if each.is_guess)

    @property
    def account(self) -> TimeAccount:
        """Where the time that is predicted goes, whatever gave it."""
        return account_of(self.analytic_times, self.runtime_us.p50)

    @property
    def bound(self) -> Bound:
        return self.account.limiter

    @property
    def resources(self) -> tuple[ResourceTime, ...]:
        """What each resource adds to the time, the slowest first; they sum to it."""
        return self.account.parts

    @property
    def line_costs(self) -> Sequence[LineCost]:
        return self.counted.line_costs

    @property
    def lines(self) -> tuple[LineShare, ...]:
        """The same time by source line, hottest first."""
        return line_shares(self.line_costs, self.account)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What is worth saying of the time that is predicted, in the order of the source."""
        found, before_us = self.candidate_advice, self.analytic_range_us.p50
        for part in (self.own if self.learned is not None else None, self._measured):
            if part is not None and found:
                now_us = part.runtime_us.p50
                found = relevant(
                    found, account_of(self.analytic_times, now_us), now_us / before_us if before_us > 0 else 1.0
                )
                before_us = now_us
        return found

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

    def moved(self, shifts: LineShifts) -> Prediction:
        """Return the prediction of a kernel that was analysed elsewhere, with all lines as they are now."""
        before = self.counted
        counted = PlacedCounts(before.counts, before.assumed, before.costs, shifts)
        if not shifts.any or not self.candidate_advice:
            return _changed(self, counted=counted)
        advice = tuple(a if a.line is None else replace(a, line=shifts.line(a.line)) for a in self.candidate_advice)
        return _changed(self, counted=counted, candidate_advice=advice)

    def in_host(self, host_lines: tuple[int, ...], more: tuple[Assumption, ...] = ()) -> Prediction:
        """Return the prediction of a kernel that is embedded in a host file, with that file's lines.

        `more` is what was assumed of the kernel's text.
        """
        before = self.counted
        shifts = replace(before.shifts, host_lines=host_lines)
        only = LineShifts(host_lines=host_lines)
        advice = tuple(a if a.line is None else replace(a, line=only.line(a.line)) for a in self.candidate_advice)
        return _changed(
            self,
            counted=PlacedCounts(before.counts, (*before.assumed, *more), before.costs, shifts),
            candidate_advice=advice,
            is_guessed=self.is_guessed or any(each.is_guess for each in more),
        )

    def answered(self, learned: ModelEstimate) -> Prediction:
        """Return the prediction with the learned model's estimate for just this launch."""
        return _changed(self, learned=learned, is_held=False)


_FIELDS = tuple(each.name for each in fields(Prediction))


def _changed(prediction: Prediction, **changes: object) -> Prediction:
    """Do what `dataclasses.replace` does, in a fifth of the time.

    A line typed above them moves all predictions of a file, and a hundred kernels are to follow within a few ms.
    """
    made, values = object.__new__(Prediction), prediction.__dict__
    made.__dict__.update({name: values[name] for name in _FIELDS}, **changes)
    return made
