"""Which compiler target a GPU has, and which known GPU stands for a target where a launch needs a device."""

from __future__ import annotations

import re

from model.compile_targets import TARGETS
from model.device import Device, DeviceType

# A well-known GPU of each target; source: NVIDIA, "CUDA GPUs"; AMD, "ROCm accelerator and GPU hardware specifications".
_REFERENCES = {
    "sm_60": "nvidia-tesla-p100-pcie-16gb", "sm_61": "nvidia-geforce-gtx-1080", "sm_70": "nvidia-tesla-v100-pcie-32gb",
    "sm_75": "nvidia-tesla-t4", "sm_80": "nvidia-a100-pcie-40gb", "sm_86": "nvidia-geforce-rtx-3080",
    "sm_89": "nvidia-geforce-rtx-4090", "sm_90": "nvidia-h100-80gb-hbm3", "sm_120": "nvidia-geforce-rtx-5090",
    "gfx803": "amd-radeon-rx-570", "gfx900": "amd-radeon-rx-vega-64", "gfx906": "amd-instinct-mi50",
    "gfx908": "amd-instinct-mi100", "gfx90a": "amd-instinct-mi210", "gfx942": "amd-instinct-mi300x",
    "gfx1030": "amd-radeon-rx-6800-xt", "gfx1100": "amd-radeon-rx-7900-xtx",
}  # fmt: skip
_GENERIC = "generic-gpu"

# By words in the names of NVIDIA's products; the first that matches.
_NVIDIAS = tuple(
    (re.compile(pattern, re.IGNORECASE), target)
    for pattern, target in (
        (r"\bG?H(?:100|200|800|20)\b", "sm_90"),
        (r"\bG?B(?:100|200)\b", "sm_100"),
        (r"\bG?B300\b", "sm_103"),
        (r"\bRTX (?:50\d\d|PRO .*Blackwell)", "sm_120"),
        (r"\bRTX 40\d\d|\bL(?:4|20|40S?)\b|\bAda\b", "sm_89"),
        (r"\bA(?:100|30|800)\b", "sm_80"),
        (r"\bRTX 30\d\d|\bA(?:2|10G?|16|40)\b|\bRTX A\d{4}\b|\bA\d000\b", "sm_86"),
        (r"\bRTX 20\d\d|\bGTX 16\d\d|\bT4\b|\bT\d{3,4}\b|Quadro RTX|Titan RTX", "sm_75"),
        (r"\bV100|Titan V\b", "sm_70"),
        (r"\bP100\b|\bGP100\b", "sm_60"),
        (r"\bGTX 10\d\d|\bGT 10\d\d|\bP4\b|\bP40\b|Titan Xp|Titan X \(Pascal\)|Quadro P\d+", "sm_61"),
        (r"\bGTX 9\d\d|\bM(?:4|6|40|60)\b|Titan X\b|Quadro M\d+", "sm_52"),
        (r"\bGTX 7[45]0\b", "sm_50"),
    )
)


def reference_device(target: str) -> str:
    """Return the id of a shipped device of that target, or of the generic GPU."""
    return _REFERENCES.get(target, _GENERIC)


def target_of(device: Device) -> str | None:
    """Return the target to compile for a GPU; None for other devices and where its name does not tell."""
    if device.type is not DeviceType.GPU:
        return None
    names = (device.name, *device.aliases)
    for name in names:  # AMD's drivers name the target itself
        found = re.search(r"\bgfx[0-9a-f]{3,4}\b", name)
        if found and found[0] in TARGETS:
            return found[0]
    by_reference = {device_id: target for target, device_id in _REFERENCES.items()}
    if device.id in by_reference:
        return by_reference[device.id]
    if "nvidia" not in f"{device.name} {device.platform}".lower():
        return None
    return next((target for pattern, target in _NVIDIAS if pattern.search(device.name)), None)
