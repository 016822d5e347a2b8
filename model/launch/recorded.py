"""Launches of a real run of the host program: as `kernelcast record` wrote them down, and as forecasts use them."""

from __future__ import annotations

from dataclasses import dataclass

from model.launch.spec import LaunchSpec


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """One distinct launch of a kernel: same sizes, arguments, build options and device.

    `spec` holds plain numbers only, and has the origin RECORDED. `event_us` is the median time that the program's own
    events told, None where its queue had no profiling. `kernel_fingerprint` is `Kernel.fingerprint` of the source that
    the program built, "" where it built none (binaries) or where it could not be read: if the kernel in the editor has
    another one, the recording is stale. `total_us` is `count` times the mean of the events.
    """

    kernel: str
    spec: LaunchSpec
    count: int
    event_us: float | None
    total_us: float | None
    kernel_fingerprint: str
    device_id: str  # as `kernelcast devices` names it, "" if the device is not here
    device_name: str
    recorded_at: float  # unix seconds
    command: str  # the program that was recorded, to show
    source: str = ""  # the path of a copy of the text that the program built, "" where it built none

    @property
    def weight(self) -> tuple[float, int]:
        """What launches are sorted by: their time, then their count."""
        return self.total_us or 0.0, self.count


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
