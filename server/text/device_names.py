"""A device's name as people know it, without what drivers put around it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from model.device_names import platform_family

if TYPE_CHECKING:
    from model.device import Device

_TRADEMARK = re.compile(r"\s?(?:\((?:r|tm|c)\)|[®™])", re.IGNORECASE)
# PoCL puts the way in which it runs work-groups, and the target of its compiler, before the processor's name.
_POCL = re.compile(r"^(?:pthread|basic|cpu(?:-minimal)?(?:-[a-z0-9_]+)?)-(?=\S*[ A-Z])")
_RUNTIMES = {"pocl": "PoCL", "intel": "Intel's runtime", "oclgrind": "Oclgrind", "mesa": "Mesa"}


def shown_name(name: str) -> str:
    """Return `AMD EPYC (PoCL)` for `pthread-AMD EPYC`, `Intel Arc A770` for `Intel(R) Arc(TM) A770`."""
    plain = " ".join(_TRADEMARK.sub("", name).split())
    processor = _POCL.sub("", plain)
    return f"{processor} (PoCL)" if processor != plain else plain or name


def name_and_runtime(device: Device) -> str:
    """Return the name with the runtime where the same processor may have several: `AMD EPYC (Intel's runtime)`."""
    name = shown_name(device.name)
    runtime = _RUNTIMES.get(platform_family(device.platform)) if device.platform not in ("", "none") else None
    is_said = name.endswith(")") or (runtime or "").split("'")[0] in name
    return name if runtime is None or is_said else f"{name} ({runtime})"
