"""How much of a program's time goes into each of a kernel's recorded launches, and the order that follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # words import this, and must load nothing that reads a source
    from model.forecast import Forecast


def in_order_of_time(forecasts: Iterable[Forecast]) -> tuple[Forecast, ...]:
    """Return the forecasts, of each kernel's recorded launches those first that take most of the time.

    Where the program did not measure all of them, that is how often each was launched times its prediction.
    """
    found: list[Forecast] = []
    for _, group in groupby(forecasts, key=lambda each: each.kernel.name):
        own = list(group)
        if len(own) > 1 and own[0].recorded is not None:
            weights = total_times_us(own)
            own = [own[n] for n in sorted(range(len(own)), key=lambda n: weights[n] or 0.0, reverse=True)]
        found += own
    return tuple(found)


def total_times_us(own: Sequence[Forecast]) -> list[float | None]:
    """Return the time that the program spends in each of a kernel's recorded launches: measured, or else predicted."""
    measured = [f.recorded.own_total_us if f.recorded else None for f in own]
    if None not in measured:
        return measured
    return [f.recorded.count * f.prediction.own_us.p50 if f.recorded and f.prediction else None for f in own]
