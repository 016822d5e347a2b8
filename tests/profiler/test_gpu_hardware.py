"""A GPU that no OpenCL driver serves is named, with what to install: seen in a system's files, of which these are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from profiler.devices import discover
from profiler.gpu_hardware import unserved_gpus
from profiler.process import drivers
from profiler.process.drivers import driver_environment

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Put a file into the system."""

    def put(name: str, text: str) -> None:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    return put


@pytest.fixture
def h100(write: Write) -> Device:
    write("proc/driver/nvidia/version", "NVRM version: 570.86")
    write("proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ: 1\n")
    device = find_builtin("nvidia-h100-80gb-hbm3")
    assert device is not None
    return device


def test_a_machine_without_gpus_has_nothing_to_mend(tmp_path: Path, write: Write) -> None:
    write("sys/class/drm/card0/device/vendor", "0x1af4\n")  # a virtual machine's screen
    assert unserved_gpus((), tmp_path) == ()


def test_a_gpu_that_has_its_driver_is_not_named(tmp_path: Path, h100: Device) -> None:
    assert unserved_gpus((h100,), tmp_path) == ()


def test_of_two_vendors_the_one_without_a_driver_is_named(tmp_path: Path, write: Write, h100: Device) -> None:
    write("sys/class/drm/card1/device/vendor", "0x8086\n")
    (gpu,) = unserved_gpus((h100,), tmp_path)
    assert gpu.vendor == "Intel"
    assert "intel-opencl-icd" in gpu.mend


def test_a_cpu_device_of_the_same_vendor_serves_no_gpu(tmp_path: Path, write: Write) -> None:
    write("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n")
    write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n")
    cpu = find_builtin("generic-cpu")
    assert cpu is not None
    (gpu,) = unserved_gpus((replace(cpu, platform="Intel(R) OpenCL"),), tmp_path)
    assert gpu.vendor == "Intel"


@pytest.mark.usefixtures("h100")
def test_nvidias_missing_library_is_named(tmp_path: Path) -> None:
    (gpu,) = unserved_gpus((), tmp_path)
    assert gpu.text.startswith("NVIDIA H100 80GB HBM3 is in this machine")
    assert "libnvidia-opencl.so.1 is missing" in gpu.mend


def test_a_card_without_a_kernel_driver_is_seen_on_the_bus(tmp_path: Path, write: Write) -> None:
    write("sys/bus/pci/devices/0000:18:00.0/class", "0x030200\n")  # a 3D controller, without a screen
    write("sys/bus/pci/devices/0000:18:00.0/vendor", "0x10de\n")
    write("sys/bus/pci/devices/0000:19:00.0/class", "0x020000\n")  # a network card by the same vendor
    write("sys/bus/pci/devices/0000:19:00.0/vendor", "0x10de\n")
    (gpu,) = unserved_gpus((), tmp_path)
    assert gpu.seen == "PCI 0000:18:00.0"
    assert "install NVIDIA's driver" in gpu.mend


@pytest.mark.usefixtures("h100")
def test_drivers_that_the_user_chose_without_nvidias_are_named(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("usr/lib64/libnvidia-opencl.so.1", "")
    monkeypatch.setenv("OCL_ICD_VENDORS", "/my/vendors")
    (gpu,) = unserved_gpus((), tmp_path)
    assert "unset it" in gpu.mend
    assert "/my/vendors/nvidia.icd" in gpu.mend


@pytest.fixture
def nvidia_in_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return its library: the kernel driver and the library are there, and no .icd file is."""
    library = tmp_path / "libnvidia-opencl.so.1"
    monkeypatch.setattr(drivers, "has_nvidias_kernel_driver", lambda root: True)
    monkeypatch.setattr(drivers, "SYSTEM_VENDORS", tmp_path / "system")
    monkeypatch.setattr(drivers, "library_in", lambda root: library)
    monkeypatch.setattr(drivers, "intels_library", lambda: None)
    return library


def test_nvidias_driver_without_its_icd_file_is_told_to_the_loader(tmp_path: Path, nvidia_in_a_container: Path) -> None:
    environment = driver_environment({}, tmp_path)
    assert (Path(environment["OCL_ICD_VENDORS"]) / "nvidia.icd").read_text().strip() == str(nvidia_in_a_container)
    assert "LD_LIBRARY_PATH" not in environment


@pytest.mark.usefixtures("nvidia_in_a_container")
def test_nvidias_driver_that_the_system_registers_is_left_to_it(tmp_path: Path, write: Write) -> None:
    write("system/nvidia.icd", "libnvidia-opencl.so.1\n")
    assert driver_environment({}, tmp_path) == {}


@pytest.mark.device
def test_naming_nvidias_driver_to_the_loader_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nvidia_in_a_container: Path
) -> None:
    for name in drivers.LOADER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert not nvidia_in_a_container.exists()  # so the loader cannot load it, and goes on
    assert "pocl" in {device.id for device in discover()}
