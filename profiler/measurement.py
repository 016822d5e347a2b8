"""A measurement, and the named ways in which one can fail."""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import KernelcastError
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.version import VERSION


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """Everything the device process needs; plain data, so that it can be sent to it."""

    source: str  # the user's whole text, as in the editor
    path: str | None  # for #include "..." next to the file, and for messages
    kernel: Kernel
    launch: Launch  # complete: see model.launch.inference
    device_id: str
    budget_s: float = 5.0  # for the timed part; building and warm-up have their own limits
    repeats: int | None = None  # exactly so many timed runs instead of the budget
    proved: str = ""  # `Measurement.checked` of an earlier measurement of this launch here: not proved again


@dataclass(frozen=True, slots=True)
class Measurement:
    """Timing of one launch, from profiling events, over separated batches."""

    kernel: str
    kernel_fingerprint: str
    launch_key: str
    launch: str  # Launch.describe()
    device_id: str
    device_name: str
    driver: str
    median_us: float
    p10_us: float
    p90_us: float
    ci95_us: tuple[float, float]  # where the median of a repeat in a new process will lie
    repeats: int
    batches: int
    batch_spread_percent: float  # between batch medians: the noise floor of this figure
    local_size: tuple[int, ...] | None
    load_average: float  # of the machine, when measuring began
    measured_at: str  # ISO 8601, UTC
    # Measurements that were stored before these were known read back with the defaults.
    wall_us: float | None = None  # median wall clock of one launch, from before enqueue to after finish
    launch_overhead_us: float | None = None  # what the wall clock has beyond the event; never below 0
    options: str = ""  # build options as text
    checked: str = ""  # what showed that nothing is accessed out of bounds: guard pages, oclgrind, canaries; or nothing
    settled: bool = True  # the interval became narrow enough before the budget was spent
    disturbed_batches: int = 0  # thrown away and repeated, because others used the machine
    outliers: int = 0  # runs far off the rest; they are counted, and stay in the quantiles
    drift_percent: float = 0.0  # trend of the batches' medians from first to last; 0 unless significant
    other_load_percent: float | None = None  # of the machine's CPU time while timing, what others used; None: unknown
    # Of the CPU time during the batches that count, and where these are short during those of the launches just before,
    # what other programs used, and what a hypervisor gave to its other guests. None: unknown, or the device is no CPU.
    programs_percent: float | None = None
    guests_percent: float | None = None
    is_disturbed: bool = False  # others used so much of the processors that the time tells of them, too
    notes: tuple[str, ...] = ()  # sentences for the user
    has_longer_buffers: bool = False  # than the launch says, because its guessed lengths were too short: see the notes
    kernelcast_version: str = ""  # that measured

    @property
    def proof(self) -> str:
        """What may be passed as `MeasureRequest.proved` for the same launch; empty if that must be proved anew.

        Another version may give the kernel other contents to find its way by, or may not have seen what this one sees.
        """
        is_ours = self.kernelcast_version == VERSION
        return self.checked if is_ours and not self.has_longer_buffers else ""


class MeasureError(KernelcastError):
    """A measurement that could not be had. Subclasses name why; `log` holds a compiler's or driver's own words."""

    code = "measure"

    def __init__(self, message: str, *, line: int | None = None, log: str = "") -> None:
        super().__init__(message, line=line)
        self.log = log
        self.ends_process = False  # the device process can do nothing more: a kernel of it never ends


class NeedsAnnotation(MeasureError):
    """The arguments of this kernel cannot be guessed safely; the message says what to write."""

    code = "needs_annotation"


class BuildFailed(MeasureError):
    code = "build_failed"


class KernelCrashed(MeasureError):
    """The device process died while building or running the kernel."""

    code = "crashed"


class TimedOut(MeasureError):
    code = "timed_out"


class OutOfBounds(MeasureError):
    """The kernel reads or writes outside a buffer of this launch; the message names buffer, index and remedy.

    `overruns` holds each buffer concerned with the lowest and highest index that were seen.
    """

    code = "out_of_bounds"

    def __init__(
        self, message: str, *, line: int | None = None, overruns: tuple[tuple[str, int, int], ...] = ()
    ) -> None:
        super().__init__(message, line=line)
        self.overruns = overruns


class OutOfResources(MeasureError):
    """Too much memory, too large a work-group ... for this device."""

    code = "out_of_resources"


class DeviceGone(MeasureError):
    """No such device, no OpenCL platform, or it stopped answering."""

    code = "device"


class Cancelled(MeasureError):
    code = "cancelled"
