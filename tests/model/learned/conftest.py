"""A corpus of a few made-up kernels whose times follow a rule, as arrays in a folder, and a network small enough to
train in a second."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from model.training.arrays import Arrays, read_arrays
from model.training.recipe import CPU, Recipe

KERNELS, LAUNCHES, DEVICES = 24, 2, 2
FACTS = {"launch_facts": 5, "laws": 6, "compiled_facts": 4}
DEVICE_FACTS = ("shape.units", "shape.cache", "rates.fp", "rates.dram", "rates.floor")
TINY = {"width": 16, "heads": 2, "layers": 1, "slots": 2, "longest": 32, "pieces": 3}


@pytest.fixture(scope="session")
def tiny() -> dict[str, int]:
    """Sizes of a network that trains in no time."""
    return dict(TINY)


@pytest.fixture(scope="session")
def recipe() -> Recipe:
    return replace(
        CPU,
        steps=6,
        head_steps=6,
        evaluate_every=3,
        kernels_per_step=4,
        rows_per_kernel=3,
        other_rows=5,
        head_rows=8,
        cpu_threads=1,
    )


@pytest.fixture(scope="session")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Arrays:
    folder = tmp_path_factory.mktemp("arrays")
    draw = np.random.default_rng(0)
    with (folder / "kernels.jsonl").open("w", encoding="utf-8") as file:
        for at in range(KERNELS):
            split = "validation" if at % 4 == 3 else "train"
            tokens = ["kernel", "void", "v0", "(", ")", "{", *["v1", "+=", "f1e", ";"] * (1 + at % 5), "}"]
            kernel = {"id": f"k{at}", "family": f"f{at % 4}", "origin": "made up", "split": split, "tokens": tokens}
            file.write(json.dumps(kernel) + "\n")
    launches = KERNELS * LAUNCHES
    launch_kernel = np.repeat(np.arange(KERNELS, dtype=np.int32), LAUNCHES)
    row_launch = np.repeat(np.arange(launches, dtype=np.int32), DEVICES)
    row_device = np.tile(np.arange(DEVICES, dtype=np.int8), launches)
    laws = draw.uniform(0, 8, (len(row_launch), FACTS["laws"])).astype(np.float32)
    laws[:, 3] = -20  # a resource that nothing is used of
    laws[:, 0] = np.log2(np.exp2(laws[:, 2:]).sum(1))
    laws[:, 1] = laws[:, 0] - 2
    compiled = draw.normal(size=(len(row_launch), FACTS["compiled_facts"])).astype(np.float32)
    compiled[::3] = np.nan
    launch_facts = draw.normal(size=(launches, FACTS["launch_facts"])).astype(np.float32)
    launch_facts[::4, 1] = np.nan
    columns = {
        "launch_kernel": launch_kernel,
        "launch_facts": launch_facts,
        "row_launch": row_launch,
        "row_device": row_device,
        "row_laws": laws,
        "row_compiled": compiled,
        "row_log2_us": laws[:, 0] + 0.5 * row_device + launch_kernel[row_launch] % 5,
        "row_weight": np.ones(len(row_launch)),
        "device_facts": draw.normal(size=(DEVICES, len(DEVICE_FACTS))),
    }
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    names = {name: [f"{name}{at}" for at in range(count)] for name, count in FACTS.items()}
    names |= {"device_facts": list(DEVICE_FACTS), "devices": [f"device{at}" for at in range(DEVICES)]}
    (folder / "names.json").write_text(json.dumps(names), encoding="utf-8")
    with (folder / "launch_text.jsonl").open("w", encoding="utf-8") as file:
        for at in range(launches):
            launch = {"global": [64 * (1 + at)], "local": None, "scalars": {"v3": at}, "buffers": {"v1": 4096}}
            file.write(json.dumps(launch) + "\n")
    return read_arrays(folder)
