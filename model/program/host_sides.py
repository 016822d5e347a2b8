"""What transfers and calls cost on a device: measured by a calibration, else assumed from what is usual."""

from __future__ import annotations

import math
from dataclasses import dataclass

from model.device import Device, DeviceType
from model.device_curves import HostSide, TransferPoint
from model.device_names import platform_family
from model.host_cost import host_cost_us
from model.program.command import Command, CommandKind

# What memory and bus take [GB/s]. Write, read: medians over the devices of one kind of driver in clpeak's
# public results (krrishnarraj/clpeak, Apache-2.0), which transfer from memory that the driver did not allocate; in
# brackets how many there are.
_USUAL_GB_S = {
    "nvidia": (6.2, 6.5),  # [29]
    "amd": (8.5, 5.5),  # [24]
    "intel": (7.6, 7.2),  # graphics [11]
    "apple": (8.3, 7.8),  # [4]
    "arm": (4.7, 2.7),  # [3]
    "qualcomm": (17.0, 8.7),  # [3]
    "moore threads": (5.8, 5.9),  # [1]
}
_OTHERS_GB_S = (6.0, 6.0)
_USUAL_OF_CPUS_GB_S = (10.7, 7.7)  # a copy in memory, by one thread [12]
# Pinned memory reaches what the bus does: 80 % of 16 lanes of PCIe, by the generation that the architecture came with.
_PCIE_5 = ("hopper", "blackwell", "cdna3", "cdna4")
_PCIE_4 = ("ampere", "ada", "cdna", "rdna", "intel-xe")
_PINNED_GB_S = {5: 50.0, 4: 25.0, 3: 12.5}
_LATENCY_US = {DeviceType.CPU: 1.0, DeviceType.GPU: 8.0, DeviceType.ACCELERATOR: 8.0}  # of a transfer of few bytes
_SIZES = (4096, 1 << 30)
_ENQUEUE_SHARE = 0.3  # of what the host waits beyond the device's time; the rest is split between start and end
_CPU_FIRST_GB_S = 2.0  # a page that is touched first: a quarter of a microsecond for each KiB, and the copy


_FIRST = {
    CommandKind.WRITE: "first write", CommandKind.CREATE: "first write", CommandKind.READ: "first read",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownHostSide:
    """`note` says what was assumed; "" for a calibrated device."""

    side: HostSide
    note: str = ""


def host_side_of(device: Device) -> KnownHostSide:
    """Return what was measured of the device, or else what is usual for its kind."""
    if device.rates.host_side is not None:
        return KnownHostSide(device.rates.host_side)
    waited_us = host_cost_us(device) or 10.0
    side = HostSide(
        enqueue_us=_ENQUEUE_SHARE * waited_us,
        start_us=(1 + _ENQUEUE_SHARE) / 2 * waited_us,
        between_us=1.0,
        finish_us=(1 - _ENQUEUE_SHARE) / 2 * waited_us,
        transfers=tuple(_assumed(device)),
    )
    if is_unified(device):
        why = "a copy in memory that host and device share"
    else:
        why = f"PCIe {_pcie(device)}.0 with 16 lanes for pinned memory, clpeak's median for other"
    return KnownHostSide(
        side,
        f"transfers to `{device.id}` and the cost of calls are assumed ({why}); `kernelcast calibrate` measures them",
    )


def transfer_us(side: HostSide, command: Command) -> float:
    """Return what a transfer takes on its engine [us], by its kind and size."""
    if command.is_first and command.kind in _FIRST:
        found = _points(side, _FIRST[command.kind], is_pinned=False)
        if found:
            return _at(found, command.size_bytes)
    kind = {CommandKind.CREATE: "write", CommandKind.FILL: "copy"}.get(command.kind, command.kind.word)
    found = _points(side, kind, command.is_pinned) or _points(side, kind, not command.is_pinned)
    return _at(found, command.size_bytes) if found else 0.0


def is_unified(device: Device) -> bool:
    """Return whether host and device share one memory."""
    if device.type is DeviceType.CPU or platform_family(device.platform) in {"apple", "arm", "qualcomm"}:
        return True
    return device.architecture.startswith(("intel-gen", "intel-xe-lp", "ampere-orin")) or "APU" in device.name


def engine_of(device: Device, command: Command) -> str:
    """Return the name of the engine that runs a command.

    A CPU copies with the threads that run its kernels. GPUs with a memory of their own copy in both directions while a
    kernel runs.
    """
    if not is_unified(device) and command.kind in {CommandKind.WRITE, CommandKind.UNMAP}:
        return "to the device"
    if not is_unified(device) and command.kind in {CommandKind.READ, CommandKind.MAP}:
        return "from the device"
    return "kernels"


def _assumed(device: Device) -> list[TransferPoint]:
    write_gb_s, read_gb_s = _USUAL_GB_S.get(platform_family(device.platform), _OTHERS_GB_S)
    if device.type is DeviceType.CPU:
        write_gb_s, read_gb_s = _USUAL_OF_CPUS_GB_S
    copy_gb_s = max((point.copy_gb_s or point.read_gb_s for point in device.rates.bandwidth[-1:]), default=10.0) / 2
    pinned_gb_s = max(write_gb_s, read_gb_s) if is_unified(device) else _PINNED_GB_S[_pcie(device)]
    rates = {
        ("write", False): write_gb_s,
        ("write", True): pinned_gb_s,
        ("read", False): read_gb_s,
        ("read", True): pinned_gb_s,
        ("copy", False): copy_gb_s,
        ("map", False): math.inf if is_unified(device) else read_gb_s,
        ("map", True): math.inf if is_unified(device) else pinned_gb_s,
    }
    if device.type is DeviceType.CPU:
        rates["first write", False] = rates["first read", False] = _CPU_FIRST_GB_S
    latency_us = _LATENCY_US[device.type]
    return [
        TransferPoint(kind, pinned, size, latency_us + size / rate / 1e3)
        for (kind, pinned), rate in rates.items()
        for size in _SIZES
    ]


def _pcie(device: Device) -> int:
    if device.architecture.startswith(_PCIE_5):
        return 5
    return 4 if device.architecture.startswith(_PCIE_4) else 3


def _points(side: HostSide, kind: str, is_pinned: bool) -> list[TransferPoint]:
    return [point for point in side.transfers if point.kind == kind and point.is_pinned is is_pinned]


def _at(points: list[TransferPoint], size_bytes: int) -> float:
    """Return the time at a size: straight lines between the points, the nearest line's slope beyond the last [us].

    Below the first point a transfer takes what that one does: it is nearly all latency.
    """
    if size_bytes <= points[0].size_bytes or len(points) == 1:
        return points[0].transfer_us
    upper = next((n for n, point in enumerate(points) if point.size_bytes >= size_bytes), len(points) - 1)
    low, high = points[upper - 1], points[upper]
    slope = (high.transfer_us - low.transfer_us) / (high.size_bytes - low.size_bytes)
    return max(0.0, low.transfer_us + slope * (size_bytes - low.size_bytes))
