"""Occupancy against figures that the vendors' own calculators give, and the limits that users meet."""

from __future__ import annotations

import pytest

from model.compile_targets import TARGETS, UnknownTarget, target_named
from model.compiled_occupancy import KernelResources, Limiter, occupancy_of
from model.device_catalog import find_builtin
from model.gpu_targets import reference_device, target_of


@pytest.mark.parametrize(
    ("target", "registers", "local_bytes", "items", "percent", "limiter"),
    [
        # CUDA Occupancy Calculator
        ("sm_60", 32, 0, 256, 100.0, Limiter.NOTHING),
        ("sm_60", 40, 0, 256, 75.0, Limiter.REGISTERS),
        ("sm_90", 64, 0, 256, 50.0, Limiter.REGISTERS),
        ("sm_90", 16, 0, 32, 50.0, Limiter.WORK_GROUPS),
        ("sm_90", 32, 48 << 10, 256, 50.0, Limiter.LOCAL_MEMORY),
        ("sm_75", 64, 0, 1024, 100.0, Limiter.NOTHING),
        ("sm_86", 255, 0, 256, 16.7, Limiter.REGISTERS),
        ("sm_86", 32, 0, 1024, 66.7, Limiter.GROUP_SIZE),
        # AMD: waves in a SIMD by vector registers, from the tables of "Occupancy explained" and LLVM
        ("gfx906", 24, 0, 256, 100.0, Limiter.NOTHING),
        ("gfx906", 84, 0, 64, 30.0, Limiter.REGISTERS),
        ("gfx90a", 128, 0, 256, 50.0, Limiter.REGISTERS),
        ("gfx1100", 96, 0, 256, 100.0, Limiter.NOTHING),
        ("gfx1100", 192, 0, 256, 50.0, Limiter.REGISTERS),
    ],
)
def test_occupancy_is_the_vendors(
    target: str, registers: int, local_bytes: int, items: int, percent: float, limiter: Limiter
) -> None:
    found = occupancy_of(TARGETS[target], KernelResources(registers, local_bytes), items)
    assert (round(found.percent, 1), found.limiter) == (percent, limiter)


@pytest.mark.parametrize(
    ("target", "registers", "wave", "local_bytes", "items", "percent", "limiter"),
    [
        # Intel, "oneAPI GPU Optimization Guide": 8 threads in an execution unit with 128 registers each, 4 with 256
        ("dg2", 128, 32, 0, 256, 100.0, Limiter.NOTHING),
        ("dg2", 256, 32, 0, 256, 50.0, Limiter.REGISTERS),
        ("dg2", 128, 8, 0, 256, 100.0, Limiter.NOTHING),
        ("dg2", 128, 32, 24 << 10, 1024, 100.0, Limiter.NOTHING),
        ("dg2", 128, 32, 24 << 10, 256, 25.0, Limiter.LOCAL_MEMORY),  # 32 KiB are allotted
        ("dg2", 128, 32, 0, 32, 25.0, Limiter.WORK_GROUPS),
        ("tgllp", 128, 16, 0, 256, 100.0, Limiter.NOTHING),
        ("pvc", 256, 32, 0, 512, 50.0, Limiter.REGISTERS),
        # Arm, "Mali Offline Compiler User Guide": all threads up to 32 work registers, half of them above
        ("mali-g710", 32, 0, 0, 256, 100.0, Limiter.NOTHING),
        ("mali-g710", 33, 0, 0, 256, 50.0, Limiter.REGISTERS),
        ("mali-g76", 64, 0, 32 << 10, 64, 50.0, Limiter.REGISTERS),  # local memory is cached global memory
    ],
)
def test_occupancy_follows_the_work_items_of_a_thread_and_its_registers(
    target: str, registers: int, wave: int, local_bytes: int, items: int, percent: float, limiter: Limiter
) -> None:
    resources = KernelResources(registers, local_bytes, wave_size=wave)
    found = occupancy_of(target_named(target), resources, items)
    assert (round(found.percent, 1), found.limiter) == (percent, limiter)


@pytest.mark.parametrize(
    ("name", "target"), [("acm-g10", "dg2-g10"), ("DG2", "dg2-g10"), ("xe-hpc", "pvc"), ("adlp", "adl-p")]
)
def test_other_names_of_a_chip_lead_to_the_same_target(name: str, target: str) -> None:
    assert target_named(name).target == target


def test_scalar_registers_limit_the_waves_of_gcn() -> None:
    few = occupancy_of(TARGETS["gfx906"], KernelResources(16, 0, scalar_registers=32), 256)
    many = occupancy_of(TARGETS["gfx906"], KernelResources(16, 0, scalar_registers=102), 256)
    assert (few.percent, many.limiter) == (100.0, Limiter.REGISTERS)
    assert many.percent < 80


def test_more_local_memory_than_a_work_group_may_have_fits_nowhere() -> None:
    found = occupancy_of(TARGETS["sm_80"], KernelResources(32, 49 << 10), 128)
    assert (found.groups, found.limiter) == (0, Limiter.LOCAL_MEMORY)


@pytest.mark.parametrize(
    "target",
    ["sm_60", "sm_80", "sm_90", "sm_120", "gfx906", "gfx90a", "gfx942", "gfx1100", "dg2-g10", "pvc", "mali-g710"],
)
def test_a_targets_reference_is_a_device_of_that_target(target: str) -> None:
    device = find_builtin(reference_device(target))
    assert device is not None
    assert target_of(device) == target


def test_an_unknown_target_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownTarget, match=r"`sm_9`.*sm_90.*gfx1100"):
        target_named("sm_9")


@pytest.mark.parametrize(
    ("device_id", "target"),
    [
        ("nvidia-geforce-rtx-3060", "sm_86"),
        ("nvidia-l40s", "sm_89"),
        ("nvidia-a10", "sm_86"),
        ("generic-gpu", None),
        ("intel-arc-a310-graphics", "dg2-g11"),
        ("intel-arc-pro-b50-graphics", "bmg-g21"),
        ("intel-hd-graphics-4600", None),
        ("intel-arc-b390-graphics", None),
        ("arm-mali-t628", None),
    ],
)
def test_a_gpus_name_tells_its_target(device_id: str, target: str | None) -> None:
    device = find_builtin(device_id)
    assert device is not None
    assert target_of(device) == target
