"""Measurements of earlier sessions, cached for the analysis thread: no keystroke reads the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cachetools import LRUCache

from model.compiled import CompiledFacts, FactsKey, key_of, moved_to
from model.device import Device
from model.launch.launch import Launch
from model.launch.recorded import RecordedLaunch
from model.learned.lessons import Lessons
from model.opencl.kernel import Kernel
from profiler.compile_cache import known_facts
from profiler.measurement import Measurement
from profiler.recording.recordings import project_of, recorded_launches
from profiler.store import Store, StoreError, kernel_id
from profiler.store.database import State, files_of_store
from server.analysis.sources import MeasuredLaunch

FRESH_S = 10.0  # how long another editor's new measurement may stay unnoticed
PATIENCE_S = 0.2  # for a store that is locked: predictions do not wait for it
_KEPT = 4096
_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class _Measured:
    """Which kernels were measured on a device: as they look, and by file and name."""

    fingerprints: frozenset[str] = frozenset()
    kernel_ids: frozenset[str] = frozenset()


_NOTHING = _Measured()
_RecordedLaunches = Mapping[str, tuple[RecordedLaunch, ...]]  # by kernel
_UNREAD: _RecordedLaunches = {}
_SETTLED_S = 2.0  # a file that changed later than that may change again without a sign: clocks of file systems tick


class StoreCache:
    """A store that may be unusable, or partly so: `problem` says what is not remembered and why.

    What was read is kept until the store's files change, for which they are looked at every `FRESH_S`. An edit makes a
    new kernel of the one that it lies in: that nothing is known of it is told by the list of all that were measured.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._unusable = ""
        self._left_out: dict[str, None] = {}
        self._state: State = ()
        self._look_again_s = 0.0
        self._ask_again_s = 0.0
        self._last: LRUCache[tuple[str, str, str], Measurement | None] = LRUCache(_KEPT)
        self._ids: LRUCache[tuple[str, str], str] = LRUCache(_KEPT)
        self._measured: LRUCache[str, _Measured] = LRUCache(_KEPT)
        self._runs: LRUCache[tuple[str, str], tuple[MeasuredLaunch, ...]] = LRUCache(_KEPT)
        self._versions: LRUCache[tuple[str, str, str, str], tuple[MeasuredLaunch, ...]] = LRUCache(_KEPT)
        self._compiled: LRUCache[tuple[FactsKey, str, str], CompiledFacts | None] = LRUCache(_KEPT)
        self._with_code: LRUCache[tuple[str, str], frozenset[str]] = LRUCache(_KEPT)
        self._profiles: LRUCache[str, tuple[Device, ...]] = LRUCache(1)
        self._lessons: LRUCache[tuple[str, str], Lessons] = LRUCache(_KEPT)
        self._projects: LRUCache[Path, Path] = LRUCache(_KEPT)
        self._recorded_in: LRUCache[Path, tuple[tuple[str, ...], _RecordedLaunches]] = LRUCache(64)
        self._recorded: LRUCache[tuple[Path, str], tuple[RecordedLaunch, ...]] = LRUCache(_KEPT)
        self._read_last: LRUCache[tuple[Path, tuple[str, ...]], _RecordedLaunches] = LRUCache(1)

    @property
    def problem(self) -> str:
        """What is not remembered and why, in sentences for the user; "" if all is well."""
        return self._unusable or ". ".join(self._left_out)

    def profiles(self) -> tuple[Device, ...]:
        """Return the calibrated profiles."""
        return self._known(self._profiles, "all", lambda store: store.profiles(), ())

    def runs(self, fingerprint: str, device_id: str) -> tuple[MeasuredLaunch, ...]:
        """Return the measurements of exactly this kernel, the newest first; only the newest of each launch."""
        if fingerprint not in self._measured_on(device_id).fingerprints:
            return ()
        return self._known(self._runs, (fingerprint, device_id), lambda store: _runs(store, fingerprint, device_id), ())

    def versions(self, path: Path | None, kernel: str, device: Device) -> tuple[MeasuredLaunch, ...]:
        """Return what was measured of the kernel of that name in that file, however it looked, the newest first."""
        if path is None or self._id_of(path, kernel) not in self._measured_on(device.id).kernel_ids:
            return ()
        key = str(path), kernel, device.id, device.driver
        return self._known(self._versions, key, lambda store: _versions(store, path, kernel, device), ())

    def with_code(self, device: Device) -> frozenset[str]:
        """Return the fingerprints of the kernels that have compiled facts in the store."""
        here = device.id, device.driver
        return self._known(self._with_code, here, lambda store: store.compiled_kernels(*here), frozenset[str]())

    def compiled(self, kernel: Kernel, launch: Launch, device: Device) -> CompiledFacts | None:
        """Return the stored compiled facts of this kernel."""
        here = device.id, device.driver
        if kernel.fingerprint not in self.with_code(device):
            return None
        found = self._known(
            self._compiled,
            (key_of(kernel, launch, device.id), *here),
            lambda store: known_facts(store, kernel, launch, *here),
            None,
        )
        return moved_to(found, kernel) if found else None

    def lessons(self, device: Device) -> Lessons:
        """Return the measurements on this device, under its present driver, that correct the learned model."""
        here = device.id, device.driver
        return self._known(self._lessons, here, lambda store: Lessons.of(store.lessons(*here)), Lessons())

    def is_taught(self, device: Device) -> bool:
        """Whether something was measured there that corrects what is predicted."""
        return bool(self.lessons(device).lessons)

    def last(self, path: Path | None, kernel: str, device_id: str) -> Measurement | None:
        """Return the newest measurement of the kernel of that name in that file, whatever its source was then."""
        if path is None:
            return None
        if self._id_of(path, kernel) not in self._measured_on(device_id).kernel_ids:
            return None
        return self._known(
            self._last, (str(path), kernel, device_id), lambda store: _last(store, path, kernel, device_id), None
        )

    def recorded(self, path: Path | None, kernels: Collection[str]) -> _RecordedLaunches:
        """Return what was recorded, in the project that the file belongs to, of the kernels of these names."""
        if path is None:
            return {}
        self._look_for_news()
        names = tuple(kernels)
        last = self._recorded_in.get(path)
        if last is not None and last[0] == names:  # as after most keystrokes
            return last[1]
        project = self.project(path)
        unknown = tuple(dict.fromkeys(name for name in kernels if (project, name) not in self._recorded))
        if not unknown:
            self._recorded_in[path] = names, {name: self._recorded[project, name] for name in names}
            return self._recorded_in[path][1]
        found = self._known(
            self._read_last, (project, unknown), lambda store: recorded_launches(store, project, unknown), _UNREAD
        )
        if found is not _UNREAD:
            self._recorded.update({(project, name): tuple(found.get(name, ())) for name in unknown})
        return {name: self._recorded.get((project, name), ()) for name in names}

    def project(self, path: Path) -> Path:
        """Return the folder of the project that a file belongs to."""
        folder = path.parent
        if folder not in self._projects:
            self._projects[folder] = project_of(folder)
        return self._projects[folder]

    def look_now(self) -> None:
        """Read the store at the next question: its files have changed."""
        self._look_again_s = 0.0

    def forget(self, path: Path) -> None:
        """Drop what is kept of a file that was closed."""
        for key in [key for key in self._ids if key[0] == str(path)]:
            del self._ids[key]
        for last in [key for key in self._last if key[0] == str(path)]:
            del self._last[last]
        for versions in [key for key in self._versions if key[0] == str(path)]:
            del self._versions[versions]
        self._recorded_in.pop(path, None)

    def _id_of(self, path: Path, kernel: str) -> str:
        key = str(path), kernel
        if key not in self._ids:
            self._ids[key] = kernel_id(path, kernel)  # which follows links, and so asks the disk
        return self._ids[key]

    def _measured_on(self, device_id: str) -> _Measured:
        return self._known(self._measured, device_id, lambda store: _measured(store, device_id), _NOTHING)

    def _known(
        self, kept: LRUCache[_Key, _Value], key: _Key, read: Callable[[Store], _Value], otherwise: _Value
    ) -> _Value:
        """Return what the store holds, cached. After a failure it is not read for a while: every kernel would wait."""
        self._look_for_news()
        if key in kept:
            return kept[key]
        if self._clock_s() < self._ask_again_s:
            return otherwise
        try:
            store = Store.open(busy_timeout_s=PATIENCE_S)
            kept[key] = read(store)
        except StoreError as error:
            self._unusable = f"Measurements are not remembered: {error.message}"
            self._ask_again_s = self._clock_s() + FRESH_S
            return otherwise
        self._unusable = ""
        if store.left_out:
            self._left_out[store.left_out] = None
        return kept[key]

    def _look_for_news(self) -> None:
        now_s = self._clock_s()
        if now_s < self._look_again_s:
            return
        self._look_again_s = now_s + FRESH_S
        self._projects.clear()
        self._recorded_in.clear()
        state = _settled(files_of_store())
        if state != self._state or not state:
            self._state = state
            self._left_out.clear()
            for kept in (self._last, self._ids, self._measured, self._runs, self._versions):
                kept.clear()
            for kept_too in (self._compiled, self._with_code, self._profiles, self._lessons):
                kept_too.clear()
            for recorded in (self._recorded, self._read_last):
                recorded.clear()


def _measured(store: Store, device_id: str) -> _Measured:
    found = store.measured_kernels(device_id)
    return _Measured(frozenset(each for each, _ in found), frozenset(each for _, each in found))


def _runs(store: Store, fingerprint: str, device_id: str) -> tuple[MeasuredLaunch, ...]:
    found = store.measurements_of(fingerprint, device_id, newest_only=True)
    return tuple(MeasuredLaunch(each.measurement, each.launch) for each in found)


def _versions(store: Store, path: Path, kernel: str, device: Device) -> tuple[MeasuredLaunch, ...]:
    found = store.versions(path, kernel, device.id, device.driver)
    return tuple(MeasuredLaunch(each.measurement, each.launch, each.question) for each in found)


def _last(store: Store, path: Path, kernel: str, device_id: str) -> Measurement | None:
    found = store.latest_for_kernel(path, kernel, device_id)
    return found.measurement if found else None


def _settled(state: State) -> State:
    """Return the state, empty where the files may have changed again already."""
    newest_s = max(changed_ns for changed_ns, _ in state) / 1e9
    return () if abs(time.time() - newest_s) < _SETTLED_S else state
