"""Enters what came of builds and launches into the store, and counts it."""

from __future__ import annotations

from collections.abc import Sequence

from model.errors import KernelcastError
from profiler.corpus.collection.progress import Progress
from profiler.corpus.collection.store import FLOOR_SHARE, LASTING, CorpusStore, RowKey, building
from profiler.corpus.collection_jobs import BuiltKernel, TimedRow
from profiler.corpus.kernel import CorpusDevice, CorpusKernel, RowTiming
from profiler.measurement import KernelCrashed, MeasureError

MOST_IN_A_ROW = 40


class RefusedError(MeasureError):
    """A launch that must not be timed, for a reason that will not go away."""

    code = "refused"


class NothingWorks(KernelcastError):
    """Failure after failure: the device or its driver is to blame, and no more kernels are given up for it.

    No MeasureError, which would be taken for the failure of one more kernel.
    """

    code = "nothing_works"


class Book:
    """Owns the count of what was entered. Safe in several threads."""

    def __init__(
        self,
        store: CorpusStore,
        progress: Progress,
        devices: Sequence[CorpusDevice],
        *,
        stint: int,
        bad_percent: float,
        floor_share: float = FLOOR_SHARE,
    ) -> None:
        self._store = store
        self._devices = {device.id: device for device in devices}
        self._progress = progress
        self._stint = stint
        self._bad_percent = bad_percent
        self._floor_share = floor_share
        self.entered = 0
        self._in_a_row: set[str] = set()  # kernels that failed in ways that may be nobody's fault but ours

    def built(self, device: CorpusDevice, kernel: CorpusKernel, outcome: object) -> None:
        """`kernel` has the launches that were to be built."""
        self.entered += 1
        under = building(device)
        keys = [each.launch.key for each in kernel.launches]
        match outcome:
            case BuiltKernel(variants, checked, refused):
                self._in_a_row.clear()
                facts = {keys[at]: variant.facts for variant in variants for at in variant.launches}
                words = dict(zip(keys, checked, strict=False))
                self._store.save_build(device.device_id, kernel.id, facts, words)
                for each in refused:
                    self._fail(under, kernel.id, keys[each.launch], RefusedError(f"{each.code}: {each.message}"))
            case KernelcastError():
                self._fail(under, kernel.id, "", outcome)
            case _:
                self._fail(under, kernel.id, "", MeasureError(f"the build answered {outcome!r:.80}"))
        self._progress.has_built()

    def timed(self, key: RowKey, outcome: object) -> None:
        self.entered += 1
        match outcome:
            case TimedRow(timing):
                is_bad = is_disturbed(timing, self._bad_percent)
                self._in_a_row.clear()
                share = self._floor_share
                if self._store.save_row(key, timing, is_bad=is_bad, stint=self._stint, floor_share=share):
                    self._progress.has_row(key)
            case KernelcastError():
                self._fail(key.device, key.kernel_id, key.launch_key, outcome)
                if outcome.code == KernelCrashed.code:
                    device = self._devices[key.device]
                    same = [other for other in self._devices.values() if other.device_id == device.device_id]
                    self._store.give_up_if_it_crashes(device, same, key.kernel_id)
            case _:
                error = MeasureError(f"the timing answered {outcome!r:.80}")
                self._fail(key.device, key.kernel_id, key.launch_key, error)

    def _fail(self, device: str, kernel_id: str, launch_key: str, error: KernelcastError) -> None:
        case = self._store.save_failure(device, kernel_id, launch_key, error)
        if case.is_quarantined:
            self._progress.has_given_up()
        if case.code in LASTING or case.tries > 1:  # second tries follow one another, and most fail again
            return
        self._in_a_row.add(kernel_id)
        if len(self._in_a_row) >= MOST_IN_A_ROW:
            raise NothingWorks(
                f"the last {MOST_IN_A_ROW} kernels all failed on {device}, which is not their fault: {case.message}; "
                "mend that, then collect with --retry-failed"
            )


def is_disturbed(timing: RowTiming, bad_percent: float) -> bool:
    """Return whether other programs or guests of the host used more than `bad_percent` of the processors."""
    return max(timing.other_load_percent or 0.0, timing.stolen_percent or 0.0) > bad_percent
