"""Compiled facts of kernels: from the device's own driver, else from the offline compilers for its target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cachetools import LRUCache

from model.compile_targets import TARGETS
from model.compiled import CompiledFacts, FactsKey, key_of
from model.compiled_occupancy import OfflineFacts, offline_facts
from model.device import Device, DeviceType
from model.gpu_targets import target_of
from model.throughput.cpu_code import CpuCode, KnownCode
from profiler.measurement import MeasureError

if TYPE_CHECKING:
    from model.launch.launch import Launch
    from model.opencl.kernel import Kernel
    from server.analysis.store_cache import StoreCache

Session = Mapping[str, Mapping[FactsKey, CompiledFacts]]  # what was compiled since the start, by device


class OfflineTargets:
    """Under which id and version the store keeps what the offline compilers made; they are asked once a target."""

    def __init__(self) -> None:
        self._drivers: dict[str, str | None] = {}
        self._last: tuple[Device | None, Device | None] = (None, None)  # a file's kernels ask for the same

    def stand_in(self, device: Device) -> Device | None:
        """Return `device` with its target for an id; None without a target or where nothing can compile for it."""
        if self._last[0] is not device:
            self._last = device, self._made(device)
        return self._last[1]

    def _made(self, device: Device) -> Device | None:
        target = target_of(device)
        if target is None:
            return None
        if target not in self._drivers:
            self._drivers[target] = _driver(target)
        driver = self._drivers[target]
        return replace(device, id=target, driver=driver) if driver is not None else None


class GpuCode:
    """Knows the code of kernels on GPUs, as far as the store or this session has it. Nothing is compiled here."""

    def __init__(self, memory: StoreCache, session: Session | None = None) -> None:
        self._memory = memory
        self._targets = OfflineTargets()
        self.session = session or {}

    def of(self, kernel: Kernel, launch: Launch, device: Device) -> OfflineFacts | None:
        """Return what the prediction of a launch can use."""
        if device.type is not DeviceType.GPU:
            return None
        facts = self.newest(kernel, launch, device) or self.kept(kernel, launch, device)
        return offline_facts(facts, kernel, launch, device) if facts is not None else None

    def newest(self, kernel: Kernel, launch: Launch, device: Device) -> CompiledFacts | None:
        """Return what was compiled in this session."""
        newest = self.session.get(device.id)
        return newest.get(key_of(kernel, launch, device.id)) if newest else None

    def kept(self, kernel: Kernel, launch: Launch, device: Device) -> CompiledFacts | None:
        """Return what the store has; what the device's own driver made comes first."""
        own = self._memory.compiled(kernel, launch, device)
        if own is not None or device.type is not DeviceType.GPU:
            return own
        offline = self._targets.stand_in(device)
        return self._memory.compiled(kernel, launch, offline) if offline is not None else None


def _driver(target: str) -> str | None:
    from profiler.offline.compiling import offline_driver  # noqa: PLC0415  only where a GPU is chosen

    try:
        return offline_driver(TARGETS[target])
    except MeasureError:  # not installed, most likely: `kernelcast doctor` says so
        return None


_KEPT = 256  # kernels, with all their code


class AllCode:
    """Finds what the store holds of compiled kernels: GPUs' facts as `GpuCode` does, and CPUs' machine code.

    Pricing machine code takes milliseconds, which predictions by the learned model need not wait for.
    """

    def __init__(self, memory: StoreCache) -> None:
        self._gpus = GpuCode(memory)
        self._kept: LRUCache[tuple[FactsKey, str, str, tuple[int, int] | None], CpuCode] = LRUCache(_KEPT)

    def of(self, kernel: Kernel, launch: Launch, device: Device) -> KnownCode | None:
        """Return what the prediction of a launch can use."""
        if device.type is not DeviceType.CPU:
            return self._gpus.of(kernel, launch, device)
        facts = self._gpus.kept(kernel, launch, device)
        if facts is None or not facts.regions:
            return None
        key = key_of(kernel, launch, device.id), device.id, facts.compiled_at, facts.kernel_lines
        if key not in self._kept:
            self._kept[key] = CpuCode(facts)
        return self._kept[key]
