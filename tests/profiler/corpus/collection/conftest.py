"""A collection on a device that answers at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.launch.launch import Fill, Launch
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.kernel import GENERATOR, CorpusDevice, CorpusKernel, CorpusLaunch, Vary

HERE = Path(__file__).parent
DEVICES = (CorpusDevice("stub", "stub"), CorpusDevice("stub-1core", "stub", 1))
MakeKernels = Callable[..., list[CorpusKernel]]


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> CollectPlan:
    """Two devices of one platform, whose processes find the stub."""
    monkeypatch.syspath_prepend(str(HERE))
    return CollectPlan(DEVICES, chunk_kernels=8, builders=2, build_job="stub_device:build", time_job="stub_device:time")


def kernel(name: str, *, launches: int = 2, family: str = "tiny", origin: str = GENERATOR) -> CorpusKernel:
    found = [
        CorpusLaunch(
            Launch((64 * (at + 1),), (64,), buffers=(("x", 4096),), fills=(("x", Fill("uniform", (0.1, 1))),)),
            Vary.FIRST if at == 0 else Vary.GLOBAL,
            data=4096,
        )
        for at in range(launches)
    ]
    made = CorpusKernel(
        f"id-{name}", origin, family, "group", "seed 1", name, f"kernel void {name}(global float *x) {{}}"
    )
    return replace(made, launches=tuple(found))
