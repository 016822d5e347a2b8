"""The workers of a Dask scheduler as a workplace: small orders out, outcomes back into the one store."""

from __future__ import annotations

import logging
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

from model.device import Device
from profiler.corpus.cluster.order import ClusterAnswer, ClusterOrder
from profiler.corpus.cluster.work import profile, work
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.workplace import DueOn, OnBuilt, OnTimed, portions
from profiler.installing import install_command
from profiler.measurement import Cancelled, DeviceGone, KernelCrashed, MeasureError
from profiler.process.worker import CancelToken

try:
    import dask
    from distributed import Client, Future, KilledWorker, LocalCluster
    from distributed import TimeoutError as DaskTimeoutError
except ImportError:
    raise MeasureError(f"a cluster needs the package distributed: {install_command('cluster')}") from None

ORDER_ROWS = 24  # what a lost worker costs at most
CANCEL_EVERY_S = 0.2  # is asked for
LOOK_EVERY_S = 5.0  # whether workers are left
RESULT_S = 60.0  # for what a worker has found to come over
CONNECT_S = 20.0
NO_WORKER_S = 120.0  # after which a device that no worker offers any more is given up
_LOCAL = "local:"
_LOGGERS = ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler", "distributed.core")


class WorkerKilled(KernelCrashed):
    """Worker after worker was lost with this order, so that the scheduler gave it up: it is not tried again."""

    code = "worker_killed"


class Cluster:
    """Owns the orders that are out. A lost worker's orders are given to others by the scheduler."""

    def __init__(self, client: Client, plan: CollectPlan, cancel: CancelToken | None = None) -> None:
        self._client = client
        self._plan = plan
        self._cancel = cancel

    def build(self, due: Sequence[DueOn], on_built: OnBuilt) -> None:
        """Nothing: a worker builds what it times."""

    def time(self, due: Sequence[DueOn], on_built: OnBuilt, on_timed: OnTimed) -> None:
        """All devices at once, wherever a worker offers them.

        What was lost with its workers may have been innocent, in the queue of a worker that another order took down.
        Its kernels are tried again at the end, one after the other with nothing else out.
        """
        ended: SimpleQueue[Future[ClusterAnswer]] = SimpleQueue()
        out: dict[Future[ClusterAnswer], ClusterOrder] = {}
        suspects: deque[ClusterOrder] = deque()

        def send(order: ClusterOrder) -> None:
            future = self._client.submit(work, order, resources={order.device.device_id: 1}, pure=False)
            out[future] = order
            future.add_done_callback(ended.put)  # type: ignore[no-untyped-call]

        try:
            for one in due:
                for order in self._orders(one):
                    send(order)
            while out:
                future = self._next(ended, out.values())
                suspects += _enter(future, out.pop(future), on_built, on_timed)
            while suspects:
                send(suspects.popleft())
                future = self._next(ended, out.values())
                _enter(future, out.pop(future), on_built, on_timed, is_alone=True)
        finally:
            self._client.cancel(list(out), force=True)  # type: ignore[no-untyped-call]

    def _orders(self, one: DueOn) -> Iterator[ClusterOrder]:
        plan = self._plan
        kernels = {kernel.id: kernel for kernel in one.kernels_with_due_launches()}
        for keys in portions(one.keys, ORDER_ROWS):
            chosen = tuple(kernels[kernel_id] for kernel_id in dict.fromkeys(key.kernel_id for key in keys))
            yield ClusterOrder(one.device, chosen, tuple(keys), plan.limits, plan.build_job, plan.time_job)

    def _next(self, ended: SimpleQueue[Future[ClusterAnswer]], out: Iterable[ClusterOrder]) -> Future[ClusterAnswer]:
        """Return the next that has ended. Raises Cancelled, or DeviceGone if nobody is left who could take an order."""
        seen_s = looked_s = time.monotonic()
        while True:
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled("cancelled")
            with suppress(Empty):
                return ended.get(timeout=CANCEL_EVERY_S)
            now_s = time.monotonic()
            if now_s - looked_s < LOOK_EVERY_S:
                continue
            looked_s, offered = now_s, self.offered()
            missing = {order.device.device_id for order in out} - offered
            if not missing:
                seen_s = now_s
            elif now_s - seen_s > NO_WORKER_S:
                raise DeviceGone(f"no worker offers {', '.join(sorted(missing))} any more; start one and collect again")

    def end_chunk(self) -> None:
        """Nothing: workers keep no compiled code."""

    def check(self) -> None:
        """Check that workers offer the plan's devices. Raises DeviceGone for one that none offers."""
        missing = {device.device_id for device in self._plan.devices} - self.offered()
        if missing:
            named = " ".join(f"{device_id}=1" for device_id in sorted(missing))
            raise DeviceGone(
                f"no worker offers {', '.join(sorted(missing))}: start one with "
                f"dask worker SCHEDULER --nthreads 1 --resources '{named}'"
            )

    def profiles(self) -> list[Device]:
        """Return what workers report of the plan's OpenCL devices, one worker for each.

        Raises MeasureError if there is none at all.
        """
        asked = [
            self._client.submit(profile, device_id, resources={device_id: 1}, pure=False)
            for device_id in sorted({device.device_id for device in self._plan.devices})
        ]
        try:
            return [found for future in asked if (found := future.result(timeout=RESULT_S)) is not None]
        except DaskTimeoutError:
            raise DeviceGone("the workers do not say what devices they have; see what they print") from None

    def offered(self) -> set[str]:
        """Return the OpenCL devices that workers offer now."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return {name for worker in workers for name in worker.get("resources", {})}


def _enter(
    future: Future[ClusterAnswer], order: ClusterOrder, on_built: OnBuilt, on_timed: OnTimed, *, is_alone: bool = False
) -> list[ClusterOrder]:
    """Tell its outcomes; what must be tried alone comes back, kernel by kernel."""
    try:
        answer = future.result(timeout=RESULT_S)
    except (KilledWorker, DaskTimeoutError, CancelledError) as error:
        if not is_alone:
            return [order.of_kernel(kernel.id) for kernel in order.kernels]
        lost = WorkerKilled(f"the workers that it was given to were lost ({type(error).__name__})")
        for key in order.keys:
            on_timed(key, lost)
        return []
    kernels = {kernel.id: kernel for kernel in order.kernels}
    for kernel_id, outcome in answer.built:
        on_built(order.device, kernels[kernel_id], outcome)
    for key, outcome in answer.timed:
        on_timed(key, outcome)
    return []


@contextmanager
def open_cluster(where: str, plan: CollectPlan, cancel: CancelToken | None = None) -> Iterator[Cluster]:
    """Workers of the scheduler at `tcp://HOST:PORT`, or with `local:3` three processes on this machine.

    Raises DeviceGone where no scheduler answers, or where no worker offers a device of the plan.
    """
    with _client(where, plan) as client:
        made = Cluster(client, plan, cancel)
        made.check()
        yield made


@contextmanager
def _client(where: str, plan: CollectPlan) -> Iterator[Client]:
    for name in _LOGGERS:  # a lost worker is expected, and told of by what becomes of its orders
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if not where.startswith(_LOCAL):
        try:
            client = Client(where, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, DaskTimeoutError) as error:
            raise DeviceGone(
                f"no Dask scheduler answers at {where} ({error}); start one with: dask scheduler"
            ) from None
        with client:
            yield client
        return
    count = where.removeprefix(_LOCAL)
    if not count.isdecimal() or not int(count):
        raise DeviceGone(f"`{where}` names no cluster: local:3 starts three workers, tcp://HOST:PORT is a scheduler")
    # The second worker that an order takes down is its last: see `WorkerKilled`.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        tempfile.TemporaryDirectory(prefix="kernelcast-cluster-", ignore_cleanup_errors=True) as folder,
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=int(count),
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=folder,
            silence_logs=logging.CRITICAL + 1,
            resources={device.device_id: 1 for device in plan.devices},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        yield client
