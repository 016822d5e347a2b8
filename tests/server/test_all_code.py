"""What is known of kernels' code, for predictions by the analytical model alone."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import pytest

from model.compiled import CodeRegion, CompiledFacts
from model.device import Device
from model.device_catalog import find_builtin
from model.known_devices import find_builtin_by_name
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.program import read_program
from model.throughput.cpu_code import CpuCode
from server.analysis.compiled_code import AllCode

FACTS = CompiledFacts(
    "k", "", "", None, "generic-cpu", "", "", "2026-01-01", regions=(CodeRegion(0, 0, 1, ()),), kernel_lines=(0, 0)
)
LAUNCH = Launch((64,), (64,), (), ())


@pytest.fixture
def kernel() -> Kernel:
    return read_program("kernel void k() {}").kernels[0]


@pytest.fixture
def cpu() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def test_the_same_code_is_the_same_object(kernel: Kernel, cpu: Device) -> None:
    memory = Mock()
    code = AllCode(memory)
    memory.compiled.return_value = FACTS
    found = code.of(kernel, LAUNCH, cpu)
    memory.compiled.return_value = replace(FACTS)
    assert isinstance(found, CpuCode)
    assert found.facts == FACTS
    assert code.of(kernel, LAUNCH, cpu) is found
    memory.compiled.return_value = replace(FACTS, compiled_at="2026-01-02")
    assert code.of(kernel, LAUNCH, cpu) is not found


def test_code_without_lines_is_not_used(kernel: Kernel, cpu: Device) -> None:
    memory = Mock()
    memory.compiled.return_value = replace(FACTS, regions=())
    assert AllCode(memory).of(kernel, LAUNCH, cpu) is None
    memory.compiled.return_value = None
    assert AllCode(memory).of(kernel, LAUNCH, cpu) is None


def test_gpus_are_asked_about_as_ever(kernel: Kernel) -> None:
    gpu = find_builtin_by_name("NVIDIA A100-PCIE-40GB")
    assert gpu is not None
    memory = Mock()
    memory.compiled.return_value = None
    assert AllCode(memory).of(kernel, LAUNCH, gpu) is None
