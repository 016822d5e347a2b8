"""`kernelcast learn`: kernels of the corpus are measured once, kept, and correct what is answered on that device."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from model.device_catalog import device_from_json, find_builtin
from model.learned.learned import WEIGHTS_VARIABLE
from model.learned.lessons import unpacked
from profiler.corpus.family import FAMILIES, PROGRAM
from profiler.devices import discover, find_device
from profiler.learning import FIRST_SEED, CannotLearn, learn, learning_kernels
from profiler.store import Store
from server.cli import main


def test_the_same_kernels_are_drawn_everywhere_half_of_them_of_a_programs_scale() -> None:
    made, again = (list(islice(learning_kernels(), 24)) for _ in range(2))
    assert [each.id for each in made] == [each.id for each in again]
    assert len({each.id for each in made}) == 24
    assert sum(FAMILIES[each.family].scale is PROGRAM for each in made) == 12
    assert all(int(each.reference.rpartition("/")[2]) >= FIRST_SEED for each in made)


def test_of_a_gpu_there_is_nothing_to_learn_yet(tmp_path: Path) -> None:
    gpu = find_builtin("nvidia-h100-80gb-hbm3")
    assert gpu is not None
    with pytest.raises(CannotLearn, match="analytical model"):
        learn(gpu, Store.open(tmp_path / "s"), minutes=1, on_progress=lambda *_: None, cancel=threading.Event())


@pytest.mark.device
def test_what_is_measured_is_a_lesson_and_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    call = ["learn", "--device", "pocl", "--kernels", "2", "--minutes", "5"]
    assert main(call) == 0
    said = capsys.readouterr().out
    assert "of 2 kernels of the corpus are known on pocl" in said
    assert "the model is off by" in said
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
def test_who_stops_it_keeps_what_was_measured(tmp_path: Path) -> None:
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
    code = "import sys, profiler.learning, profiler.child.judging, profiler.child.measuring; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    names = loaded.stdout.split()
    assert "profiler.corpus.generate" in names
    packages = [folder.replace("/", ".") for folder in left_out]
    assert [name for name in names if any(f"{name}.".startswith(f"{each}.") for each in packages)] == []


@pytest.mark.device
def test_a_calibration_ends_with_kernels_that_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once more, they are not measured again, and what they teach is of the new calibration."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    monkeypatch.setattr("profiler.learning.QUICK_KERNELS", 2)
    assert main(["calibrate", "pocl", "--quick"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of 2 kernels of the corpus are known on pocl" in said
    assert "the model is off by" in said
    store = Store.open()
    (device,) = store.profiles()
    before = store.lessons(device.id, device.driver)
    changed = replace(device, rates=replace(device.rates, launch_floor_us=device.rates.launch_floor_us * 2))
    done = learn(changed, store, minutes=5, most_kernels=2, on_progress=lambda *_: None, cancel=threading.Event())
    after = store.lessons(device.id, device.driver)
    assert done.launches == len(before) == len(after) == len(store.everything())
    assert {each.question for each in before}.isdisjoint({each.question for each in after})
    assert {each.measured_us for each in before} == {each.measured_us for each in after}
