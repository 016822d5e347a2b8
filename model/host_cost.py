"""What the host waits beyond the device's own time: from enqueueing a kernel to its start, as drivers have it.

A kernel's event says what the device spends (`Rates.launch_floor_us` for an empty kernel); a host that enqueues it and
waits sees more (`Rates.launch_wall_us`). Calibration measures the latter. Elsewhere it is the sum of the former and of
clpeak's kernel launch latency [us]: from enqueueing to the start. Noticing the end comes on top and is in no public
table, so these are rather too low.
"""

from __future__ import annotations

from model.architectures import architecture_named
from model.device import Device
from model.device_names import platform_family

# Medians of clpeak's public results (krrishnarraj/clpeak, Apache-2.0) over the devices of one kind of driver; the
# middle half of each lies within a factor of 1.5, but for AMD's older drivers (2.5). In brackets how many there are.
_USUAL_US = {
    "nvidia": 5.2,  # Linux [25]
    "nvidia, windows": 25.0,  # [3]
    "amd": 11.6,  # ROCm [7]
    "amd, legacy": 44.0,  # drivers for TeraScale and GCN before Vega [12]
    "intel": 34.0,  # Linux [3]
    "apple": 37.0,  # [3]
    "arm": 180.0,  # Android and Linux [4]
    "qualcomm": 290.0,  # Android [3]
    "moore threads": 48.0,  # [1]
}
# PoCL: the middle of clpeak's results on desktop processors and of our calibrations, 6 on one core and 40 on four; with
# 64 cores and more it takes 75 to 180. Intel: clpeak has 2 to 9, our calibrations 5 and 9. AMD: clpeak's median [4].
_USUAL_OF_CPUS_US = {"pocl": 25.0, "intel": 5.0, "amd": 9.5}
_OTHERS_US, _OTHER_CPUS_US = 30.0, 10.0
_LEGACY = frozenset({"terascale", "gcn"})


def host_launch_us(platform: str, name: str = "", system: str = "linux", *, is_cpu: bool = False) -> float:
    """Return the usual time [us] from enqueueing a kernel to its start, by the device's driver and operating system.

    `system` is as in `sys.platform`.
    """
    family = platform_family(platform)
    if is_cpu:
        return _USUAL_OF_CPUS_US.get(family, _OTHER_CPUS_US)
    kind = family
    if family == "nvidia" and system.startswith("win"):
        kind = "nvidia, windows"
    if family == "amd" and architecture_named(name) in _LEGACY:
        kind = "amd, legacy"
    return _USUAL_US.get(kind, _OTHERS_US)


def host_cost_us(device: Device) -> float:
    """Return what the host waits for a launch on `device` beyond the device's own time [us]; 0 if that is unknown."""
    return max(0.0, device.rates.launch_wall_us - device.rates.launch_floor_us)
