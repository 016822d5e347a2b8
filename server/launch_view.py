"""One launch of a kernel as an editor shows it: its forecast, and what was measured of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.compiled import CompiledFacts

if TYPE_CHECKING:  # the engine brings tree-sitter along, which `initialize` need not wait for
    from model.forecast import Forecast
    from profiler.measurement import Measurement
    from server.analysis.elsewhere import DeviceTime

Rows = tuple["DeviceTime", ...]  # of a launch: the main device's, then those of further devices


@dataclass(frozen=True, slots=True)
class Slot:
    """One launch of one kernel as the user thinks of it: it stays the same while sizes and code are edited."""

    kernel: str
    launch: str  # its name, else its place among the kernel's launches


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the last measurement of a launch could not be had; shown until the kernel or its launch changes."""

    fingerprint: str
    launch_key: str
    device_id: str
    message: str


@dataclass(frozen=True, slots=True)
class LaunchView:
    """One launch with what was measured of it. At most one of `measured` and `stale` is set."""

    slot: Slot
    forecast: Forecast
    measured: Measurement | None
    stale: Measurement | None  # of this slot, before the kernel or the launch changed
    failure: Failure | None
    compiled: CompiledFacts | None = None  # what the device's compiler made of it, where that is known
    elsewhere: Rows = ()  # the last that is known of further devices; empty if there are none, or nothing yet
