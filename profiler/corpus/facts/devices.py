"""Calibrated profiles of the devices that the rows were measured on, by the devices' names in the dataset."""

from __future__ import annotations

import json
from pathlib import Path

from cattrs import BaseValidationError

from model.device import Device
from profiler.corpus.dataset.columns import DatasetError
from profiler.store.as_json import CONVERTER

FILE_NAME = "devices.json"


def read_devices(folder: Path) -> dict[str, Device]:
    """Raises DatasetError."""
    path = folder / FILE_NAME
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {name: CONVERTER.structure(profile, Device) for name, profile in plain.items()}
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError, BaseValidationError) as error:
        raise DatasetError(f"{path} holds no profiles of devices") from error


def write_devices(folder: Path, devices: dict[str, Device]) -> None:
    plain = {name: CONVERTER.unstructure(device) for name, device in sorted(devices.items())}
    (folder / FILE_NAME).write_text(json.dumps(plain, indent=1, sort_keys=True) + "\n", encoding="utf-8")
