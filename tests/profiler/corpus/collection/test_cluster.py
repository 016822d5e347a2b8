"""A collection on worker processes ends with the same rows as one without, whoever is lost meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import profiler.corpus.cluster.cluster
import profiler.corpus.collection.progress
from profiler.corpus.cluster.cluster import open_cluster
from profiler.corpus.collection.collect import collect
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.progress import Figures
from profiler.corpus.collection.store import CorpusStore, FailedCase, RowKey
from profiler.corpus.collection.workplace import Workplace
from profiler.corpus.kernel import CorpusDevice, CorpusKernel
from profiler.measurement import DeviceGone

MakeKernel = Callable[..., CorpusKernel]
Filled = Callable[..., Path]


def _found(folder: Path) -> tuple[list[RowKey], list[FailedCase]]:
    store = CorpusStore(folder)
    try:
        return [row.key for row in store.rows()], store.failures()
    finally:
        store.close()


def _workers() -> list[psutil.Process]:
    return [each for each in psutil.Process().children() if "spawn_main" in " ".join(each.cmdline())]


def test_three_workers_of_which_one_is_killed_find_the_same_rows_as_none(
    plan: CollectPlan,
    make_kernel: MakeKernel,
    filled: Filled,
    instant: Workplace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profiler.corpus.cluster.cluster, "ORDER_ROWS", 8)
    monkeypatch.setattr(profiler.corpus.collection.progress, "WRITE_EVERY_S", 0.0)  # the first row is told of
    good = [make_kernel(f"k{at}", launches=2) for at in range(8)]
    alone = filled(*good)
    collect(alone, plan, workplace=instant)
    with_cluster = tmp_path / "with cluster"
    store = CorpusStore(with_cluster)
    store.add_kernels([*good, crash := make_kernel("crash", launches=1)])
    store.close()
    plan = replace(plan, chunk_kernels=20)
    victims: list[psutil.Process] = []

    def kill_one(figures: Figures) -> None:
        if figures.rows and not victims:
            workers = _workers()
            victims.append(next((worker for worker in workers if worker.children()), workers[0]))
            victims[0].kill()

    with open_cluster("local:3", plan) as workers:
        figures = collect(with_cluster, plan, workplace=workers, on_figures=kill_one)
    assert figures.doing == "done"
    assert victims
    rows, failures = _found(with_cluster)
    assert sorted(rows, key=repr) == sorted(_found(alone)[0], key=repr)
    assert {(case.kernel_id, case.device) for case in failures if not case.launch_key} == {(crash.id, "build:stub")}


def test_a_kernel_that_takes_its_workers_down_is_given_up_and_the_others_are_not(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled
) -> None:
    plan = replace(plan, devices=plan.devices[:1])
    folder = filled(good := make_kernel("good"), poison := make_kernel("kill_worker", launches=1))
    with open_cluster("local:2", plan) as workers:
        collect(folder, plan, workplace=workers)
    rows, failures = _found(folder)
    assert {key.kernel_id for key in rows} == {good.id}
    assert [(case.kernel_id, case.code, case.is_quarantined) for case in failures] == [
        (poison.id, "worker_killed", True)
    ]


def test_a_device_that_no_worker_offers_is_named(plan: CollectPlan) -> None:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, processes=False, threads_per_worker=1, dashboard_address=None, resources={"stub": 1}
    ) as cluster:
        wanted = replace(plan, devices=(CorpusDevice("gpu", "nvidia-h100"),))
        with (
            pytest.raises(DeviceGone, match="no worker offers nvidia-h100: start one with dask worker"),
            open_cluster(cluster.scheduler_address, wanted),
        ):
            pass


@pytest.mark.parametrize("where", ["local:none", "local:0"])
def test_a_cluster_that_cannot_be_is_refused(where: str, plan: CollectPlan) -> None:
    with pytest.raises(DeviceGone, match="local:3 starts three workers"), open_cluster(where, plan):
        pass
