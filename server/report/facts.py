"""The contents of a report as plain values, gathered once and then turned into a page or JSON."""

from __future__ import annotations

from dataclasses import dataclass

from model.account import Bound
from model.device import Device
from model.fit import Fit
from model.forecast import Forecast
from model.launch.scaling_plan import Plan
from model.prediction import Prediction, Quantiles, Ratio
from model.roofline import Roofline
from profiler.measurement import Measurement


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """The launch on one device: a prediction, or why there is none. `ratio` is its time over the report's own."""

    device: Device
    is_here: bool
    is_current: bool
    prediction: Prediction | None
    problem: str = ""
    ratio: Ratio | None = None  # None for the report's own device


@dataclass(frozen=True, slots=True)
class SizePoint:
    """The prediction for one size of the problem; `factor` is to the launch at hand."""

    work_items: int
    factor: float
    launch: str  # as `Launch.describe` says it
    runtime_us: Quantiles
    bound: Bound
    is_current: bool


@dataclass(frozen=True, slots=True)
class SizeMeasured:
    """A measurement of this kernel at some size on the report's device."""

    work_items: int
    median_us: float
    p10_us: float
    p90_us: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """Runtime against problem size. `stopped` says why there are no larger sizes.

    `line` is what the points follow where the kernel was measured; without it they are the model's own.
    """

    plan: Plan
    points: tuple[SizePoint, ...]
    measured: tuple[SizeMeasured, ...] = ()
    stopped: str = ""
    line: Fit | None = None


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One measurement of the past. `launch_name` is set where it was of a launch that the kernel still has."""

    measurement: Measurement
    predicted_us: float | None
    error_percent: float | None
    launch_name: str | None
    is_same_source: bool


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """One launch of one kernel. Without a prediction nothing else is set, and the forecast's problem says why."""

    title: str  # its name, else its sizes
    forecast: Forecast
    measured: Measurement | None = None
    roofline: Roofline | None = None
    sizes: Sizes | None = None
    devices: tuple[DeviceRow, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """One kernel of one file; `line` counts from 1. `memory_problem` says why there is no history."""

    name: str
    file: str
    line: int
    device: Device
    launches: tuple[LaunchFacts, ...]
    history: tuple[HistoryRow, ...] = ()
    memory_problem: str = ""
    is_device_here: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """`made_at` in ISO 8601, UTC. `problems` concern whole files."""

    title: str
    made_at: str
    version: str
    kernels: tuple[KernelFacts, ...]
    problems: tuple[str, ...] = ()
