"""How good predictions are on a device, in words."""

from __future__ import annotations

from model.learned.device_accuracy import DeviceAccuracy, ErrorFigures
from server.words.format import format_things


def accuracy_words(accuracy: DeviceAccuracy) -> tuple[str, str]:
    """Return a line on the model alone, and one on the model with the correction from measurements."""
    used = "used" if accuracy.is_used else "not used: it does not help"
    wider = f"; intervals are {accuracy.stretch:.1f} times as wide" if accuracy.stretch >= 1.05 else ""
    launches, kernels = (
        format_things(accuracy.launches, "launch", "launches"),
        format_things(accuracy.kernels, "kernel"),
    )
    families = format_things(accuracy.families, "family", "families")
    return (
        f"on {launches} of {kernels} of {families} measured here predictions are off by {_said(accuracy.by_itself)}",
        f"corrected by other families they are off by {_said(accuracy.left_out)}; the correction is {used}{wider}",
    )


def learned_words(device_id: str, launches: int, kernels: int, failed: int) -> str:
    """Return the line on how many of the corpus' kernels were measured, now and before."""
    failures = f"; {failed} failed" if failed else ""
    of = f"{format_things(launches, 'launch', 'launches')} of {format_things(kernels, 'kernel')}"
    return f"{of} of the corpus {'is' if launches == 1 else 'are'} known on {device_id}{failures}"


def _said(figures: ErrorFigures) -> str:
    return f"{figures.median_percent:.0f} % in the median, {figures.within_2x_percent:.0f} % within 2x"
