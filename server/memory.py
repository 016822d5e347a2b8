"""What earlier sessions measured, read for the analysis thread without asking the disk at every keystroke."""

from __future__ import annotations

from pathlib import Path

from cachetools import TTLCache

from model.compiled import CompiledFacts, FactsKey, key_of, moved_to
from model.device import Device
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.compiling import known_facts
from profiler.measurement import Measurement
from profiler.store import Store, StoreError
from server.fits import Run

_FRESH_S = 10.0  # how long another editor's new measurement may stay unnoticed
_KEPT = 4096


class Memory:
    """A store that may be unusable: then nothing is remembered, and `problem` says why."""

    def __init__(self) -> None:
        self.problem = ""
        self._answers: TTLCache[tuple[str, ...], Measurement | None] = TTLCache(_KEPT, _FRESH_S)
        self._runs: TTLCache[tuple[str, str], tuple[Run, ...]] = TTLCache(_KEPT, _FRESH_S)
        self._compiled: TTLCache[tuple[FactsKey, str, str], CompiledFacts | None] = TTLCache(_KEPT, _FRESH_S)
        self._with_code: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(_KEPT, _FRESH_S)
        self._profiles: TTLCache[str, tuple[Device, ...]] = TTLCache(1, _FRESH_S)

    def profiles(self) -> tuple[Device, ...]:
        """Calibrated profiles."""
        if "all" not in self._profiles:
            try:
                self._profiles["all"] = Store.open().profiles()
            except StoreError as error:
                self._profiles["all"] = ()
                self.problem = error.message
        return self._profiles["all"]

    def runs(self, fingerprint: str, device_id: str) -> tuple[Run, ...]:
        """What was measured of exactly this kernel, the newest first; of each launch the newest alone."""
        key = (fingerprint, device_id)
        if key not in self._runs:
            try:
                found = Store.open().measurements_of(fingerprint, device_id, newest_only=True)
            except StoreError as error:
                found, self.problem = (), error.message
            self._runs[key] = tuple(Run(each.measurement, each.launch) for each in found)
        return self._runs[key]

    def compiled(self, kernel: Kernel, launch: Launch, device: Device) -> CompiledFacts | None:
        """What was kept of this kernel's code. A kernel that was never compiled costs no look at the disk."""
        if kernel.fingerprint not in self._compiled_kernels(device):
            return None
        key = (key_of(kernel, launch, device.id), device.id, device.driver)
        if key not in self._compiled:
            try:
                self._compiled[key] = known_facts(Store.open(), kernel, launch, device.id, device.driver)
            except StoreError as error:
                self._compiled[key], self.problem = None, error.message
        found = self._compiled[key]
        return moved_to(found, kernel) if found else None

    def _compiled_kernels(self, device: Device) -> frozenset[str]:
        key = (device.id, device.driver)
        if key not in self._with_code:
            try:
                self._with_code[key] = Store.open().compiled_kernels(*key)
            except StoreError as error:
                self._with_code[key], self.problem = frozenset(), error.message
        return self._with_code[key]

    def last(self, path: Path | None, kernel: str, device_id: str) -> Measurement | None:
        """The newest measurement of the kernel of that name in that file, whatever it looked like then."""
        if path is None:
            return None
        key = (str(path), kernel, device_id)
        if key not in self._answers:
            try:
                found = Store.open().latest_for_kernel(path, kernel, device_id)
            except StoreError as error:
                found, self.problem = None, error.message
            self._answers[key] = found.measurement if found else None
        return self._answers[key]
