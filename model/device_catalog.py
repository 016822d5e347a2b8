"""Known devices: one JSON each in `model/devices`, readable by people, units in its keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

from cattrs import Converter

from model.device import Device
from model.device_names import named


def builtin_devices() -> tuple[Device, ...]:
    """Return all profiles that ship with Kernelcast, by id. Reading them takes a moment: see `find_builtin`."""
    return tuple(_load(device_id) for device_id in _files())


def find_builtin(device_id: str) -> Device | None:
    """Return the shipped profile with exactly this id; reads that one alone."""
    return _load(device_id) if device_id in _files() else None


def builtin_ids() -> tuple[str, ...]:
    """Return the ids of all shipped profiles, without reading any."""
    return tuple(_files())


def named_builtins(name: str) -> tuple[Device, ...]:
    """Return the shipped profiles of what somebody calls `name`: one, or the boards of one chip. Reads those alone."""
    known = _names()
    ids = tuple(known)
    return tuple(_load(ids[place]) for place in named(name, [known[each] for each in ids]))


def well_known_devices() -> tuple[Device, ...]:
    """Return a choice of those that people compare with: few enough to be read in one table."""
    return tuple(device for device_id in sorted(_WELL_KNOWN) if (device := find_builtin(device_id)) is not None)


def builtin_texts() -> Mapping[str, str]:
    """Return the JSON of each shipped profile by its id, for searching without reading them all as devices."""
    return {device_id: file.read_text("utf-8") for device_id, file in _files().items()}


def device_to_json(device: Device, *, brief: bool = False) -> str:
    """Indented JSON with the fields of `Device` as keys; `device_from_json` reads it back unchanged.

    `brief` leaves out what has its default.
    """
    text = json.dumps((_BRIEF if brief else _CONVERTER).unstructure(device), indent=2, ensure_ascii=False)
    # A point of a curve reads better on one line.
    return re.sub(r"\{\s+([^{}]*?)\s+\}", lambda m: "{" + re.sub(r"\s*\n\s*", " ", m[1]) + "}", text) + "\n"


def device_from_json(text: str) -> Device:
    """Read what `device_to_json` wrote. Raises `json.JSONDecodeError` or a cattrs error for anything else."""
    return _CONVERTER.structure(json.loads(text), Device)


def slug(*words: str) -> str:
    """Return an id from names: lower case, words joined by single dashes, trademark signs dropped."""
    text = re.sub(r"\((?:r|tm|c)\)|[®™]", " ", " ".join(words).lower())
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "device"


@lru_cache(maxsize=1)
def _files() -> dict[str, Traversable]:
    """Return the file of each profile by its id, which is its name."""
    found = resources.files("model").joinpath("devices").iterdir()
    return {file.name.removesuffix(".json"): file for file in sorted(found, key=_name) if _name(file).endswith(".json")}


def _name(file: Traversable) -> str:
    return file.name


@cache
def _names() -> dict[str, str]:
    """Return the name of each profile by its id."""
    found = ((device_id, _NAME.search(text)) for device_id, text in builtin_texts().items())
    return {device_id: json.loads(match[1]) for device_id, match in found if match is not None}


@cache
def _load(device_id: str) -> Device:
    return device_from_json(_files()[device_id].read_text("utf-8"))


_WELL_KNOWN = (
    "generic-cpu", "generic-gpu",
    "nvidia-tesla-p100-pcie-16gb", "nvidia-tesla-v100-pcie-32gb", "nvidia-tesla-t4", "nvidia-a100-pcie-40gb",
    "nvidia-a100-80gb-pcie", "nvidia-a10", "nvidia-l4", "nvidia-l40s", "nvidia-h100-80gb-hbm3", "nvidia-h200",
    "nvidia-geforce-gtx-1080", "nvidia-geforce-rtx-2080-ti", "nvidia-geforce-rtx-3060", "nvidia-geforce-rtx-3080",
    "nvidia-geforce-rtx-4060", "nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-5090",
    "amd-instinct-mi100", "amd-instinct-mi210", "amd-instinct-mi250", "amd-instinct-mi300x", "amd-radeon-rx-570",
    "amd-radeon-rx-6800-xt", "amd-radeon-rx-7900-xtx", "apple-m1", "apple-m2-max", "intel-uhd-graphics-620",
    "intel-iris-xe-graphics", "intel-arc-a770-graphics", "arm-mali-g78", "qualcomm-adreno-530",
)  # fmt: skip
_NAME = re.compile(r'^ *"name": *("(?:[^"\\]|\\.)*")', re.MULTILINE)
_CONVERTER = Converter()
_BRIEF = Converter(omit_if_default=True)
