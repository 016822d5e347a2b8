"""A device in numbers."""

from __future__ import annotations

import math
from functools import lru_cache

from model.device import Device, DeviceType

DEVICE_FACT_NAMES = ("is_gpu", "compute_units", "fp32_gflop_s", "calibrated")


@lru_cache(maxsize=256)
def device_facts(device: Device) -> tuple[float, ...]:
    """In the order of DEVICE_FACT_NAMES."""
    return (
        float(device.type is DeviceType.GPU),
        math.log2(max(1, device.compute_units)),
        math.log2(max(device.rates.fp32_gflop_s, 1e-3)),
        float(device.calibrated),
    )
