"""On a machine that others use, launches are timed again, and those that stay disturbed teach nothing."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.learned.learned import WEIGHTS_VARIABLE
from model.learned.lessons import Lessons
from profiler.learning import AGAIN, MOST_TRIES, LearnProgress, learn
from profiler.measurement import Measurement, MeasureRequest
from profiler.store import FILE_NAME, Store
from server.cli import main
from server.cli.diagnosis import examine
from server.text.learned import learned_words

GPU = "nvidia-h100-80gb-hbm3"
AT_ONCE, AGAIN_AFTER = 2, 2  # kernels in a batch, batches until a launch is timed again: few, to be quick
Busy = Callable[[int, int], bool]  # in the nth batch, the mth try of a launch


class Machine:
    """One that others use in batches and tries as `busy` says; what is timed then takes nine times as long."""

    def __init__(self, busy: Busy) -> None:
        self.busy = busy
        self.batches: list[list[str]] = []  # of launches
        self.tries: dict[str, int] = {}

    def measure_all(self, requests: Sequence[MeasureRequest], **_: object) -> tuple[Measurement, ...]:
        self.batches.append([])
        return tuple(map(self._measured, requests))

    def _measured(self, request: MeasureRequest) -> Measurement:
        key = request.kernel.fingerprint + request.launch.key
        self.batches[-1].append(key)
        self.tries[key] = self.tries.get(key, 0) + 1
        is_busy = self.busy(len(self.batches), self.tries[key])
        us, used_percent = (900.0, 45.0) if is_busy else (100.0, 1.0)
        return Measurement(
            kernel=request.kernel.name, kernel_fingerprint=request.kernel.fingerprint, launch_key=request.launch.key,
            launch="", device_id=GPU, device_name="", driver="", median_us=us, p10_us=us, p90_us=us, ci95_us=(us, us),
            repeats=9, batches=3, batch_spread_percent=1.0, local_size=(64,), load_average=0.1,
            measured_at=f"2026-01-01T00:00:{len(self.batches):02}+00:00", programs_percent=used_percent,
            guests_percent=0.0, is_disturbed=is_busy,
        )  # fmt: skip


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path))
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    found = find_builtin(GPU)
    assert found is not None
    return found


@pytest.fixture
def learned(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[LearnProgress, Machine]]:
    monkeypatch.setattr("profiler.learning.AT_ONCE", AT_ONCE)
    monkeypatch.setattr("profiler.learning.AGAIN_AFTER", AGAIN_AFTER)

    def run(busy: Busy, kernels: int, told: list[str] | None = None) -> tuple[LearnProgress, Machine]:
        machine, heard = Machine(busy), told if told is not None else []
        monkeypatch.setattr("profiler.learning.measure_all", machine.measure_all)
        done = learn(
            gpu, Store.open(), minutes=600, most_kernels=kernels, on_progress=lambda _, text: heard.append(text),
            cancel=threading.Event(),
        )  # fmt: skip
        return done, machine

    return run


def lessons_of(device: Device) -> Lessons:
    return Lessons.of(Store.open().lessons(device.id, device.driver))


def test_a_disturbed_launch_is_timed_again_later_in_the_same_run(
    gpu: Device, learned: Callable[..., tuple[LearnProgress, Machine]]
) -> None:
    kernels = (AGAIN_AFTER + 1) * AT_ONCE
    done, machine = learned(lambda batch, _: batch == 1, kernels)
    again = [at for at, batch in enumerate(machine.batches) if machine.batches[0][0] in batch]
    assert again == [0, AGAIN_AFTER], "not at once: what disturbed it may not be over"
    assert set(machine.tries.values()) == {1, 2}
    assert (done.kernels, done.disturbed, done.is_mostly_disturbed) == (kernels, 0, False)
    assert done.timed == done.launches == len(machine.tries)
    known = lessons_of(gpu)
    assert (len(known.lessons), known.disturbed) == (done.launches, 0)
    assert {each.measured_us for each in known.lessons} == {100.0}


def test_on_a_machine_that_stays_busy_nothing_is_learned_and_the_user_is_told_what_to_do(
    gpu: Device, learned: Callable[..., tuple[LearnProgress, Machine]], capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    done, machine = learned(lambda *_: True, 2, told)
    assert set(machine.tries.values()) == {MOST_TRIES}
    assert told[-1] == AGAIN
    assert (done.kernels, done.launches, done.disturbed) == (0, 0, len(machine.tries))
    said = learned_words(GPU, done)
    assert f"{done.disturbed} launches are left out, as others used the machine while they were timed" in said
    assert said.startswith(f"no kernel of the corpus is known on {GPU}; ")
    assert "used 45 % of the processors" in said
    assert said.endswith("end what else runs, then `kernelcast learn` times it again")
    known = lessons_of(gpu)
    assert (known.lessons, known.version, known.disturbed) == ((), "", done.disturbed)
    assert main(["devices", "--show", GPU]) == 0
    assert f"{done.disturbed} launches are left out" in " ".join(capsys.readouterr().out.split())
    assert main(["devices", "--show", GPU, "--format", "json"]) == 0
    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert (accuracy["disturbed"], accuracy["launches"], accuracy["by_itself"]) == (done.disturbed, 0, None)


def test_a_later_run_times_again_what_was_left_out(
    gpu: Device, learned: Callable[..., tuple[LearnProgress, Machine]], capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = learned(lambda *_: True, 2)
    second, machine = learned(lambda *_: False, 2)
    assert (second.timed, second.launches, second.disturbed) == (first.disturbed, first.disturbed, 0)
    third, idle = learned(lambda *_: True, 2)
    assert (third.timed, third.launches, idle.batches) == (0, second.launches, [])
    known = lessons_of(gpu)
    assert (len(known.lessons), known.disturbed) == (len(machine.tries), 0)
    assert main(["devices", "--show", GPU]) == 0
    assert "left out, as" not in capsys.readouterr().out


def test_disturbed_launches_are_neither_fitted_nor_judged_by(
    gpu: Device, learned: Callable[..., tuple[LearnProgress, Machine]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each launch of the first two kernels is, whenever it is timed."""

    def figures() -> dict[str, object]:
        assert main(["devices", "--show", GPU, "--format", "json"]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)["accuracy"]
        return found

    done, _ = learned(lambda batch, _: batch in (1, 3, 5), 3 * AT_ONCE)
    after = figures()
    assert 0 < done.disturbed < done.launches
    assert after["disturbed"] == done.disturbed
    assert after["launches"] == done.launches
    assert not done.is_mostly_disturbed
    with closing(sqlite3.connect(Store.open().path)) as database, database:
        database.execute("DELETE FROM measurements WHERE json_extract(measurement, '$.is_disturbed')")
    assert figures() == {**after, "disturbed": 0}


def test_what_was_kept_before_loads_were_teaches_on(
    gpu: Device, learned: Callable[..., tuple[LearnProgress, Machine]], tmp_path: Path
) -> None:
    done, _ = learned(lambda *_: False, 2)
    before = lessons_of(gpu)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database, database:
        database.execute(
            "UPDATE measurements SET measurement = json_remove(measurement, '$.is_disturbed', '$.guests_percent',"
            " '$.programs_percent')"
        )
    older = Store.open().everything()
    assert {(each.measurement.is_disturbed, each.measurement.guests_percent) for each in older} == {(False, None)}
    assert lessons_of(gpu) == before
    again, machine = learned(lambda *_: True, 2)
    assert (again.launches, machine.batches) == (done.launches, [])


def test_a_run_that_is_hardly_disturbed_says_how_much_is_left_out_and_no_more() -> None:
    done = LearnProgress(kernels=9, launches=17, failed=0, timed=18, disturbed=1, programs_percent=30.0)
    said = learned_words("pocl", done)
    assert said.endswith("known on pocl; 1 launch is left out, as others used the machine while it was timed")
    assert "left out" not in learned_words("pocl", replace(done, disturbed=0, programs_percent=None))


def test_the_doctor_says_what_is_left_out_of_a_devices_lessons(
    gpu: Device, learned: Callable[..., tuple[LearnProgress, Machine]], tmp_path: Path
) -> None:
    done, _ = learned(lambda *_: True, 1)
    found = list(examine(tmp_path, lambda _: (gpu,)))
    (told,) = [each.text for each in found if "left out" in each.text]
    assert told.startswith(f"{done.disturbed} launches are left out, as others used the machine")
    assert "`kernelcast learn` times it again" in told
