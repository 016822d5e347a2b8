"""Times as they would be at a device's usual pace.

Processors of a cloud machine are halves of cores whose other halves belong to other guests: the same launch takes up to
twice as long while those work, for a tenth of a second or for minutes. Beside each batch of a launch stands what a
fixed piece of host work took around it, its pace (`profiler.device_worker.corpus.load_window`). The time of code that
is limited by what the halves share follows the pace; that of code that waits for its own results, or for memory, hardly
does. So for each row

    ln(batch) = ln(runtime) + s ln(pace / usual pace)

where the slope s is that of the row's own batches, held towards the device's: ridge regression, as for any slope that
few points tell (Hoerl and Kennard, Technometrics 12(1), 1970). The device's is the one with which rows that were
measured twice agree best. A regression over all rows finds less: it takes the noise of the paces for differences
between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

HELD = 0.3  # squared logs of paces, summed over a row's batches, at which its own slope counts as much as the device's
STEEPEST = 1.3  # slopes beyond are noise: no code suffers much more than the hash does
FARTHEST = 2.0  # times the usual pace, or a part of it; what lies beyond says nothing more of a slope

FEWEST_PAIRS = 30  # of rows measured twice, for these to tell the device's slope
FAR_APART = 0.5  # logs of two times; what differs more does so for other reasons
SLOPES = np.linspace(0.0, STEEPEST, 27)
Numbers = npt.NDArray[np.float64]
Timed = tuple[Sequence[float], Sequence[float]]  # the batches and paces of a row [us], as many of each


@dataclass(frozen=True, slots=True)
class Usual:
    """Of a device: the median pace of all batches, and how far times follow the pace, on the whole."""

    pace_us: float
    slope: float


def usual(rows: Iterable[Timed], pairs: Sequence[tuple[Timed, Timed]] = ()) -> Usual:
    """Of a device, from its rows, and from those that were measured twice. Without any, a pace that says nothing."""
    known = [(np.log(batches), np.log(paces)) for batches, paces in rows if len(batches) and min(batches) > 0]
    if not known:
        return Usual(1.0, 0.0)
    pace = float(np.median(np.concatenate([paces for _, paces in known])))
    together = np.sum([_moments(times, _near(paces - pace)) for times, paces in known], axis=0)
    slope = together[0] / together[1] if together[1] > 0 else 0.0
    found = Usual(float(np.exp(pace)), float(np.clip(slope, 0.0, STEEPEST)))
    if len(pairs) < FEWEST_PAIRS:
        return found
    return min((replace(found, slope=float(each)) for each in SLOPES), key=lambda at: _disagreement(pairs, at))


def _disagreement(pairs: Sequence[tuple[Timed, Timed]], at: Usual) -> float:
    times = np.array([[runtime_us(*row, at) for row in pair] for pair in pairs])
    return float(np.minimum(np.abs(np.log(times[:, 0] / times[:, 1])), FAR_APART).mean())


def runtime_us(batches_us: Sequence[float], paces_us: Sequence[float], at: Usual) -> float:
    """Return the median of the batches, each brought to the usual pace.

    `batches_us` and `paces_us` are of one length.
    """
    if min(batches_us) <= 0:  # of a clock that saw nothing
        return float(np.median(batches_us))
    times, paces = np.log(batches_us), _near(np.log(paces_us) - np.log(at.pace_us))
    return float(np.exp(np.median(times - _slope(times, paces, at) * paces)))


def slopes(rows: Sequence[Timed], at: Usual) -> Numbers:
    """Return how far each row's time follows the pace, as `runtime_us` takes it [rows].

    0 is not at all, 1 in proportion.
    """
    if not rows:
        return np.zeros(0)
    row = np.repeat(np.arange(len(rows)), [len(batches) for batches, _ in rows])
    batches, flat = (np.concatenate([each[part] for each in rows]) for part in (0, 1))
    times, paces = np.log(np.maximum(batches, 1e-3)), _near(np.log(flat) - np.log(at.pace_us))
    count = np.maximum(np.bincount(row, minlength=len(rows)), 1)
    apart = paces - (np.bincount(row, paces, len(rows)) / count)[row]
    both, squared = np.bincount(row, apart * times, len(rows)), np.bincount(row, apart * apart, len(rows))
    return np.clip((both + HELD * at.slope) / (squared + HELD), 0.0, STEEPEST)


def _slope(times: Numbers, paces: Numbers, at: Usual) -> float:
    both, squared = _moments(times, paces)
    return float(np.clip((both + HELD * at.slope) / (squared + HELD), 0.0, STEEPEST))


def _near(paces: Numbers) -> Numbers:
    return np.clip(paces, -np.log(FARTHEST), np.log(FARTHEST))


def _moments(times: Numbers, paces: Numbers) -> tuple[float, float]:
    """About their means: of both, and of the paces squared."""
    apart = paces - paces.mean()
    return float(apart @ (times - times.mean())), float(apart @ apart)
