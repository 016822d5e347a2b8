"""What running some of the work-items of launches told, kept for all who predict: by what it follows from."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cachetools import LRUCache

if TYPE_CHECKING:
    from model.work.walk.sample import Sample

_KEPT = 4096  # some 2 KB each


class SampleKey(NamedTuple):
    """Everything that a sample follows from."""

    fingerprint: str  # of the kernel
    flags: tuple[str, ...]
    launch: str  # its key


class Samples:
    """Safe for all threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: LRUCache[SampleKey, Sample] = LRUCache(_KEPT)

    def of(self, key: SampleKey) -> Sample | None:
        with self._lock:
            return self._known.get(key)

    def put(self, key: SampleKey, sample: Sample) -> None:
        with self._lock:
            self._known[key] = sample
