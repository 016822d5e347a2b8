"""Which compiler target a GPU has, and which known GPU stands for a target where a launch needs a device."""

from __future__ import annotations

import re

from model.compile_targets import TARGETS
from model.device import Device, DeviceType

# A well-known GPU of each target; source: NVIDIA, "CUDA GPUs"; AMD, "ROCm accelerator and GPU hardware specifications";
# Intel, "GPU device IDs" (compute-runtime, `devices.inl`); Arm, "Arm GPU Datasheet".
_REFERENCES = {
    "sm_60": "nvidia-tesla-p100-pcie-16gb", "sm_61": "nvidia-geforce-gtx-1080", "sm_70": "nvidia-tesla-v100-pcie-32gb",
    "sm_75": "nvidia-tesla-t4", "sm_80": "nvidia-a100-pcie-40gb", "sm_86": "nvidia-geforce-rtx-3080",
    "sm_89": "nvidia-geforce-rtx-4090", "sm_90": "nvidia-h100-80gb-hbm3", "sm_120": "nvidia-geforce-rtx-5090",
    "gfx803": "amd-radeon-rx-570", "gfx900": "amd-radeon-rx-vega-64", "gfx906": "amd-instinct-mi50",
    "gfx908": "amd-instinct-mi100", "gfx90a": "amd-instinct-mi210", "gfx942": "amd-instinct-mi300x",
    "gfx1030": "amd-radeon-rx-6800-xt", "gfx1100": "amd-radeon-rx-7900-xtx",
    "skl": "intel-hd-graphics-530", "kbl": "intel-uhd-graphics-620", "cfl": "intel-uhd-graphics-630",
    "tgllp": "intel-iris-xe-graphics", "adl-s": "intel-uhd-graphics-770", "dg1": "intel-iris-xe-max-graphics",
    "dg2-g10": "intel-arc-a770-graphics", "dg2-g11": "intel-arc-a380-graphics", "mtl-h": "intel-arc-graphics",
    "pvc": "intel-data-center-gpu-max-1550", "lnl-m": "intel-arc-140v-gpu", "bmg-g21": "intel-arc-b580-graphics",
    "mali-g72": "arm-mali-g72", "mali-g76": "arm-mali-g76", "mali-g78": "arm-mali-g78", "mali-g610": "arm-mali-g610",
    "mali-g710": "arm-mali-g710", "mali-g715": "arm-mali-g715", "mali-g720": "arm-mali-g720",
    "immortalis-g925": "arm-mali-g925",
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

# By words in the names of Intel's products, without its trade marks; the first that matches.
_INTELS = tuple(
    (re.compile(pattern, re.IGNORECASE), target)
    for pattern, target in (
        (r"\bArc (?:Pro )?B(?:5[78]0|[56]0)\b", "bmg-g21"),
        (r"\bArc 1[34]0V\b", "lnl-m"),
        (r"\bGPU Max 1[15]\d0\b", "pvc"),
        (r"\bArc (?:A7[357]0M?|A580|A550M)\b|\bFlex 170\b", "dg2-g10"),
        (r"\bArc (?:A3[1-8]0M?|Pro A[345]0M?)\b|\bFlex 140\b", "dg2-g11"),
        (r"\bArc (?:A5[37]0M|Pro A60M?)\b", "dg2-g12"),
        (r"\bArc Graphics\b", "mtl-h"),
        (r"\bIris Xe MAX\b", "dg1"),
        (r"\bIris Xe\b", "tgllp"),
        (r"\bUHD Graphics 7[35]0\b", "rkl"),
        (r"\bUHD Graphics 7[17]0\b", "adl-s"),
        (r"\bIris Plus Graphics$", "icllp"),
        (r"\bUHD Graphics P?630\b", "cfl"),
        (r"\bU?HD Graphics 6[0-3]\d\b", "kbl"),
        (r"\bHD Graphics (?:P?5[0-3]\d)\b", "skl"),
    )
)
_ARMS = re.compile(r"\b(?:mali|immortalis)-g\d+\b")


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
    spoken = f"{device.name} {device.platform}".lower()
    if "nvidia" in spoken:
        return next((target for pattern, target in _NVIDIAS if pattern.search(device.name)), None)
    if "intel" in spoken:
        plain = re.sub(r"\((?:R|TM)\)", "", device.name)
        return next((target for pattern, target in _INTELS if pattern.search(plain)), None)
    named = (found[0] for name in names for found in _ARMS.finditer(name.lower()))
    return next((name for name in named if name in TARGETS), None)
