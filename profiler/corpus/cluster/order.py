"""What a worker is asked, and what it answers. Plain data, importable without Dask."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.corpus.collection.store import RowKey
from profiler.corpus.collection_jobs import JobLimits
from profiler.corpus.kernel import CorpusDevice, CorpusKernel


@dataclass(frozen=True, slots=True)
class ClusterOrder:
    """A few kernels, with those launches alone that are due, to build and to time on one device."""

    device: CorpusDevice
    kernels: tuple[CorpusKernel, ...]
    keys: tuple[RowKey, ...]
    limits: JobLimits
    build_job: str
    time_job: str

    def of_kernel(self, kernel_id: str) -> ClusterOrder:
        """Return the part of it that is about one kernel."""
        return ClusterOrder(
            self.device,
            tuple(kernel for kernel in self.kernels if kernel.id == kernel_id),
            tuple(key for key in self.keys if key.kernel_id == kernel_id),
            self.limits,
            self.build_job,
            self.time_job,
        )


@dataclass(frozen=True, slots=True)
class ClusterAnswer:
    """Outcomes as the device processes gave them: a value, or a KernelcastError in its place."""

    built: tuple[tuple[str, object], ...]  # by the kernel's id
    timed: tuple[tuple[RowKey, object], ...]
