"""What a worker does with an order: builds its kernels, then times their launches. Imports no Dask."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from model.device import Device
from model.errors import KernelcastError
from profiler.corpus.cluster.order import ClusterAnswer, ClusterOrder
from profiler.corpus.cluster.quiet import host_alone, host_shared, own_processors
from profiler.corpus.collection.jobs import run_tasks
from profiler.corpus.collection.store import RowKey
from profiler.corpus.collection.workplace import launch_of
from profiler.corpus.collection_jobs import BuildOrder, BuildTask, BuiltKernel, TimeOrder, TimeTask
from profiler.corpus.kernel import CorpusDevice, CorpusKernel
from profiler.devices import discover


def profile(device_id: str) -> Device | None:
    """Of a device of this worker's host; None where it is not found."""
    return next((device for device in discover() if device.id == device_id), None)


def work(order: ClusterOrder) -> ClusterAnswer:
    """Return all of an order's outcomes. Raises what keeps the device from opening."""
    with tempfile.TemporaryDirectory(prefix="kernelcast-cluster-", ignore_cleanup_errors=True) as cache:
        built = _build(order, cache)
        return ClusterAnswer(tuple(built.items()), tuple(_time(order, cache, built)))


def _build(order: ClusterOrder, cache: str) -> dict[str, object]:
    found: dict[str, object] = {}
    with host_shared():
        run_tasks(
            order.build_job,
            lambda tasks: BuildOrder(order.device.device_id, cache, tasks, order.limits),
            [BuildTask(number, kernel, proves=True) for number, kernel in enumerate(order.kernels)],
            lambda task, outcome: found.update({task.kernel.id: outcome}),
            limits=order.limits,
        )
    return found


def _time(order: ClusterOrder, cache: str, built: dict[str, object]) -> list[tuple[RowKey, object]]:
    kernels = {kernel.id: kernel for kernel in order.kernels}
    refused = {key for kernel in order.kernels for key in _refused(kernel, built[kernel.id])}
    tasks: list[TimeTask] = []
    keys: list[RowKey] = []
    for key in order.keys:
        kernel = kernels[key.kernel_id]
        if isinstance(built[kernel.id], KernelcastError) or (kernel.id, key.launch_key) in refused:
            continue
        tasks.append(TimeTask(len(tasks), replace(kernel, launches=()), launch_of(kernel, key)))
        keys.append(key)
    found: list[tuple[RowKey, object]] = []
    if tasks:
        with _quiet(order.device) as processors:
            run_tasks(
                order.time_job,
                lambda left: TimeOrder(order.device, processors, cache, left, order.limits),
                tasks,
                lambda task, outcome: found.append((keys[task.number], outcome)),
                limits=order.limits,
            )
    return found


def _refused(kernel: CorpusKernel, outcome: object) -> list[tuple[str, str]]:
    places = [each.launch for each in outcome.refused] if isinstance(outcome, BuiltKernel) else []
    return [(kernel.id, kernel.launches[place].launch.key) for place in places]


@contextmanager
def _quiet(device: CorpusDevice) -> Iterator[tuple[int, ...]]:
    if device.processors is None:
        with host_alone():
            yield ()
    else:
        with host_shared(), own_processors(device.processors) as processors:
            yield processors
