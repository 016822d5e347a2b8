"""Calibrated profiles of the devices that the rows were measured on, by the devices' names in the dataset.

The profiles were calibrated where nobody else used the processors' cores, most rows measured where others did. How much
longer the same launches take there stands beside the profiles: the median over some dozens of launches of generated
kernels, measured again where the profiles were (`profiler.corpus.facts.slowdown`). A device that is not named there was
measured where its profile was calibrated.

AMD's processors take long for stores under a mask, which calibrations did not measure yet when those of `epyc-2` were
made. Theirs are from a later calibration of the same processor, brought to the profile's pace by the median ratio of
all other costs (0.74 with PoCL, 0.61 with Intel's runtime).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cattrs import BaseValidationError

from model.device import Device
from profiler.corpus.collection.devices import corpus_device
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.reading import read_dataset
from profiler.store.as_json import CONVERTER

FILE_NAME, PACES = "devices.json", "paces.json"


@dataclass(frozen=True, slots=True)
class Pace:
    """Rows took `times` as long, in the median over `launches` that were measured again; `quartiles` of the same."""

    launches: int
    times: float
    quartiles: tuple[float, float]


def read_devices(folder: Path) -> dict[str, Device]:
    """Read the dataset's devices. Raises DatasetError."""
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


def add_calibrated(folder: Path) -> list[str]:
    """Add the profiles of devices that the dataset has rows of and no profile yet; return their names.

    A profile is the newest calibrated one that the collection noted beside the device's rows. Devices limited to some
    processors (`-1core`) get none: the collection notes the profile of the whole device. Raises DatasetError.
    """
    known = read_devices(folder) if (folder / FILE_NAME).exists() else {}
    dataset = read_dataset(folder)
    noted = dataset.metadata.get("profiles", {})
    newest: dict[str, Device] = {}
    for cells in dataset.rows.select(["device", "profile"]).group_by(["device", "profile"]).aggregate([]).to_pylist():
        name, content = cells["device"], noted.get(cells["profile"])
        if name in known or content is None or corpus_device(name, None).processors is not None:
            continue
        device = CONVERTER.structure(content, Device)
        if device.calibrated and (name not in newest or (device.measured_at or "") > (newest[name].measured_at or "")):
            newest[name] = device
    if newest:
        write_devices(folder, known | newest)
    return sorted(newest)


def read_paces(folder: Path) -> dict[str, Pace]:
    """By the devices' names; of those that are not there nobody measured it. Raises DatasetError."""
    path = folder / PACES
    if not path.exists():
        return {}
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {name: CONVERTER.structure(pace, Pace) for name, pace in plain.items()}
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError, BaseValidationError) as error:
        raise DatasetError(f"{path} does not say how much longer the rows took") from error


def write_paces(folder: Path, paces: Mapping[str, Pace]) -> None:
    plain = {name: CONVERTER.unstructure(pace) for name, pace in sorted(paces.items())}
    (folder / PACES).write_text(json.dumps(plain, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def log2_paces(folder: Path) -> dict[str, float]:
    """log2 of the rows' times over those where the profiles were calibrated, by device; 0 where nobody measured it.

    Raises DatasetError.
    """
    return dict.fromkeys(read_devices(folder), 0.0) | {
        name: math.log2(pace.times) for name, pace in read_paces(folder).items()
    }
