"""Occupancy: which share of the waves that a core can hold are there, and which resource keeps others out.

Source: NVIDIA, "CUDA Occupancy Calculator" (`cuda_occupancy.h`); AMD, "Occupancy explained", GPUOpen 2022;
Intel, "GPU Occupancy Calculator" and "oneAPI GPU Optimization Guide", thread mapping and occupancy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING

from model.compile_targets import TARGETS, CompileTarget, Vendor
from model.gpu_targets import target_of
from model.launch.driver_choice import effective_local_size

if TYPE_CHECKING:
    from model.compiled import CompiledFacts
    from model.device import Device
    from model.launch.launch import Launch
    from model.opencl.kernel import Kernel

# Scalar registers of GCN come out of 800 for each SIMD, 16 at a time, so that more than 80 leave room for fewer waves.
_SCALAR_REGISTERS, _SCALAR_GRANULARITY = 800, 16


class Limiter(StrEnum):
    """What keeps more work-groups from a core."""

    NOTHING = "nothing"  # the core is full
    REGISTERS = "registers"
    LOCAL_MEMORY = "local memory"
    WORK_GROUPS = "work-groups"  # as many as a core can hold
    GROUP_SIZE = "group size"  # the waves of one more group find no place


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`waves` of `max_waves` are resident in a core, in `groups` work-groups; none if a group does not fit at all."""

    groups: int
    waves: int
    max_waves: int
    limiter: Limiter

    @property
    def percent(self) -> float:
        return 100.0 * self.waves / self.max_waves


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What a compiler allots to a kernel; local memory includes what a launch passes as local arguments."""

    registers: int  # of a work-item; of a hardware thread on Intel's GPUs
    local_mem_bytes: int  # of a work-group
    scalar_registers: int = 0  # of a wave, AMD only
    wave_size: int = 0  # work-items of a wave, where the compiler chose; 0: the target's


@dataclass(frozen=True, slots=True)
class OfflineFacts:
    """What a GPU's compiler adds to the inputs of a prediction; exact, where the source allows an estimate only.

    Registers (of 32 bits), private memory and spills are of a work-item. Each byte spilled is stored and loaded once at
    least; private memory contains what is spilled. Local memory is of a work-group, with what the launch passes.
    """

    target: str
    registers: int
    spill_bytes: int
    private_mem_bytes: int
    local_mem_bytes: int
    occupancy: Occupancy

    @property
    def array_bytes(self) -> int:
        """Private arrays that are in memory: no registers hold them."""
        return max(0, self.private_mem_bytes - self.spill_bytes)


def occupancy_of(target: CompileTarget, resources: KernelResources, work_items: int) -> Occupancy:
    """Return the occupancy of a core with work-groups of `work_items`.

    The limiter is the resource that admits the fewest groups; of several, the first in the order of `Limiter`.
    """
    waves_per_group = max(1, -(-work_items // (resources.wave_size or target.wave_size)))
    by_waves = target.waves_per_core // waves_per_group
    by_registers = _waves_by_registers(target, resources) // waves_per_group
    by_local = _groups_by_local_memory(target, resources.local_mem_bytes)
    group_limit = target.groups_per_core
    if target.vendor is Vendor.AMD and waves_per_group == 1:
        group_limit = target.waves_per_core  # such groups need none of the places at barriers
    admitted = {
        Limiter.REGISTERS: by_registers,
        Limiter.LOCAL_MEMORY: by_local,
        Limiter.WORK_GROUPS: group_limit,
        Limiter.GROUP_SIZE: by_waves,
    }
    groups = min(admitted.values())
    waves = groups * waves_per_group
    limiter = next(each for each, count in admitted.items() if count == groups)
    if waves == target.waves_per_core:
        limiter = Limiter.NOTHING
    return Occupancy(groups, waves, target.waves_per_core, limiter)


def offline_facts(
    facts: CompiledFacts, kernel: Kernel, launch: Launch, device: Device | None = None
) -> OfflineFacts | None:
    """Return what a prediction of a launch on a GPU can use of the compiled kernel.

    None if its registers are not known, or the limits of the cores: of a target by its name, else of `device`.
    """
    named = target_of(device) if device is not None else None
    target = TARGETS.get(facts.device_id) or TARGETS.get(named or "")
    if facts.registers is None or target is None:
        return None
    local = (facts.local_mem_bytes or 0) + sum(size for _, size in launch.local_bytes)
    wave_size = (facts.sub_group_size or 0) if target.vendor is Vendor.INTEL else 0
    resources = KernelResources(facts.registers, local, facts.scalar_registers or 0, wave_size)
    occupancy = occupancy_of(target, resources, prod(effective_local_size(launch, kernel)))
    spilled, private = facts.spill_bytes or 0, facts.private_mem_bytes or 0
    return OfflineFacts(target.target, _registers_of_item(target, resources), spilled, private, local, occupancy)


def _registers_of_item(target: CompileTarget, resources: KernelResources) -> int:
    """Return 32-bit registers of a work-item; on Intel's GPUs a thread's work-items share its wider registers."""
    if target.vendor is not Vendor.INTEL:
        return resources.registers
    return resources.registers * target.register_words // (resources.wave_size or target.wave_size)


def _waves_by_registers(target: CompileTarget, resources: KernelResources) -> int:
    granularity = target.register_granularity
    allotted = max(granularity, -(-resources.registers // granularity) * granularity)
    waves = target.registers_per_partition // allotted
    is_gcn = target.vendor is Vendor.AMD and target.wave_size == 64
    if is_gcn and resources.scalar_registers > 0:
        scalars = -(-resources.scalar_registers // _SCALAR_GRANULARITY) * _SCALAR_GRANULARITY
        waves = min(waves, _SCALAR_REGISTERS // scalars)
    return waves * target.partitions


def _groups_by_local_memory(target: CompileTarget, local_mem_bytes: int) -> int:
    needed = local_mem_bytes + target.reserved_local_bytes
    if local_mem_bytes > target.local_bytes_per_group:
        return 0
    if needed == 0:
        return target.waves_per_core
    if target.local_sizes_bytes:
        return target.local_bytes_per_core // next(size for size in target.local_sizes_bytes if size >= needed)
    unit = target.local_granularity_bytes
    return target.local_bytes_per_core // (-(-needed // unit) * unit)
