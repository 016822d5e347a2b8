"""GPUs that the system sees and no OpenCL driver serves, and what to install for them. Opens no device."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from model.device import Device, DeviceType
from profiler.process.drivers import NVIDIAS_LIBRARY, has_nvidias_kernel_driver, library_in

_PCI_VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
_DISPLAY_CLASS = "0x03"  # of PCI: VGA, 3D and other display controllers; a GPU without outputs is a 3D controller
_WORDS = {"NVIDIA": ("nvidia",), "AMD": ("amd", "advanced micro", "radeon"), "Intel": ("intel",)}
_NVIDIAS_GPUS = Path("proc/driver/nvidia/gpus")


@dataclass(frozen=True, slots=True)
class UnservedGpu:
    """A vendor's GPU without an OpenCL device. `seen` says by what it was found, `mend` what to do."""

    vendor: str
    name: str
    seen: str
    mend: str

    @property
    def text(self) -> str:
        return f"{self.name or f'a GPU by {self.vendor}'} is in this machine ({self.seen}), and no OpenCL driver has it"


def unserved_gpus(found: Iterable[Device], root: Path = Path("/")) -> tuple[UnservedGpu, ...]:
    """Return a vendor's GPU where none of the OpenCL devices `found` is a GPU of that vendor; one for each vendor."""
    served = [f"{device.platform} {device.name}".lower() for device in found if device.type is DeviceType.GPU]
    return tuple(
        UnservedGpu(vendor, name, seen, _mend(vendor, root))
        for vendor, (name, seen) in _seen(root).items()
        if not any(word in text for text in served for word in _WORDS[vendor])
    )


def _seen(root: Path) -> dict[str, tuple[str, str]]:
    """Return the name, where it is known, and the place that shows the GPU, by vendor."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted((root / _NVIDIAS_GPUS).glob("*/information")):
        model = next((line for line in _text(file).splitlines() if line.startswith("Model:")), "")
        found.setdefault("NVIDIA", (model.partition(":")[2].strip(), "/proc/driver/nvidia"))
    if (root / "dev/nvidia0").exists():
        found.setdefault("NVIDIA", ("", "/dev/nvidia0"))
    # The PCI bus shows a GPU without a kernel driver, too; a container may show the cards alone.
    for folder in sorted((root / "sys/bus/pci/devices").glob("*")):
        if _text(folder / "class").startswith(_DISPLAY_CLASS):
            _note(found, folder, f"PCI {folder.name}")
    for folder in sorted((root / "sys/class/drm").glob("card[0-9]*/device")):
        _note(found, folder, f"/sys/class/drm/{folder.parent.name}")
    if (root / "dev/kfd").exists():
        found.setdefault("AMD", ("", "/dev/kfd"))
    return found


def _note(found: dict[str, tuple[str, str]], folder: Path, seen: str) -> None:
    vendor = _PCI_VENDORS.get(_text(folder / "vendor").strip())
    if vendor is not None:
        found.setdefault(vendor, ("", seen))


def _mend(vendor: str, root: Path) -> str:
    match vendor:
        case "NVIDIA":
            return _nvidias(root)
        case "AMD":
            closed = _closed(root, ["dev/kfd"])
            return closed or (
                "install ROCm's OpenCL runtime (rocm-opencl-runtime, on Debian and Ubuntu also rocm-opencl-icd), or "
                "Mesa's (mesa-opencl-icd) and set RUSTICL_ENABLE=radeonsi"
            )
        case _:
            closed = _closed(root, sorted(f"dev/dri/{file.name}" for file in (root / "dev/dri").glob("renderD*")))
            return closed or "install Intel's OpenCL driver for GPUs (intel-opencl-icd, or intel-compute-runtime)"


def _nvidias(root: Path) -> str:
    if not has_nvidias_kernel_driver(root):
        return (
            "install NVIDIA's driver with its OpenCL library (Debian: nvidia-driver and nvidia-opencl-icd), or start "
            "the container with its GPUs (docker run --gpus all)"
        )
    library = library_in(root)
    if library is None:
        return (
            f"NVIDIA's kernel driver is loaded, and its OpenCL library {NVIDIAS_LIBRARY} is missing: install the one "
            "of the same version (Debian: nvidia-opencl-icd, Ubuntu: libnvidia-compute-VERSION); in a container set "
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility when it is started"
        )
    chosen = os.environ.get("OCL_ICD_VENDORS")
    if chosen:
        return (
            f"{library} is there, and OCL_ICD_VENDORS={chosen} leads the loader elsewhere: unset it, or write the "
            f"library's path into a file {chosen.rstrip('/')}/nvidia.icd"
        )
    return (
        f"{library} is there and finds no device: see what `nvidia-smi` says, and that the library is as new as the "
        "kernel driver"
    )


def _closed(root: Path, files: list[str]) -> str:
    """Say so where a device file is there and the user may not open it; else an empty text."""
    for file in files:
        path = root / file
        if path.exists() and not os.access(path, os.R_OK | os.W_OK):
            return f"you may not open /{file}: add your user to the group that owns it (render or video), log in anew"
    return ""


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
