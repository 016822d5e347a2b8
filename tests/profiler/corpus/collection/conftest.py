"""A collection on a device that answers at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from model.launch.launch import Fill, Launch
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.collection.workplace import DueOn, OnBuilt, OnTimed, launch_of
from profiler.corpus.collection_jobs import BuildOrder, BuildTask, TimeOrder, TimeTask
from profiler.corpus.kernel import GENERATOR, CorpusDevice, CorpusKernel, CorpusLaunch, Vary
from profiler.process.messages import Outcome

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


class Instant:
    """A workplace without device processes: the stub's jobs in this very one."""

    def build(self, due: Sequence[DueOn], on_built: OnBuilt) -> None:
        import stub_device

        for one in due:
            kernels = one.kernels_with_due_launches()
            tasks = tuple(BuildTask(number, kernel) for number, kernel in enumerate(kernels))
            heard = _Heard(lambda number, value, one=one, made=kernels: on_built(one.device, made[number], value))
            stub_device.build(BuildOrder(one.device.device_id, "", tasks), heard)

    def time(self, due: Sequence[DueOn], on_built: OnBuilt, on_timed: OnTimed) -> None:
        import stub_device

        for one in due:
            kernels = one.kernels
            tasks = tuple(
                TimeTask(number, kernels[key.kernel_id], launch_of(kernels[key.kernel_id], key))
                for number, key in enumerate(one.keys)
            )
            heard = _Heard(lambda number, value, one=one: on_timed(one.keys[number], value))
            stub_device.time(TimeOrder(one.device, (), "", tasks), heard)

    def end_chunk(self) -> None: ...


class _Heard:
    """Stands for the way from a device process to its parent."""

    def __init__(self, on_outcome: Callable[[int, object], None]) -> None:
        self._on_outcome = on_outcome

    def send(self, message: object) -> None:
        if isinstance(message, Outcome):
            self._on_outcome(message.task, message.value)


@pytest.fixture
def instant() -> Instant:
    return Instant()


def _launch(at: int) -> CorpusLaunch:
    launch = Launch((64 * (at + 1),), (64,), buffers=(("x", 4096),), fills=(("x", Fill("uniform", (0.1, 1))),))
    return CorpusLaunch(launch, Vary.GLOBAL if at else Vary.FIRST, data=4096)
