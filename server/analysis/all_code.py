"""Compiled facts of kernels on CPUs and GPUs, for predictions by the analytical model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cachetools import LRUCache

from model.compiled import FactsKey, key_of
from model.device import Device, DeviceType
from model.throughput.cpu_code import CpuCode, KnownCode
from server.analysis.offline_targets import GpuCode

if TYPE_CHECKING:
    from model.launch.launch import Launch
    from model.opencl.kernel import Kernel
    from server.analysis.store_cache import StoreCache

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
