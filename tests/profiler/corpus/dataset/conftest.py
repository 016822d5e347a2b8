"""A small collection that never ran, and its dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.compiled import CodeSource, CompiledFacts, CompiledLoop, InstructionCount
from model.launch.launch import Fill, Launch
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.collection.store import CorpusStore, RowKey, Stint
from profiler.corpus.dataset.export import export
from profiler.corpus.dataset.splits import split
from profiler.corpus.draw import Draw
from profiler.corpus.kernel import GENERATOR, CorpusKernel, CorpusLaunch, RowTiming, Vary

GROUPS = ("reductions", "stencils", "sorting")
FAMILIES = [(f"{group}_{number}", group) for group in GROUPS for number in range(7)]
ORIGINS = ("silx", "pyclesperanto-prototype", "acme", "bold", "calm", "dune", "east")
DEVICES = ("pocl", "pocl-1core", "intel-cpu")
PROFILES = [{"id": "pocl", "driver": "PoCL 3.1"}, {"id": "intel-cpu", "driver": "2024.18"}]
OPTIONS = BuildOptions((("TILE", "16"), ("T", "float")), (), ("-cl-fast-relaxed-math",))
STATEMENTS = (
    "s += x[i + {n}] * {n}.5f;",
    "if (s > {n}.0f) s -= x[i];",
    "for (int j = 0; j < {n}; j++) s = fma(s, x[j], y[i]);",
    "s = sqrt(s + y[i * {n}]);",
    "y[i + {n}] = s;",
    "barrier(CLK_LOCAL_MEM_FENCE);",
    "s = (int)s ^ {n};",
    "while (s < {n}.0f) { s *= 1.5f; i++; }",
    "x[i] = max(s, {n}.25f);",
    "s = select(s, -s, isless(s, {n}.0f));",
)


def made_kernel(origin: str, family: str, group: str, seed: int) -> CorpusKernel:
    draw = Draw("test", family, seed)
    lines = [draw.choose(STATEMENTS).replace("{n}", str(1 << draw.integer(0, 9))) for _ in range(16)]
    body = "\n    ".join(["int i = get_global_id(0); float s = y[i];", *lines])
    source = f"kernel void k(global float *x, global float *y, int n) {{\n    {body}\n}}"
    tokens = normalised_tokens(read_program(source, options=OPTIONS), "k")
    return CorpusKernel(
        identity(tokens),
        origin,
        family,
        group,
        f"{family}/{seed}",
        "k",
        source,
        OPTIONS,
        launches=made_launches(draw),
        in_place=("x",) if draw.chance(0.2) else (),
        choices=(("type", "float"),),
    )


def made_launches(draw: Draw) -> tuple[CorpusLaunch, ...]:
    items, data = draw.log_integer(1, 1 << 20), draw.log_integer(1, 1 << 20)
    found = [CorpusLaunch(made_launch(items, data), Vary.FIRST, data, "guard_pages")]
    found.append(CorpusLaunch(made_launch(items, 3 * data), Vary.DATA, 3 * data, "guard_pages"))
    found.append(CorpusLaunch(made_launch(5 * items, data), Vary.GLOBAL, data, "guard_pages"))
    return tuple(found)


def made_launch(items: int, data: int) -> Launch:
    return Launch(
        (64 * items,),
        (64,) if items % 2 else None,
        scalars=(("n", data), ("alpha", 0.1 + items / 7)),
        buffers=(("x", data + 7), ("y", data)),
        images=(("picture", (items, 3, 1)),),
        local_bytes=(("tile", 256),),
        fills=(("x", Fill("uniform", (0.123456789, 1.5))), ("y", Fill("csr_rows", (data, 1.0)))),
        options=OPTIONS,
    )


def all_kernels() -> list[CorpusKernel]:
    made = [made_kernel(GENERATOR, family, group, seed) for family, group in FAMILIES for seed in range(4)]
    return made + [made_kernel(origin, origin, "images", seed) for origin in ORIGINS for seed in range(4)]


def timing(median_us: float, *, is_disturbed: bool = False) -> RowTiming:
    return RowTiming(
        median_us, median_us * 0.9, median_us * 1.1, median_us + 20, 12, (median_us,) * 3, (40.0,) * 3, 1.5, 2.0, None,
        is_disturbed, 0.5, "2026-11-22T16:30:00.25+00:00",
    )  # fmt: skip


def facts(kernel: CorpusKernel, device_id: str) -> CompiledFacts:
    mix = (InstructionCount("load", "f32", 8, 12, "global"), InstructionCount("float_add", "f32", 8, 40))
    loops = (CompiledLoop(3, 1, 25, 8, 0.75),)
    return CompiledFacts(
        "k", kernel.id, "", (64,), device_id, "a CPU", "1", "2026-11-22T16:00:00+00:00", CodeSource.ASSEMBLY,
        vector_width_bits=256, code_bytes=900, mix=mix, loops=loops,
    )  # fmt: skip


def fill_store(work: Path, kernels: list[CorpusKernel]) -> None:
    """All kernels measured, but for the last one; every seventh row twice."""
    store = CorpusStore(work)
    store.add_kernels(kernels)
    stint = store.begin_stint(Stint(0, "2026-11-22T16:20:00+00:00", "0.1.0", "here", 4, json.dumps(PROFILES)))
    draw = Draw("times")
    for number, kernel in enumerate(kernels[:-1]):
        for device_id in ("pocl", "intel-cpu"):
            built = {each.launch.key: facts(kernel, device_id) for each in kernel.launches}
            store.save_build(device_id, kernel.id, built, {})
        for each in kernel.launches:
            for device in DEVICES:
                median_us = draw.log_real(5, 3e5)
                key = RowKey(device, kernel.id, each.launch.key)
                store.save_row(key, timing(median_us, is_disturbed=number == 3), is_bad=False, stint=stint)
                if number % 7 == 0:
                    again = RowKey(device, kernel.id, each.launch.key, 1)
                    store.save_row(again, timing(median_us * draw.real(0.95, 1.05)), is_bad=False, stint=stint)
    store.close()


@pytest.fixture(scope="session")
def kernels() -> list[CorpusKernel]:
    return all_kernels()


@pytest.fixture(scope="session")
def work(kernels: list[CorpusKernel], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a collection."""
    folder = tmp_path_factory.mktemp("a collection")
    fill_store(folder, kernels)
    return folder


@pytest.fixture(scope="session")
def dataset(work: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of its dataset with splits, which no test changes."""
    folder = tmp_path_factory.mktemp("a dataset")
    export([work], folder)
    split(folder)
    return folder
