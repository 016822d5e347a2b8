"""`kernelcast learn`: kernels of the corpus are measured once, kept, and correct what is answered on that device."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from model.analytic.launch_times import launch_times
from model.device import Device, ProfileSource
from model.device_catalog import device_from_json, find_builtin
from model.device_curves import CALIBRATION_VERSION, Calibration
from model.engine import Engine
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.learned.learned import WEIGHTS_VARIABLE
from model.learned.lessons import packed, unpacked
from model.learned.residual_gp import FEWEST_TO_JUDGE
from model.observing import count_observed
from model.opencl.kernel import Kernel
from model.opencl.program import read_program
from model.work.analyse import analyse
from profiler import learning
from profiler.corpus.family import FAMILIES, PROGRAM
from profiler.devices import discover, find_device
from profiler.learning import FIRST_SEED, PAUSED, learn, learning_kernels
from profiler.measure import measure_all
from profiler.measurement import Cancelled, MeasureError, Measurement, MeasureRequest
from profiler.process.worker import CancelToken
from profiler.store import Store
from server.cli import main


def test_the_same_kernels_are_drawn_everywhere_half_of_them_of_a_programs_scale() -> None:
    made, again = (list(islice(learning_kernels(), 24)) for _ in range(2))
    assert [each.id for each in made] == [each.id for each in again]
    assert len({each.id for each in made}) == 24
    assert sum(FAMILIES[each.family].scale is PROGRAM for each in made) == 12
    assert all(int(each.reference.rpartition("/")[2]) >= FIRST_SEED for each in made)


GPU = "nvidia-h100-80gb-hbm3"
SCALE = "// kernelcast: global=1048576 local=64 n=1048576\n" + (
    "__kernel void scale(__global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }\n"
)

# What is launched of the same kernels on the same GPU takes a second each to work out.
_exercises = functools.cache(learning._exercises)


@pytest.fixture
def worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kernels to learn from, for all tests of the GPU."""
    monkeypatch.setattr(learning, "_exercises", _exercises)


def taught_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch, kernels: int, times: float) -> Device:
    """A GPU on which this number of kernels took so many times as long as predicted: nothing runs."""
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(folder))
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    gpu = find_builtin(GPU)
    assert gpu is not None

    def run(requests: Sequence[MeasureRequest], **_: object) -> tuple[Measurement, ...]:
        return tuple(
            timed(each, times * analytical_us(each.source, each.kernel, each.launch, gpu)) for each in requests
        )

    monkeypatch.setattr(learning, "measure_all", run)
    told: list[float] = []
    done = learn(
        gpu, Store.open(), minutes=60, most_kernels=kernels, on_progress=lambda fraction, _: told.append(fraction),
        cancel=threading.Event(),
    )  # fmt: skip
    assert (done.kernels, done.failed) == (kernels, 0)
    assert told == sorted(told)
    return gpu


@functools.cache
def analytical_us(source: str, kernel: Kernel, wanted: Launch, device: Device) -> float:
    program = read_program(source, None, wanted.options)
    launch = on_device(wanted, device)
    work = analyse(program, kernel)
    counts = count_observed(program, kernel, work, launch)
    return launch_times(counts, device).bounded_us


def timed(request: MeasureRequest, median_us: float) -> Measurement:
    return Measurement(
        kernel=request.kernel.name, kernel_fingerprint=request.kernel.fingerprint, launch_key=request.launch.key,
        launch="", device_id=GPU, device_name="", driver="", median_us=median_us, p10_us=median_us, p90_us=median_us,
        ci95_us=(median_us, median_us), repeats=9, batches=3, batch_spread_percent=1.0, local_size=(64,),
        load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def predicted_us(file: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, float]:
    capsys.readouterr()
    assert main(["predict", str(file), "--device", GPU, "--format", "json", *flags]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["basis"] == "analytic"
    us: dict[str, float] = told["runtime_us"]
    return us


@pytest.mark.usefixtures("worked_out_once")
@pytest.mark.parametrize(("kernels", "is_used"), [(FEWEST_TO_JUDGE + 2, True), (FEWEST_TO_JUDGE - 4, False)])
def test_a_gpu_is_learned_as_a_cpu_is_and_has_to_prove_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernels: int, is_used: bool
) -> None:
    """The learned model is not trained for GPUs: it is the analytical model's answers that are corrected."""
    file = tmp_path / "scale.cl"
    file.write_text(SCALE)
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    before = predicted_us(file, capsys)
    taught_gpu(tmp_path / "data", monkeypatch, kernels, times=2.0)
    after = predicted_us(file, capsys)
    if is_used:
        assert after["p50"] == pytest.approx(2 * before["p50"], rel=0.15)
        assert after["p90"] / after["p50"] == pytest.approx(before["p90"] / before["p50"], rel=0.01)
        assert after["p10"] < after["p50"]
    else:
        assert after == before
    assert predicted_us(file, capsys, "--analytic-only") == before
    assert main(["predict", str(file), "--device", GPU, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["corrected"] is is_used
    assert main(["predict", str(file), "--device", GPU]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert ("analytical model, corrected by measurements of other kernels" in said) is is_used
    capsys.readouterr()
    assert main(["devices", "--show", GPU, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["accuracy"]
    assert told["kernels"] == kernels
    assert told["is_used"] is is_used
    assert told["by_itself"]["median_percent"] == pytest.approx(50, abs=1)


def test_a_gpu_of_which_nothing_was_learned_is_asked_about_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = find_builtin(GPU)
    assert gpu is not None
    (plain,) = Engine(asks=True).forecast(SCALE, None, gpu).forecasts
    assert plain.question is None
    engine = Engine(asks=True, is_taught=lambda device: device.id == GPU)
    (asked,) = engine.forecast(SCALE, None, gpu).forecasts
    assert asked.question is not None
    assert asked.prediction is not None
    assert asked.question.analytic_alone is not None
    assert asked.question.analytic_alone.p50 == asked.prediction.runtime_us.p50
    assert asked.question.analytic_alone.p90 == pytest.approx(asked.prediction.runtime_us.p90)
    kept = unpacked(packed(asked.question))
    assert kept is not None
    assert (kept.key, kept.analytic_alone) == (asked.question.key, asked.question.analytic_alone)


class Editor:
    """Its user wants to measure something once `after` launches were measured, `times` times."""

    def __init__(self, store: Store, after: int, times: int = 1) -> None:
        self._store, self._after, self._times = store, after, times
        self.measured: list[str] = []  # keys of kernel and launch
        self.kept: list[int] = []  # launches in the store whenever it had the device
        self.is_wanted = False

    def give_way(self) -> None:
        self.kept.append(len(self._store.everything()))
        self.is_wanted = False

    def measure_all(
        self, requests: Sequence[MeasureRequest], *, cancel: CancelToken, **_: object
    ) -> tuple[Measurement | MeasureError, ...]:
        outcomes: list[Measurement | MeasureError] = []
        for each in requests:
            if cancel.is_set():
                outcomes.append(Cancelled("cancelled"))
                continue
            outcomes.append(timed(each, 100.0))
            self.measured.append(each.kernel.fingerprint + each.launch.key)
            self.is_wanted = len(self.measured) % self._after == 0 and len(self.kept) < self._times
        return tuple(outcomes)


@pytest.mark.usefixtures("worked_out_once")
def test_learning_gives_way_to_a_measurement_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = find_builtin(GPU)
    assert gpu is not None
    store = Store.open(tmp_path / "store")
    editor = Editor(store, after=2, times=2)
    monkeypatch.setattr(learning, "measure_all", editor.measure_all)
    told: list[tuple[float, str]] = []
    done = learn(
        gpu, store, minutes=60, most_kernels=4, on_progress=lambda *each: told.append(each), cancel=threading.Event(),
        turns=editor,
    )  # fmt: skip
    assert editor.kept == [2, 4], "what was measured is kept before others have the device"
    assert len(editor.measured) == len(set(editor.measured)) == done.launches, "each once"
    assert (done.kernels, done.failed) == (4, 0)
    assert [text for _, text in told].count(PAUSED) == 2
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)


@pytest.mark.usefixtures("worked_out_once")
def test_learning_that_is_cancelled_while_others_have_the_device_measures_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = find_builtin(GPU)
    assert gpu is not None
    store, cancel = Store.open(tmp_path / "store"), threading.Event()
    editor = Editor(store, after=2)
    monkeypatch.setattr(learning, "measure_all", editor.measure_all)
    monkeypatch.setattr(editor, "give_way", cancel.set)
    done = learn(gpu, store, minutes=60, most_kernels=9, on_progress=lambda *_: None, cancel=cancel, turns=editor)
    assert done.launches == len(store.everything()) == 2


@pytest.fixture
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing counts as disturbed, whatever else runs beside the tests."""

    def run(*arguments: Any, **named: Any) -> tuple[Measurement | MeasureError, ...]:
        outcomes = measure_all(*arguments, **named)
        return tuple(replace(o, is_disturbed=False) if isinstance(o, Measurement) else o for o in outcomes)

    monkeypatch.setattr(learning, "measure_all", run)


@pytest.mark.device
@pytest.mark.usefixtures("quiet_machine")
def test_what_is_measured_is_a_lesson_and_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    call = ["learn", "--device", "pocl", "--kernels", "2", "--minutes", "5"]
    assert main(call) == 0
    said = capsys.readouterr().out
    assert "of 2 kernels of the corpus are known on pocl" in said
    assert "predictions are off by" in said
    device = find_device(discover(), "pocl")
    lessons = Store.open().lessons(device.id, device.driver)
    assert 2 <= len(lessons) <= 4
    assert all(unpacked(each.question) is not None for each in lessons)
    assert {each.family for each in lessons} <= FAMILIES.keys()
    assert main(call) == 0
    assert len(Store.open().everything()) == len(lessons)
    capsys.readouterr()
    for command in (["devices", "--show", "pocl"], ["doctor"]):
        main(command)
        assert "of 2 kernels of 2 families measured here" in " ".join(capsys.readouterr().out.split())
    assert main(["devices", "--show", "pocl", "--format", "json"]) == 0
    shown = capsys.readouterr().out
    told = json.loads(shown)["accuracy"]
    assert (told["launches"], told["kernels"], told["families"]) == (len(lessons), 2, 2)
    assert told["by_itself"]["median_percent"] > 0 < told["left_out"]["median_percent"]
    assert device_from_json(shown).rates == device.rates


@pytest.mark.device
@pytest.mark.usefixtures("quiet_machine")
def test_who_stops_it_keeps_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "AT_ONCE", 2)
    store, cancel = Store.open(tmp_path / "store"), threading.Event()
    device = find_device(discover(), "pocl")

    def stop(_fraction: float, text: str) -> None:
        if not text.startswith("0"):
            cancel.set()

    done = learn(device, store, minutes=10, most_kernels=50, on_progress=stop, cancel=cancel)
    assert 0 < done.kernels < 50
    assert len(store.lessons(device.id, device.driver)) == done.launches


def test_what_an_editors_extension_is_packed_with_is_enough_to_learn(repository: Path) -> None:
    """It comes without the dataset and what makes it."""
    script = (repository / "editors/vscode/scripts/wheel.ts").read_text()
    left_out = re.findall(r"'(profiler/[\w/]+)'", script)
    assert "profiler/corpus/data" in left_out
    imported = "profiler.learning, profiler.device_worker.judging, profiler.device_worker.measuring"
    code = f"import sys, {imported}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    names = loaded.stdout.split()
    assert "profiler.corpus.generate" in names
    packages = [folder.replace("/", ".") for folder in left_out]
    assert [name for name in names if any(f"{name}.".startswith(f"{each}.") for each in packages)] == []


def calibrated(device_id: str, **_: object) -> Device:
    """As if it had been measured: tests of calibrations, and of what the documentation shows, do measure."""
    device = find_device(discover(), device_id)
    made = Calibration(CALIBRATION_VERSION, True, 30.0, 3, 0, 2, 0.1, None)
    return replace(device, source=ProfileSource.CALIBRATED, measured_at="2026-01-01T00:00:00+00:00", calibration=made)


@pytest.mark.device
@pytest.mark.usefixtures("quiet_machine")
def test_a_calibration_ends_with_kernels_that_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once more, they are not measured again, and what they teach is of the new calibration."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    monkeypatch.setattr(learning, "QUICK_KERNELS", 2)
    monkeypatch.setattr("server.cli.calibrate.calibrate", calibrated)
    assert main(["calibrate", "pocl", "--quick"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of 2 kernels of the corpus are known on pocl" in said
    assert "predictions are off by" in said
    store = Store.open()
    (device,) = store.profiles()
    before = store.lessons(device.id, device.driver)
    changed = replace(device, rates=replace(device.rates, launch_floor_us=device.rates.launch_floor_us * 2))
    done = learn(changed, store, minutes=5, most_kernels=2, on_progress=lambda *_: None, cancel=threading.Event())
    after = store.lessons(device.id, device.driver)
    assert done.launches == len(before) == len(after) == len(store.everything())
    assert {each.question for each in before}.isdisjoint({each.question for each in after})
    assert {each.measured_us for each in before} == {each.measured_us for each in after}
