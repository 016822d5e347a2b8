"""Immutable view of a document and of all that is known about it, from which requests are answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import is_
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lsprotocol import types

from model.compiled import CompiledFacts, FactsKey, key_of
from server.client.settings import Settings
from server.documents import Document
from server.launch_view import Failure, LaunchView, Rows, Slot
from server.positions import Encoding, range_of, source_end, source_offsets
from server.text.devices import second_device
from server.text.hint import hint_label, hint_tooltip

if TYPE_CHECKING:
    from model.device import Device
    from model.embedded.program import EmbeddedProgram
    from model.forecast import FileForecast, Forecast
    from model.launch.launch import Launch
    from model.learned.lessons import Lessons
    from model.learned.question import Question
    from model.opencl.include_policy import Reach
    from model.opencl.kernel import Kernel, SourceRange
    from model.samples import SampleKey
    from profiler.measurement import Measurement
    from server.device_work.refusals import Refusal


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """Put `added` at the end of a file, which is made if it `is_new`; its last line is number `line` (from 0)."""

    path: Path
    added: str
    is_new: bool
    line: int = 0
    last_line: str = ""


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """What is wrong with a `kernelcast.toml`; `line` counts from 1."""

    path: Path
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Unsampled:
    """A launch of which running some work-items would tell what is assumed for now; what they tell is kept by `key`."""

    key: SampleKey
    kernel: str
    launch: Launch
    text: str = ""  # of the kernel's program, where that is not the document


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
    config_edits: Mapping[Slot, ConfigEdit | None] = field(default_factory=dict)  # to keep recorded launches
    config_path: Path | None = None
    config_problem: ConfigProblem | None = None
    hints_off: bool = False  # said by kernelcast.toml
    unknown_device: str | None = None  # asked for by somebody, known to nobody
    compared: tuple[Device, ...] = ()  # further devices that launches are predicted on, after this analysis
    unknown_compared: tuple[str, ...] = ()  # names among these that no device answers to
    compared_line: int | None = None  # of `kernelcast.toml`, where that names them; from 1
    found: tuple[Device, ...] = ()  # this machine's devices, as known then
    unanswered: Mapping[Slot, Question] = field(default_factory=dict)  # that the learned model has yet to answer
    # The same of an edited kernel and its last measured version, by the kernel's fingerprint and the launch's key.
    unanswered_versions: Mapping[tuple[str, str], Sequence[Question]] = field(default_factory=dict)
    reach: Reach | None = None  # how far files were read
    lessons: Mapping[str, Lessons] = field(default_factory=dict)  # that its answers are corrected by, by device
    unsampled: Mapping[Slot, Unsampled] = field(default_factory=dict)
    unsampled_runs: tuple[Unsampled, ...] = ()  # measured launches, through which others are to be predicted
    programs: Mapping[str, EmbeddedProgram] = field(default_factory=dict)  # of a host file, by `Home.part`
    taken_s: float = 0.0  # by this analysis

    @property
    def is_partial(self) -> bool:
        """Whether only the kernels that are shown were predicted, and the others follow."""
        return self.forecast.left_out > 0


@dataclass(frozen=True)
class KernelView:
    kernel: Kernel
    launches: tuple[LaunchView, ...]
    shows_second: bool = False  # device, in the hint

    @property
    def key(self) -> str:
        """What commands call the kernel: its name, and which it is where a document has several of that name."""
        return self.launches[0].slot.kernel

    @property
    def is_recorded(self) -> bool:
        """Whether a real program made its launches."""
        return self.launches[0].forecast.recorded is not None

    @property
    def told_in_full(self) -> tuple[LaunchView, ...]:
        """The launches to show in full: of recorded ones, the one that takes most of the time."""
        return self.launches[:1] if self.is_recorded else self.launches

    @cached_property  # all of a file's are looked at after every keystroke, and nearly all say what they said
    def label(self) -> str:
        return hint_label(self.launches, second_device(self.launches[0].elsewhere) if self.shows_second else "")

    @cached_property
    def tooltip(self) -> str:
        return hint_tooltip(self.launches)


class Views:
    """The views of one document's kernels, made once for all callers and again only where something changed.

    Only identities are compared, so a keystroke costs little.
    """

    def __init__(self) -> None:
        self._known_by: tuple[object, ...] = ()
        self._all: tuple[KernelView, ...] = ()
        self._by_kernel: dict[int, KernelView] = {}

    def of(
        self,
        analysis: Analysis,
        measured: Mapping[Slot, Measurement],
        failures: Mapping[Slot, Failure],
        compiled: Mapping[FactsKey, CompiledFacts],
        elsewhere: Mapping[Slot, Rows] = MappingProxyType({}),
        *,
        shows_second: bool = False,
    ) -> tuple[KernelView, ...]:
        """Return the views of all kernels that have launches, in source order."""
        known = (analysis.forecast, analysis.device, analysis.stored, analysis.last, analysis.compiled)
        by = (*known, measured, failures, compiled, elsewhere, shows_second)
        if len(by) != len(self._known_by) or not all(map(is_, by, self._known_by)):
            launches = Counter(forecast.kernel.name for forecast in analysis.forecast.forecasts)
            stored = {(m.kernel_fingerprint, m.launch_key): m for m in reversed(analysis.stored)}
            self._known_by = by
            self._all = tuple(
                self._kept(
                    KernelView(
                        kernel,
                        tuple(_views(own, last, analysis, stored, measured, failures, compiled, elsewhere)),
                        shows_second,
                    )
                )
                for kernel, own in slots(analysis.forecast)
                if own
                for last in (analysis.last.get(kernel.name) if launches[kernel.name] == 1 else None,)
            )
            self._by_kernel = {id(view.kernel): view for view in self._all}
        return self._all

    def _kept(self, view: KernelView) -> KernelView:
        """Return the one that stood here, if nothing else is known now: what was made of it holds, too."""
        last = self._by_kernel.get(id(view.kernel))
        is_same = last is not None and len(last.launches) == len(view.launches)
        is_same = is_same and last is not None and last.shows_second == view.shows_second
        return last if last and is_same and all(map(_is_same, last.launches, view.launches)) else view


def _is_same(one: LaunchView, other: LaunchView) -> bool:
    return (
        one.forecast is other.forecast
        and one.measured is other.measured
        and one.stale is other.stale
        and one.failure is other.failure
        and one.compiled is other.compiled
        and one.elsewhere is other.elsewhere
        and one.slot == other.slot
    )


def _views(
    own: tuple[tuple[Slot, Forecast], ...],
    once: Measurement | None,
    analysis: Analysis,
    stored: Mapping[tuple[str, str], Measurement],
    measured: Mapping[Slot, Measurement],
    failures: Mapping[Slot, Failure],
    compiled: Mapping[FactsKey, CompiledFacts],
    elsewhere: Mapping[Slot, Rows],
) -> Iterator[LaunchView]:
    """Yield one kernel's launches with what is known of each.

    `once` is the measurement of the only launch, whatever that was then.
    """
    for slot, forecast in own:
        kernel, launch = forecast.kernel, forecast.launch
        here = kernel.fingerprint, launch.key if launch else ""
        same = stored.get(here)
        last = measured.get(slot) or once
        if last is not None and (last.kernel_fingerprint, last.launch_key) == here:
            same, last = last, None
        failure = failures.get(slot)
        if failure and (failure.fingerprint, failure.launch_key) != here:
            failure = None
        facts = None
        if launch is not None and (compiled or analysis.compiled):
            key = key_of(kernel, launch, analysis.device.id)
            facts = compiled.get(key) or analysis.compiled.get(key)
        yield LaunchView(slot, forecast, same, None if same else last, failure, facts, elsewhere.get(slot, ()))


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
    views: Views = field(default_factory=Views, compare=False)  # the document's; they outlive this snapshot
    refused: tuple[Refusal, ...] = ()  # by the compiler for this device
    elsewhere: Mapping[Slot, Rows] = field(default_factory=dict)  # on further devices, as far as it is known

    @property
    def is_current(self) -> bool:
        return self.analysis.document.serial == self.document.serial

    @property
    def device(self) -> Device:
        return self.analysis.device

    @property
    def is_device_here(self) -> bool:
        """Whether the device that is predicted for is in this machine, as far as was known when it was predicted."""
        return any(found.id == self.device.id for found in self.analysis.found)

    @property
    def can_run(self) -> bool:
        """Whether kernels can be measured: only then is it offered."""
        return self.trusted and self.is_device_here

    @property
    def may_run(self) -> bool:
        """Whether a command that measures may succeed; as long as no device is known, it waits for them."""
        return self.trusted and (self.is_device_here or not self.analysis.found)

    @property
    def shows_hints(self) -> bool:
        return self.settings.show_hints and not self.analysis.hints_off

    @property
    def kernels(self) -> tuple[KernelView, ...]:
        return self.views.of(
            self.analysis, self.measured, self.failures, self.compiled, self.elsewhere,
            shows_second=self.settings.second_device,
        )  # fmt: skip

    def offsets(self, where: SourceRange) -> tuple[int, int]:
        """Start and end of a range of the analysis, as offsets into the newest text."""
        before = self.analysis.document
        start, end = source_offsets(before.text, where)
        return self.document.moved(start, before.serial), self.document.moved(end, before.serial)

    def end(self, where: SourceRange) -> int:
        """Return the second of `offsets`, by itself."""
        before = self.analysis.document
        return self.document.moved(source_end(before.text, where), before.serial)

    def range(self, where: SourceRange) -> types.Range:
        start, end = self.offsets(where)
        return range_of(self.document.text, start, max(start, end), self.encoding)


def slots(found: FileForecast) -> Iterator[tuple[Kernel, tuple[tuple[Slot, Forecast], ...]]]:
    """Yield the launches of all kernels, each under the name it keeps while it is edited.

    Where `#ifdef`s, or several programs in one host file, leave two kernels of one name, each has its own: `add`,
    `add#2` and so on.
    """
    named: dict[str, list[Forecast]] = {}
    for forecast in found.forecasts:
        named.setdefault(forecast.kernel.name, []).append(forecast)
    met: Counter[str] = Counter()
    for kernel in found.kernels:
        met[kernel.name] += 1
        key = kernel.name if met[kernel.name] == 1 else f"{kernel.name}#{met[kernel.name]}"
        yield kernel, tuple(_slots(kernel, key, named.get(kernel.name, ())))


def slots_of(found: FileForecast, kernel: Kernel) -> tuple[tuple[Slot, Forecast], ...]:
    """Return the launches of one kernel, as `slots` has them."""
    return next((own for each, own in slots(found) if each is kernel), ())


def _slots(kernel: Kernel, key: str, named: Sequence[Forecast]) -> Iterator[tuple[Slot, Forecast]]:
    mine = named if len(named) == 1 else [f for f in named if f.kernel.range == kernel.range] or named
    for place, f in enumerate(mine):
        yield Slot(key, (f.launch.name if f.launch and f.launch.name else "") or f"#{place}"), f
