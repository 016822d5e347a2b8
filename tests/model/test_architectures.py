"""What a core of each architecture holds is known for every known device, and plausible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.architectures import Architecture, architecture_named, architecture_of, architectures
from model.device import Device, DeviceType
from model.device_catalog import builtin_devices, find_builtin

GPUS = [device for device in builtin_devices() if device.type is DeviceType.GPU]
TABLE = sorted(architectures().values(), key=lambda architecture: architecture.name)


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("GeForce GTX 1080", "pascal"),
        ("GeForce GTX 750", "maxwell"),
        ("GeForce GT 750M", "kepler"),
        ("NVIDIA TITAN X (Pascal)", "pascal"),
        ("Tesla K20c", "kepler-gk110"),
        ("NVIDIA H100 80GB HBM3", "hopper"),
        ("NVIDIA A100-SXM4-40GB", "ampere-ga100"),
        ("NVIDIA RTX A6000", "ampere"),
        ("Quadro RTX 6000", "turing"),
        ("NVIDIA RTX 6000 Ada Generation", "ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "blackwell"),
        ("NVIDIA B200", "blackwell-gb100"),
        ("AMD Radeon R9 Fury X", "gcn"),
        ("AMD Radeon R7 Graphics (A10-7850K)", "gcn"),
        ("AMD Radeon RX 580", "gcn"),
        ("AMD Radeon RX 5700 XT", "rdna"),
        ("AMD Radeon RX 9070 XT", "rdna4"),
        ("gfx90a:sramecc+:xnack-", "cdna2"),
        ("gfx1103", "rdna3-small"),
        ("Intel(R) Arc(TM) B580 Graphics", "intel-xe2"),
        ("Intel(R) UHD Graphics 620", "intel-gen9"),
        ("Apple M4 Max", "apple-m3"),
        ("Mali-T628", "mali-midgard"),
        ("Mali-G710", "mali-valhall-csf"),
        ("QUALCOMM Adreno(TM) 740", "adreno-7"),
        ("A device of a maker nobody knows", ""),
    ],
)
def test_a_name_tells_the_architecture(name: str, architecture: str) -> None:
    assert architecture_named(name) == architecture


@pytest.mark.parametrize("device", GPUS, ids=lambda device: device.id)
def test_every_known_gpu_has_an_architecture_of_its_own(device: Device) -> None:
    if device.id == "generic-gpu":
        assert architecture_of(device).name == "generic"
    else:
        assert not architecture_of(device).name.startswith("generic")


@pytest.mark.parametrize(
    ("name", "platform", "architecture"),
    [
        ("NVIDIA Something New", "NVIDIA CUDA", "generic-nvidia"),
        ("AMD Radeon Graphics", "rusticl", "generic-amd"),
        ("Intel(R) Graphics [0xffff]", "Intel(R) OpenCL Graphics", "generic-intel"),
        ("QUALCOMM Adreno(TM)", "QUALCOMM Snapdragon(TM)", "generic-qualcomm"),
        ("An accelerator", "A platform", "generic"),
    ],
)
def test_an_unknown_gpu_takes_the_generic_architecture_of_its_vendor(
    name: str, platform: str, architecture: str
) -> None:
    known = find_builtin("generic-gpu")
    assert known is not None
    assert architecture_of(replace(known, name=name, platform=platform)).name == architecture


@pytest.mark.parametrize("architecture", TABLE, ids=lambda architecture: architecture.name)
def test_farther_memory_answers_later_and_limits_fit_together(architecture: Architecture) -> None:
    a = architecture
    assert 0 < a.fma_latency_cycles < a.load_latency_l1_cycles <= a.load_latency_l2_cycles <= a.load_latency_dram_cycles
    if a.load_latency_l3_cycles:
        assert a.load_latency_l2_cycles < a.load_latency_l3_cycles < a.load_latency_dram_cycles
    assert a.local_latency_cycles < a.load_latency_l2_cycles
    assert a.max_items_per_core % a.warp_width == 0
    # A full core leaves each of its work-items a few registers, and one item alone does not need them all.
    assert a.registers_per_core / a.max_items_per_core >= 8
    assert a.max_registers_per_item * a.warp_width <= a.registers_per_core
    assert 0 < a.int32_share <= 1
    assert a.source
    assert a.l1_bytes > 0 or a.load_latency_l1_cycles == a.load_latency_l2_cycles
