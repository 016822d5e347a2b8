"""What a request is answered from: one immutable view of a document and of everything known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from model.compiled import CompiledFacts, FactsKey, key_of
from server.client.settings import Settings
from server.documents import Document
from server.positions import Encoding, range_of, source_offsets

if TYPE_CHECKING:  # the engine brings tree-sitter along, which `initialize` need not wait for
    from model.device import Device
    from model.engine import FileForecast, Forecast
    from model.learned.lessons import Lessons
    from model.learned.question import Question
    from model.opencl.kernel import Kernel, SourceRange
    from model.opencl.reach import Reach
    from profiler.measurement import Measurement


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
class ConfigProblem:
    """What is wrong with a `kernelcast.toml`; `line` counts from 1."""

    path: Path
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the background thread found for one state of a document. `number` is that of the order it answers."""

    number: int
    document: Document
    forecast: FileForecast
    device: Device
    stored: tuple[Measurement, ...] = ()  # of exactly these kernels and launches, from earlier sessions too
    last: Mapping[str, Measurement] = field(default_factory=dict)  # by kernel, however it looked then
    compiled: Mapping[FactsKey, CompiledFacts] = field(default_factory=dict)  # kept earlier, for this device
    memory_problem: str = ""  # what is not remembered and why, for the user
    annotations: Mapping[Slot, str] = field(default_factory=dict)  # to write above kernels that have none
    config_path: Path | None = None
    config_problem: ConfigProblem | None = None
    hints_off: bool = False  # said by kernelcast.toml
    unknown_device: str | None = None  # asked for by somebody, known to nobody
    found: tuple[Device, ...] = ()  # this machine's devices, as known then
    unanswered: Mapping[Slot, Question] = field(default_factory=dict)  # that the learned model has yet to answer
    reach: Reach | None = None  # how far files were read
    lessons: Mapping[str, Lessons] = field(default_factory=dict)  # that its answers are corrected by, by device


@dataclass(frozen=True, slots=True)
class LaunchView:
    """One launch with what was measured of it. At most one of `measured` and `stale` is set."""

    slot: Slot
    forecast: Forecast
    measured: Measurement | None
    stale: Measurement | None  # of this slot, before the kernel or the launch changed
    failure: Failure | None
    compiled: CompiledFacts | None = None  # what the device's compiler made of it, where that is known


@dataclass(frozen=True, slots=True)
class KernelView:
    kernel: Kernel
    launches: tuple[LaunchView, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`analysis` may be of an older state than `document`; `range` follows its places through the edits since."""

    document: Document
    analysis: Analysis
    settings: Settings
    encoding: Encoding | str
    trusted: bool = True
    measured: Mapping[Slot, Measurement] = field(default_factory=dict)  # the last of each slot on this device
    failures: Mapping[Slot, Failure] = field(default_factory=dict)
    compiled: Mapping[FactsKey, CompiledFacts] = field(default_factory=dict)  # in this session, on this device

    @property
    def is_current(self) -> bool:
        return self.analysis.document.serial == self.document.serial

    @property
    def device(self) -> Device:
        return self.analysis.device

    @property
    def shows_hints(self) -> bool:
        return self.settings.show_hints and not self.analysis.hints_off

    @property
    def kernels(self) -> tuple[KernelView, ...]:
        found = self.analysis.forecast
        views = (
            KernelView(kernel, tuple(self._launch(slot, f) for slot, f in slots_of(found, kernel)))
            for kernel in found.kernels
        )
        return tuple(view for view in views if view.launches)

    def offsets(self, where: SourceRange) -> tuple[int, int]:
        """Start and end of a range of the analysis, as offsets into the newest text."""
        before = self.analysis.document
        start, end = source_offsets(before.text, where)
        return self.document.moved(start, before.serial), self.document.moved(end, before.serial)

    def range(self, where: SourceRange) -> types.Range:
        start, end = self.offsets(where)
        return range_of(self.document.text, start, max(start, end), self.encoding)

    def _launch(self, slot: Slot, forecast: Forecast) -> LaunchView:
        kernel, launch = forecast.kernel, forecast.launch
        key = launch.key if launch else ""
        same = next(
            (m for m in self.analysis.stored if (m.kernel_fingerprint, m.launch_key) == (kernel.fingerprint, key)), None
        )
        alone = sum(f.kernel.name == kernel.name for f in self.analysis.forecast.forecasts) == 1
        last = self.measured.get(slot) or (self.analysis.last.get(kernel.name) if alone else None)
        if last is not None and (last.kernel_fingerprint, last.launch_key) == (kernel.fingerprint, key):
            same, last = last, None
        failure = self.failures.get(slot)
        if failure and (failure.fingerprint, failure.launch_key) != (kernel.fingerprint, key):
            failure = None
        return LaunchView(slot, forecast, same, None if same else last, failure, self._compiled(forecast))

    def _compiled(self, forecast: Forecast) -> CompiledFacts | None:
        if forecast.launch is None or not (self.compiled or self.analysis.compiled):
            return None
        key = key_of(forecast.kernel, forecast.launch, self.device.id)
        return self.compiled.get(key) or self.analysis.compiled.get(key)


def slots_of(found: FileForecast, kernel: Kernel) -> list[tuple[Slot, Forecast]]:
    """The launches of one kernel, each under the name it keeps while it is edited.

    Where `#ifdef`s leave two kernels of one name, each has its own.
    """
    named = [f for f in found.forecasts if f.kernel.name == kernel.name]
    mine = [f for f in named if f.kernel.range == kernel.range] or named
    return [
        (Slot(kernel.name, (f.launch.name if f.launch and f.launch.name else "") or f"#{place}"), f)
        for place, f in enumerate(mine)
    ]
