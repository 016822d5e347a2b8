"""Measurements and compiled facts of this session, and stored measurements of open documents."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from server.launch_view import Failure, Slot
from server.snapshot import Analysis, slots

if TYPE_CHECKING:
    from model.compiled import CompiledFacts, FactsKey
    from profiler.measurement import Measurement
    from server.analysis.sources import MeasuredLaunch

_NONE: Mapping[Any, Any] = {}  # always the same, so that views of it are
_RUNS_KEPT = 2000  # of this session; the store has the others
_FACTS_KEPT = 4096  # of a device's kernels; the store has the others


class SessionMeasurements:
    """Keeps measurements of this session, on the event loop. What is handed out is never changed, only replaced."""

    def __init__(self) -> None:
        self.runs: tuple[MeasuredLaunch, ...] = ()  # the newest last
        self._measurements: dict[tuple[str, str], Mapping[Slot, Measurement]] = {}  # by document and device
        self._failures: dict[tuple[str, str], Mapping[Slot, Failure]] = {}
        self._compiled: dict[str, Mapping[FactsKey, CompiledFacts]] = {}  # by device

    def measurements(self, uri: str, device_id: str) -> Mapping[Slot, Measurement]:
        return self._measurements.get((uri, device_id), _NONE)

    def failures(self, uri: str, device_id: str) -> Mapping[Slot, Failure]:
        return self._failures.get((uri, device_id), _NONE)

    def compiled(self, device_id: str) -> Mapping[FactsKey, CompiledFacts]:
        return self._compiled.get(device_id, _NONE)

    def all_compiled(self) -> dict[str, Mapping[FactsKey, CompiledFacts]]:
        """Return the compiled facts by device."""
        return dict(self._compiled)

    def record(self, uri: str, device_id: str, slot: Slot, outcome: Measurement | Failure) -> None:
        """Keep the outcome of a measurement, success or failure."""
        key = (uri, device_id)
        failures = {s: f for s, f in self.failures(*key).items() if s != slot}
        if isinstance(outcome, Failure):
            failures[slot] = outcome
        else:
            self._measurements[key] = {**self.measurements(*key), slot: outcome}
        self._failures[key] = failures

    def take_stored(self, analysis: Analysis) -> None:
        """Assign stored measurements to their launches, so that they go stale by the next edit."""
        stored = {(m.kernel, m.kernel_fingerprint, m.launch_key): m for m in analysis.stored}
        if not stored:
            return
        key = (analysis.document.uri, analysis.device.id)
        known = dict(self.measurements(*key))
        for kernel, own in slots(analysis.forecast):
            for slot, forecast in own:
                launch_key = forecast.launch.key if forecast.launch else ""
                found = stored.get((kernel.name, kernel.fingerprint, launch_key))
                last = known.get(slot)
                if found is not None and (last is None or last.measured_at <= found.measured_at):
                    known[slot] = found
        self._measurements[key] = known

    def add_runs(self, runs: Iterable[MeasuredLaunch]) -> None:
        self.runs = (*self.runs, *runs)[-_RUNS_KEPT:]

    def learn(self, device_id: str, facts: Mapping[FactsKey, CompiledFacts]) -> None:
        """Keep what a device's compiler made of kernels."""
        known = {**self.compiled(device_id), **facts}
        self._compiled[device_id] = dict(islice(known.items(), max(0, len(known) - _FACTS_KEPT), None))

    def forget(self, uri: str) -> None:
        """Drop the measurements of a document that was closed; the store has them."""
        for key in [key for key in self._measurements.keys() | self._failures.keys() if key[0] == uri]:
            self._measurements.pop(key, None)
            self._failures.pop(key, None)


@dataclass
class SavedVersions:
    """What each open document's launches were when it was opened or last saved, and the measurements under way.

    By document; a launch's version is the kernel's fingerprint and the launch's key.
    """

    versions: dict[str, dict[Slot, tuple[str, str]]] = field(default_factory=dict)
    under_way: dict[str, threading.Event] = field(default_factory=dict)

    def forget(self, uri: str) -> None:
        self.versions.pop(uri, None)
        cancel = self.under_way.pop(uri, None)
        if cancel is not None:
            cancel.set()
