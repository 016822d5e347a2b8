"""How good the learned model's answers are on a device, from what was measured there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.learned.learned import load_model, use_one_thread
from model.learned.lessons import Lessons

if TYPE_CHECKING:
    from model.learned.residual_gp import Correction, Floats


@dataclass(frozen=True, slots=True)
class ErrorFigures:
    """Errors of predicted over measured times: the median error, and the share within a factor of two."""

    median_percent: float
    within_2x_percent: float


@dataclass(frozen=True, slots=True)
class DeviceAccuracy:
    """`by_itself` is the model without what was measured; `left_out` what others teach it of each launch.

    Each kernel of the corpus is left out with its family, each of the user's alone: `families` counts both. Intervals
    are `stretch` times as wide as the model's own. `disturbed` launches count nowhere: others used the machine while
    they were timed. Figures are None where there are no other launches.
    """

    launches: int
    kernels: int
    families: int
    by_itself: ErrorFigures | None
    left_out: ErrorFigures | None
    is_used: bool
    stretch: float
    disturbed: int = 0


def accuracy_from(lessons: Lessons) -> DeviceAccuracy | None:
    """Return the model's accuracy on a device; None where nothing was measured or no weights ship.

    Loads the model, which takes a second. Raises UnusableModel.
    """
    if not lessons.lessons:
        disturbed = lessons.disturbed
        return DeviceAccuracy(0, 0, 0, None, None, False, 1.0, disturbed) if disturbed else None
    use_one_thread()
    from model.learned.answering import Answering  # noqa: PLC0415 - needs numpy, as the model does

    model = load_model()
    found = Answering(model).correction(lessons) if model is not None else None
    return accuracy_of(found, lessons.disturbed) if found is not None else None


def accuracy_of(correction: Correction, disturbed: int = 0) -> DeviceAccuracy | None:
    """Return the accuracy on the measured launches; None without any. `disturbed` ones are told as they are given."""
    from model.learned.residual_gp import left_out_errors  # noqa: PLC0415

    if not len(correction.errors):
        return None
    return DeviceAccuracy(
        launches=len(correction.errors),
        kernels=len(set(correction.kernels)),
        families=len(set(correction.groups)),
        by_itself=_figures(correction.errors),
        left_out=_figures(left_out_errors(correction)),
        is_used=correction.is_used,
        stretch=correction.stretch,
        disturbed=disturbed,
    )


def _figures(errors: Floats) -> ErrorFigures:
    """Errors are ln of measured over predicted."""
    import numpy as np  # noqa: PLC0415

    off_percent, within = 100 * np.abs(np.expm1(-errors)), np.abs(errors) <= np.log(2)
    return ErrorFigures(float(np.median(off_percent)), float(100 * within.mean()))
