"""A made-up world to train on in seconds: four devices, twelve families of kernels, every split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from model.device import Device
from model.device_catalog import find_builtin
from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.cost_network import runtime_of, terms_of
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts
from model.learned.inputs import log2_pace
from model.learned.launch_facts import AMOUNTS, LAUNCH_FACT_NAMES, LEAST, SIZES
from model.learned.question import ANALYTIC_FACT_NAMES
from model.training.boosting import Boosting
from model.training.costs import CostRecipe
from model.training.ensemble import Recipe
from model.training.rows import Rows

TREES = Boosting(rounds=40, num_leaves=7, min_data_in_leaf=5, num_threads=1)
SMALL = CostRecipe(epochs=16, batch=64, width=16, directions=4, price_rate=0.2, threads=1)
RECIPE = Recipe(
    networks=SMALL, pieced=replace(SMALL, pieces=3), forests=TREES,
    spread=replace(TREES, objective="quantile", alpha=0.8), folds=2,
)  # fmt: skip
HARDLY = replace(
    RECIPE, networks=replace(SMALL, epochs=1), pieced=replace(SMALL, pieces=2, epochs=1),
    forests=replace(TREES, rounds=5), spread=replace(RECIPE.spread, rounds=5),
)  # fmt: skip
FAMILIES, KERNELS, LAUNCHES = 12, 5, 2
SPLITS = ("train",) * 8 + ("validation",) * 2 + ("test-origins", "left out")  # of families
RUNTIMES = {
    "pocl": ("Portable Computing Language", 4), "pocl-1core": ("Portable Computing Language", 1),
    "intel": ("Intel(R) OpenCL", 4), "intel-1core": ("Intel(R) OpenCL", 1),
}  # fmt: skip


def device(name: str) -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    platform, units = RUNTIMES[name]
    return replace(found, platform=platform, compute_units=units)


def made_rows() -> Rows:
    """Each launch of each kernel on four devices; it takes twice the analytical time, on one of them four times it."""
    random = np.random.default_rng(7)
    sizes = slice(len(AMOUNTS), len(AMOUNTS) + len(SIZES))
    launches, of, analytic_of = [], [], []
    for family in range(FAMILIES):
        usual = np.full(len(LAUNCH_FACT_NAMES), np.log2(LEAST))
        usual[random.choice(len(AMOUNTS), 20, replace=False)] = random.uniform(-2, 6, 20)
        usual[sizes] = random.uniform(1, 10, len(SIZES))
        usual[sizes.stop :] = random.integers(0, 4, len(usual) - sizes.stop)
        for kernel in range(KERNELS):
            own = usual + 0.2 * random.normal(size=len(usual))
            split = "known" if SPLITS[family] == "train" and kernel == 0 else SPLITS[family]
            for launch in range(LAUNCHES):
                each = own.copy()
                each[LAUNCH_FACT_NAMES.index("log.items")] += 2 * launch
                resources = random.uniform(-10, 6, len(ANALYTIC_FACT_NAMES) - 2)
                total = np.log2(np.exp2(resources).sum())
                launches.append(each)
                of.append((f"family {family}", f"kernel {family}.{kernel}", f"launch {launch}", split))
                analytic_of.append([total, total - 2, *resources])
    devices = np.array([device_facts(device(name)) for name in RUNTIMES], np.float32)
    n, launch = len(launches), np.array(launches, np.float32)
    at, on = np.tile(np.arange(n), 4), np.repeat(np.arange(4), n)
    family, kernel, key, split = np.array(of)[at].T
    analytic, own = np.array(analytic_of, np.float32)[at], devices[on]
    compiled = random.uniform(0, 5, (len(at), len(COMPILED_FACT_NAMES))).astype(np.float32)
    compiled[:, 3] = np.nan
    compiled[on == 3] = np.nan
    noise = 0.1 * random.normal(size=len(at))
    return Rows(
        launch=launch[at], analytic=analytic, device=own, compiled=compiled, terms=terms_of(launch[at], log2_pace(own)),
        runtime=runtime_of(own, DEVICE_FACT_NAMES), log2_us=(analytic[:, 0] + 1 + (on == 1) + noise).astype(np.float32),
        weight=np.ones(len(at), np.float32),
        kernel=kernel, launch_key=key, device_name=np.array(list(RUNTIMES))[on],
        family=family, group=family, origin=family, split=split,
        vary=np.where(key == "launch 0", "first", "global"), is_repeat=np.zeros(len(at), bool),
        is_disturbed=np.zeros(len(at), bool), items=np.exp2(launch[at, LAUNCH_FACT_NAMES.index("log.items")]),
        data=np.zeros(len(at), np.float32),
    )  # fmt: skip
