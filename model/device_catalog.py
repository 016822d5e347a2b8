"""Known devices: one JSON each in `model/devices`, readable by people, units in its keys."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources

from cattrs import Converter

from model.device import Device


@lru_cache(maxsize=1)
def builtin_devices() -> tuple[Device, ...]:
    """All profiles that ship with Kernelcast, by id."""
    files = (f for f in resources.files("model").joinpath("devices").iterdir() if f.name.endswith(".json"))
    return tuple(sorted((device_from_json(f.read_text("utf-8")) for f in files), key=lambda device: device.id))


def find_builtin(device_id: str) -> Device | None:
    """The shipped profile with exactly this id."""
    return next((device for device in builtin_devices() if device.id == device_id), None)


def find_builtin_by_name(name: str) -> Device | None:
    """The shipped profile of the chip that a driver calls `name` ("Tesla T4", "NVIDIA H100 80GB HBM3")."""
    return next((device for device in builtin_devices() if device.name.lower() == name.strip().lower()), None)


def device_to_json(device: Device) -> str:
    """Indented JSON with the fields of `Device` as keys; `device_from_json` reads it back unchanged."""
    text = json.dumps(_CONVERTER.unstructure(device), indent=2, ensure_ascii=False)
    # A point of a curve reads better on one line.
    return re.sub(r"\{\s+([^{}]*?)\s+\}", lambda m: "{" + re.sub(r"\s*\n\s*", " ", m[1]) + "}", text) + "\n"


def device_from_json(text: str) -> Device:
    """Reads what `device_to_json` wrote. Raises `json.JSONDecodeError` or a cattrs error for anything else."""
    return _CONVERTER.structure(json.loads(text), Device)


def slug(*words: str) -> str:
    """An id from names: lower case, words joined by single dashes, trademark signs dropped."""
    text = re.sub(r"\((?:r|tm|c)\)|[®™]", " ", " ".join(words).lower())
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "device"


_CONVERTER = Converter()
