"""A corpus of a few made-up kernels whose times follow a rule, as arrays, and a network small enough to train in a
second."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model.training.arrays import Arrays, KernelText, Names, Split
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
def arrays() -> Arrays:
    draw = np.random.default_rng(0)
    launch_kernel = np.repeat(np.arange(KERNELS), LAUNCHES)
    row_launch = np.repeat(np.arange(KERNELS * LAUNCHES), DEVICES)
    row_device = np.tile(np.arange(DEVICES), KERNELS * LAUNCHES)
    laws = draw.uniform(0, 8, (len(row_launch), FACTS["laws"])).astype(np.float32)
    laws[:, 3] = -20  # a resource that nothing is used of
    laws[:, 0] = np.log2(np.exp2(laws[:, 2:]).sum(1))
    laws[:, 1] = laws[:, 0] - 2
    compiled = draw.normal(size=(len(row_launch), FACTS["compiled_facts"])).astype(np.float32)
    compiled[::3] = np.nan
    launch_facts = draw.normal(size=(len(launch_kernel), FACTS["launch_facts"])).astype(np.float32)
    launch_facts[::4, 1] = np.nan
    names = {name: tuple(f"{name}{at}" for at in range(count)) for name, count in FACTS.items()}
    return Arrays(
        names=Names(**names, device_facts=DEVICE_FACTS, devices=tuple(f"device{at}" for at in range(DEVICES))),
        kernels=tuple(_kernel(at) for at in range(KERNELS)),
        launch_kernel=launch_kernel,
        launch_facts=launch_facts,
        row_launch=row_launch,
        row_device=row_device,
        row_laws=laws,
        row_compiled=compiled,
        row_log2_us=(laws[:, 0] + 0.5 * row_device + launch_kernel[row_launch] % 5).astype(np.float32),
        row_weight=np.ones(len(row_launch), np.float32),
        device_facts=draw.normal(size=(DEVICES, len(DEVICE_FACTS))).astype(np.float32),
    )


def _kernel(at: int) -> KernelText:
    split = Split.VALIDATION if at % 4 == 3 else Split.KNOWN_FAMILIES if at % 8 == 1 else Split.TRAIN
    tokens = ("kernel", "void", "v0", "(", ")", "{", *("v1", "+=", "f1e", ";") * (1 + at % 5), "}")
    return KernelText(f"k{at}", f"f{at % 4}", "made up", split, tokens)
