"""Where the work of a chunk is done: on this machine, or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from profiler.corpus.collection.store import RowKey
from profiler.corpus.kernel import CorpusDevice, CorpusKernel, CorpusLaunch

OnBuilt = Callable[[CorpusDevice, CorpusKernel, object], None]
OnTimed = Callable[[RowKey, object], None]


@dataclass(frozen=True, slots=True)
class DueOn:
    """What is due on one device. `kernels` by their ids, with all their launches."""

    device: CorpusDevice
    keys: tuple[RowKey, ...]
    kernels: Mapping[str, CorpusKernel]

    def kernels_with_due_launches(self) -> list[CorpusKernel]:
        """Return each with those launches alone that are due."""
        wanted: dict[str, set[str]] = {}
        for key in self.keys:
            wanted.setdefault(key.kernel_id, set()).add(key.launch_key)
        return [
            replace(kernel, launches=tuple(each for each in kernel.launches if each.launch.key in wanted[kernel_id]))
            for kernel_id, kernel in self.kernels.items()
            if kernel_id in wanted
        ]


class Workplace(Protocol):
    """Each method returns when all of it is done, and tells every outcome as soon as it is known. Raises Cancelled."""

    def build(self, due: Sequence[DueOn], on_built: OnBuilt) -> None: ...
    def time(self, due: Sequence[DueOn], on_built: OnBuilt, on_timed: OnTimed) -> None: ...
    def end_chunk(self) -> None:
        """Remove what was compiled for the chunk."""


def portions(keys: Sequence[RowKey], most: int) -> list[list[RowKey]]:
    """Return the keys in their order, in portions of about `most`.

    Those of one kernel stay together, as they share its program.
    """
    found: list[list[RowKey]] = []
    for key in keys:
        is_new_kernel = not found or found[-1][-1].kernel_id != key.kernel_id
        if not found or (len(found[-1]) >= most and is_new_kernel):
            found.append([])
        found[-1].append(key)
    return found


def launch_of(kernel: CorpusKernel, key: RowKey) -> CorpusLaunch:
    return next(each for each in kernel.launches if each.launch.key == key.launch_key)
