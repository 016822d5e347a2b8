"""The dataset, its facts and its splits, joined into the arrays that training and evaluation take."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model.learned.compiled_facts import COMPILED_FACT_NAMES, KernelCode, compiled_facts, kernel_code
from model.learned.cost_network import runtime_of, terms_of
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts
from model.learned.inputs import log2_pace
from model.training.rows import Rows
from profiler.corpus.collection.devices import corpus_device
from profiler.corpus.dataset.cells import facts_from_cells
from profiler.corpus.dataset.clock_normalization import Usual, slopes
from profiler.corpus.dataset.reading import Dataset, read_dataset, read_splits
from profiler.corpus.facts.devices import log2_paces, read_devices
from profiler.corpus.facts.table import read_facts

ONE_IN = 12  # kernels of training's families that are held out of it
DISTURBED_WEIGHT = 0.5
_FOR_PACES = ("profile", "batches_us", "paces_us")
_LEAST_SLOPE = 0.1  # of a device whose times follow no pace, all rows are brought over alike
Floats = npt.NDArray[np.float32]


def read_rows(folder: Path, *, with_code: bool = True) -> Rows:
    """Read all launches whose facts are there. Raises DatasetError.

    Without `with_code` nothing is known of what compilers made of kernels, and reading takes a tenth of the time.
    """
    dataset, facts, devices = read_dataset(folder), read_facts(folder), read_devices(folder)
    paces = log2_paces(folder)
    compiled = _compiled(dataset) if with_code else {}
    launches = _launches(dataset)
    of_device = {name: device_facts(device) for name, device in devices.items()}
    short = {name: corpus_device(name, None).device_id for name in devices}
    columns = ["device", "kernel_id", "launch_key", "repeat", "runtime_us", "is_disturbed", *_FOR_PACES]
    given = [
        row
        for row in dataset.rows.select(columns).to_pylist()
        if (row["device"], row["kernel_id"], row["launch_key"]) in facts.place
    ]
    keys = [(row["device"], row["kernel_id"], row["launch_key"]) for row in given]
    places = [facts.place[key] for key in keys]
    launch = facts.launch[places]
    device = np.array([of_device[name] for name, _, _ in keys], np.float32)
    none = (np.nan,) * len(COMPILED_FACT_NAMES)
    own = [launches[kernel, key] for _, kernel, key in keys]
    kernels = {row["id"]: row for row in dataset.kernels.select(["id", "family", "group", "origin"]).to_pylist()}
    splits = finer_splits(read_splits(folder), {kernel: kernels[kernel]["family"] for _, kernel, _ in keys})
    codes = [
        compiled.get((short[name], kernel, each["place"])) for (name, kernel, _), each in zip(keys, own, strict=True)
    ]
    # Devices of one runtime share most launches and their code: what both make together is worked out once.
    pairs = {(id(of), at): (of, at) for of, at in zip(codes, places, strict=True) if of is not None}
    together = {pair: compiled_facts(of, facts.launch[at]) for pair, (of, at) in pairs.items()}
    code = [together.get((id(of), at), none) for of, at in zip(codes, places, strict=True)]
    disturbed = np.array([row["is_disturbed"] for row in given])
    return Rows(
        launch=launch,
        analytic=np.array([facts.analytic[key] for key in keys], np.float32),
        device=device,
        compiled=np.array(code, np.float32),
        terms=terms_of(launch, log2_pace(device)),
        runtime=runtime_of(device, DEVICE_FACT_NAMES),
        log2_us=_log2_us(given, dataset, paces),
        weight=np.where(disturbed, DISTURBED_WEIGHT, 1.0).astype(np.float32),
        kernel=np.array([kernel for _, kernel, _ in keys]),
        launch_key=np.array([key for _, _, key in keys]),
        device_name=np.array([name for name, _, _ in keys]),
        family=np.array([kernels[kernel]["family"] for _, kernel, _ in keys]),
        group=np.array([kernels[kernel]["group"] for _, kernel, _ in keys]),
        origin=np.array([kernels[kernel]["origin"] for _, kernel, _ in keys]),
        split=np.array([splits[kernel] for _, kernel, _ in keys]),
        vary=np.array([each["vary"] for each in own]),
        is_repeat=np.array([row["repeat"] > 0 for row in given]),
        is_disturbed=disturbed,
        items=np.array([np.prod(each["global_size"], dtype=float) for each in own], np.float32),
        data=np.array([each["data"] for each in own], np.float32),
    )


def _log2_us(rows: Sequence[Mapping[str, Any]], dataset: Dataset, paces: Mapping[str, float]) -> Floats:
    """Bring the rows' times to the machine where the profiles were calibrated: [rows].

    A device's rows took longer in the median by what `paces` says; each by its own share of that, in proportion to how
    far its time follows the pace of the processors (see `profiler.corpus.dataset.clock_normalization`): what waits for
    memory or for its own results hardly does.
    """
    usual = {device: Usual(**each) for device, each in dataset.metadata.get("usual", {}).items()}
    of_usual = np.array([f"{row['device']} {row['profile']}".strip() for row in rows])
    slope = np.zeros(len(rows))
    for name in np.unique(of_usual):
        own = np.flatnonzero(of_usual == name)
        timed = [(rows[at]["batches_us"], rows[at]["paces_us"]) for at in own.tolist()]
        slope[own] = slopes(timed, usual.get(str(name), Usual(1.0, 1.0)))
    names = np.array([row["device"] for row in rows])
    pace = np.zeros(len(rows))
    for name in np.unique(names):
        own = np.flatnonzero(names == name)
        pace[own] = paces[str(name)] * slope[own] / max(float(np.median(slope[own])), _LEAST_SLOPE)
    measured: Floats = np.log2([row["runtime_us"] for row in rows]).astype(np.float32)
    return measured - pace.astype(np.float32)


def finer_splits(splits: Mapping[str, str], families: Mapping[str, str]) -> dict[str, str]:
    """Hold out some kernels of the families in training, to see the accuracy on others of known families.

    `families` of all kernels that have rows. A family that would be held out whole is trained on: it would not be
    known.
    """
    trained = {kernel: family for kernel, family in families.items() if splits[kernel] == "train"}
    held_out = {kernel for kernel in trained if zlib.crc32(kernel.encode()) % ONE_IN == 0}
    known = {family for kernel, family in trained.items() if kernel not in held_out}
    return {
        kernel: "known" if kernel in held_out and family in known else splits[kernel]
        for kernel, family in families.items()
    }


def _compiled(dataset: Dataset) -> dict[tuple[str, str, int], KernelCode]:
    """By OpenCL device, kernel, and the launch's place among the kernel's."""
    found: dict[tuple[str, str, int], KernelCode] = {}
    for cells in dataset.compiled.to_pylist():
        code = kernel_code(facts_from_cells(cells))
        found.update(((cells["device_id"], cells["kernel_id"], place), code) for place in cells["places"])
    return found


def _launches(dataset: Dataset) -> dict[tuple[str, str], dict[str, Any]]:
    columns = ["kernel_id", "key", "place", "vary", "data", "global_size"]
    return {(row["kernel_id"], row["key"]): row for row in dataset.launches.select(columns).to_pylist()}
