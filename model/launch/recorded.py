"""A launch of a real run of the host program, as `kernelcast record` wrote it down."""

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
