"""What earlier sessions measured, read for the analysis thread without asking the disk at every keystroke."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cachetools import TTLCache

from model.compiled import CompiledFacts, FactsKey, key_of, moved_to
from model.device import Device
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.compiling import known_facts
from profiler.measurement import Measurement
from profiler.store import Store, StoredMeasurement, StoreError
from server.analysis.fits import Run

_FRESH_S = 10.0  # how long another editor's new measurement may stay unnoticed
PATIENCE_S = 0.2  # for a store that is locked: predictions do not wait for it
_KEPT = 4096
T = TypeVar("T")


class Memory:
    """A store that may be unusable, or partly so: `problem` says what is not remembered and why."""

    def __init__(self) -> None:
        self._unusable = ""
        self._left_out: TTLCache[str, None] = TTLCache(_KEPT, _FRESH_S)  # what it holds is read again as often
        self._ask_again_s = 0.0
        self._answers: TTLCache[tuple[str, ...], Measurement | None] = TTLCache(_KEPT, _FRESH_S)
        self._runs: TTLCache[tuple[str, str], tuple[Run, ...]] = TTLCache(_KEPT, _FRESH_S)
        self._compiled: TTLCache[tuple[FactsKey, str, str], CompiledFacts | None] = TTLCache(_KEPT, _FRESH_S)
        self._with_code: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(_KEPT, _FRESH_S)
        self._profiles: TTLCache[str, tuple[Device, ...]] = TTLCache(1, _FRESH_S)

    @property
    def problem(self) -> str:
        """A sentence or more for the user; "" if all is well."""
        return self._unusable or ". ".join(self._left_out)

    def profiles(self) -> tuple[Device, ...]:
        """Calibrated profiles."""
        if "all" not in self._profiles:
            none: tuple[Device, ...] = ()
            self._profiles["all"] = self._read(lambda store: store.profiles(), none)
        return self._profiles["all"]

    def runs(self, fingerprint: str, device_id: str) -> tuple[Run, ...]:
        """What was measured of exactly this kernel, the newest first; of each launch the newest alone."""
        key = (fingerprint, device_id)
        if key not in self._runs:
            none: tuple[StoredMeasurement, ...] = ()
            found = self._read(lambda store: store.measurements_of(fingerprint, device_id, newest_only=True), none)
            self._runs[key] = tuple(Run(each.measurement, each.launch) for each in found)
        return self._runs[key]

    def compiled(self, kernel: Kernel, launch: Launch, device: Device) -> CompiledFacts | None:
        """What was kept of this kernel's code. A kernel that was never compiled costs no look at the disk."""
        if kernel.fingerprint not in self._compiled_kernels(device):
            return None
        key = (key_of(kernel, launch, device.id), device.id, device.driver)
        if key not in self._compiled:
            self._compiled[key] = self._read(
                lambda store: known_facts(store, kernel, launch, device.id, device.driver), None
            )
        found = self._compiled[key]
        return moved_to(found, kernel) if found else None

    def _compiled_kernels(self, device: Device) -> frozenset[str]:
        key = (device.id, device.driver)
        if key not in self._with_code:
            none: frozenset[str] = frozenset()
            self._with_code[key] = self._read(lambda store: store.compiled_kernels(*key), none)
        return self._with_code[key]

    def last(self, path: Path | None, kernel: str, device_id: str) -> Measurement | None:
        """The newest measurement of the kernel of that name in that file, whatever it looked like then."""
        if path is None:
            return None
        key = (str(path), kernel, device_id)
        if key not in self._answers:
            found = self._read(lambda store: store.latest_for_kernel(path, kernel, device_id), None)
            self._answers[key] = found.measurement if found else None
        return self._answers[key]

    def _read(self, read: Callable[[Store], T], otherwise: T) -> T:
        """Once it could not be read it is left alone for a while: every kernel of a file would wait for it."""
        if time.monotonic() < self._ask_again_s:
            return otherwise
        try:
            store = Store.open(busy_timeout_s=PATIENCE_S)
            found = read(store)
        except StoreError as error:
            self._unusable = f"Measurements are not remembered: {error.message}"
            self._ask_again_s = time.monotonic() + _FRESH_S
            return otherwise
        self._unusable = ""
        if store.left_out:
            self._left_out[store.left_out] = None
        return found
