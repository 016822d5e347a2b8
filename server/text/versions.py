"""What a predicted or measured ratio of two versions' times says, in few words and as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from server.text.format import factor_words

if TYPE_CHECKING:
    from model.prediction import Ratio, Relative

_ALIKE = 0.005  # of the time: less than that is no difference
_MULTIPLE = 2.0  # from which on a factor says more than percents


def faster_words(ratio: float) -> str:
    """Return `12 % faster` for 0.88, `2.3x slower` for 2.3, `as fast` for what differs by half a percent at most."""
    if abs(ratio - 1) <= _ALIKE or ratio <= 0:
        return "as fast"
    if ratio < 1:
        return f"{factor_words(1 / ratio)}x faster" if ratio <= 1 / _MULTIPLE else f"{(1 - ratio) * 100:.0f} % faster"
    return f"{factor_words(ratio)}x slower" if ratio >= _MULTIPLE else f"{(ratio - 1) * 100:.0f} % slower"


def interval_words(ratio: Ratio) -> str:
    """Return `30 % faster to 5 % slower`: the ends of the interval, the faster one first."""
    return f"{faster_words(ratio.p10)} to {faster_words(ratio.p90)}"


def since_words(relative: Relative, now: datetime | None = None) -> str:
    """Return `12 % faster than measured at 14:02`, in local time; with the date if that is not today's."""
    when = datetime.fromisoformat(relative.measured_at).astimezone()
    today = (now or datetime.now()).astimezone().date()
    stamp = f"{when:%H:%M}" if when.date() == today else f"{when:%H:%M on %Y-%m-%d}"
    words = faster_words(relative.ratio.p50)
    than = "as" if words == "as fast" else "than"
    return f"{words} {than} measured at {stamp}"


def relative_json(relative: Relative | None) -> dict[str, Any] | None:
    """Return what an edited kernel's time is relative to; None where it is not."""
    if relative is None:
        return None
    return {
        "measured_us": relative.measured_us,
        "measured_at": relative.measured_at,
        "ratio": ratio_json(relative.ratio),
    }


def ratio_json(ratio: Ratio) -> dict[str, float]:
    return {"p10": ratio.p10, "p50": ratio.p50, "p90": ratio.p90}
