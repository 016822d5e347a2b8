"""The launches of an open document on further devices. Lives in a background thread: importing it loads the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cachetools import LRUCache

from model.device import Device
from model.faults import contained
from model.forecast import Forecast
from model.learned.learned import weights_folder
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from server.analysis.compiled_code import GpuCode
from server.analysis.elsewhere import Elsewhere
from server.analysis.sources import MeasuredLaunch, Sources
from server.analysis.store_cache import StoreCache
from server.launch_view import Rows, Slot
from server.snapshot import Snapshot, slots

Now = Callable[[Sequence[Question], Mapping[str, Lessons]], Sequence[Answer | None]]  # the learned model's answers


def snapshot_sources(snapshot: Snapshot, now: Now | None, memory: StoreCache) -> Sources:
    """Return the sources for predictions beside those of the snapshot; without `now` no learned model is asked.

    Reads the store, and waits for the learned model: call it in a thread.
    """
    analysis = snapshot.analysis
    own = {
        m: f.launch
        for f in analysis.forecast.forecasts
        for m in snapshot.measured.values()
        if f.launch is not None and f.launch.key == m.launch_key
    }

    def ask(questions: Sequence[tuple[Question, Device]]) -> Sequence[Answer | None]:
        devices = {device.id: device for _, device in questions}
        kept = {each: memory.lessons(device) for each, device in devices.items() if each not in analysis.lessons}
        return now([question for question, _ in questions], {**analysis.lessons, **kept}) if now else ()

    def runs_of(fingerprint: str, device_id: str) -> Sequence[MeasuredLaunch]:
        newest = [
            MeasuredLaunch(m, launch)
            for m, launch in own.items()
            if m.kernel_fingerprint == fingerprint and m.device_id == device_id
        ]
        return (*newest, *memory.runs(fingerprint, device_id))

    code = GpuCode(memory, {snapshot.device.id: snapshot.compiled})
    return Sources(
        ask if now is not None else None, runs_of, memory.versions, compiled_of=memory.compiled, code_of=code.of,
        is_taught=memory.is_taught,
    )  # fmt: skip


_KEPT = 4096  # launches on devices
_Key = tuple[object, ...]


class DeviceSearch:
    """Predicts launches on further devices, each once for what it looks like. Not for two threads at once."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._asks = weights_folder() is not None
        self._unanswered = 0
        self._memory = StoreCache()
        self._known: LRUCache[_Key, Rows] = LRUCache(_KEPT)

    def rows(
        self, snapshot: Snapshot, others: Sequence[Device], is_outdated: Callable[[], bool] = lambda: False
    ) -> Mapping[Slot, Rows] | None:
        """Return the rows of each launch that has a prediction: the main device's, then those of the others.

        Return None as soon as `is_outdated`: newer text needs the processor and another answer. What was predicted
        until then is kept.
        """
        sources = snapshot_sources(snapshot, self._ask if self._asks else None, self._memory)
        elsewhere = Elsewhere(sources)
        found: dict[Slot, Rows] = {}
        for _, own in slots(snapshot.analysis.forecast):
            for slot, forecast in own:
                if is_outdated():
                    return None
                if forecast.launch is not None and forecast.prediction is not None:
                    found[slot] = self._rows(elsewhere, sources, forecast, snapshot, others)
        return found

    def _rows(
        self, elsewhere: Elsewhere, sources: Sources, forecast: Forecast, snapshot: Snapshot, others: Sequence[Device]
    ) -> Rows:
        device, path = snapshot.device, snapshot.analysis.document.path
        key = self._key(forecast, sources, device, others)
        known = self._known.get(key)
        if known is None:
            unanswered = self._unanswered
            made = contained(
                "predicting for further devices",
                partial(elsewhere.on_devices, forecast, device, others, path=path),
            )
            known = made if isinstance(made, tuple) else ()
            if self._unanswered == unanswered:  # else the learned model may have more to say the next time
                self._known[key] = known
        return known

    def _ask(self, questions: Sequence[Question], lessons: Mapping[str, Lessons]) -> Sequence[Answer | None]:
        answers = self._now(questions, lessons)
        self._unanswered += sum(each is None for each in answers)
        return answers

    def _key(self, forecast: Forecast, sources: Sources, device: Device, others: Sequence[Device]) -> _Key:
        """Return what the rows of a launch follow from: the same kernel elsewhere in the file has the same rows."""
        launch, prediction, kernel = forecast.launch, forecast.prediction, forecast.kernel
        assert launch is not None
        assert prediction is not None
        measured = tuple(
            (run.measurement.launch_key, run.measurement.measured_at)
            for each in (device, *others)
            for run in sources.runs_of(kernel.fingerprint, each.id)
        )
        taught = tuple(self._memory.lessons(each).version for each in (device, *others)) if sources.ask else ()
        said = prediction.analytic_us, prediction.runtime_us, prediction.basis, prediction.is_guessed
        return kernel.fingerprint, kernel.name, launch.key, *said, device, tuple(others), measured, taught
