"""What a real program did with the launch that a forecast is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordedUse:
    """One cluster of a kernel's recorded launches; see `clusters`.

    `event_us` and `total_us` are what the program's own events told, None where its queue had no profiling. They are of
    this kernel on this device only if it is neither `is_stale` nor `elsewhere`.
    """

    count: int  # of the program's launches
    distinct: int  # kinds of launches among them
    event_us: float | None
    total_us: float | None
    is_stale: bool  # the kernel was another one, or built with other options
    elsewhere: str  # the device that it was recorded on, "" if that is the one that is predicted for
    recorded_at: float  # unix seconds
    command: str
    kernel_count: int  # of all launches of the kernel in the same recordings, whatever their sizes
    kernel_distinct: int
    kernel_total_us: float | None

    @property
    def own_us(self) -> float | None:
        """The median time of this very kernel on this device, as the program's events told it."""
        return None if self.is_stale or self.elsewhere else self.event_us

    @property
    def own_total_us(self) -> float | None:
        """The time of all these launches, as the program's events told it."""
        return None if self.is_stale or self.elsewhere else self.total_us
