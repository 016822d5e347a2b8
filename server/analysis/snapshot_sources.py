"""What further predictions of an open document's kernels rest upon: this session's knowledge, then the store's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from model.device import Device
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from server.analysis.offline_targets import GpuCode
from server.analysis.sources import MeasuredLaunch, Sources
from server.analysis.store_cache import StoreCache
from server.snapshot import Snapshot

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
