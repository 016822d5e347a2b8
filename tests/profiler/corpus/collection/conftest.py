"""A collection on a device that answers at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.launch.launch import Fill, Launch
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.kernel import GENERATOR, CorpusDevice, CorpusKernel, CorpusLaunch, Vary

HERE = Path(__file__).parent
DEVICES = (CorpusDevice("stub", "stub"), CorpusDevice("stub-1core", "stub", 1))
MakeKernel = Callable[..., CorpusKernel]


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CollectPlan:
    """Two devices of one platform, whose processes find the stub and a folder for what they note."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("KERNELCAST_TEST_FOLDER", str(tmp_path))
    return CollectPlan(DEVICES, chunk_kernels=8, builders=2, build_job="stub_device:build", time_job="stub_device:time")


@pytest.fixture
def make_kernel() -> MakeKernel:
    def make(name: str, *, launches: int = 2, family: str = "tiny", origin: str = GENERATOR) -> CorpusKernel:
        found = tuple(_launch(at) for at in range(launches))
        source = f"kernel void {name}(global float *x) {{ x[get_global_id(0)] = 1; }}"
        return CorpusKernel(f"id-{name}", origin, family, "group", "seed 1", name, source, launches=found)

    return make


@pytest.fixture
def filled(tmp_path: Path) -> Callable[..., Path]:
    """A folder whose store holds these kernels."""

    def fill(*kernels: CorpusKernel) -> Path:
        folder = tmp_path / "the work"
        store = CorpusStore(folder)
        store.add_kernels(kernels)
        store.close()
        return folder

    return fill


def _launch(at: int) -> CorpusLaunch:
    launch = Launch((64 * (at + 1),), (64,), buffers=(("x", 4096),), fills=(("x", Fill("uniform", (0.1, 1))),))
    return CorpusLaunch(launch, Vary.GLOBAL if at else Vary.FIRST, data=4096)
