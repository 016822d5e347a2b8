"""`kernelcast dataset generate` and `collect`, as a user types them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(kernelcast: str, tmp_path: Path) -> Call:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [kernelcast, "dataset", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    return run


@pytest.mark.device
def test_a_kernel_is_made_and_measured_and_not_a_second_time(call: Call, tmp_path: Path) -> None:
    made = call("generate", "--workdir", "my corpus", "--count", "1")
    assert (made.returncode, "1 kernels are new" in made.stderr) == (0, True), made.stderr
    words = ("collect", "--workdir", "my corpus", "--devices", "pocl:1", "--disturbed-over", "100")
    done = call(*words)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 rows, 1 kernels" in done.stderr
    assert "pocl" in done.stdout
    again = call(*words)
    assert (again.returncode, "1 of 1 rows, 1 kernels; all of it" in again.stderr) == (0, True), again.stderr
    watched = json.loads((tmp_path / "my corpus/progress.json").read_text())
    assert (watched["rows"], watched["new_rows"], watched["doing"]) == (1, 0, "done")


@pytest.mark.device
def test_a_device_that_is_not_here_is_named(call: Call) -> None:
    done = call("collect", "--workdir", "w", "--devices", "nvidia-h100-1core")
    assert done.returncode == 1
    assert "no device answers to `nvidia-h100-1core`" in done.stderr


@pytest.mark.parametrize("text", ["pocl:", "pocl:0", ",pocl"])
def test_devices_that_are_written_wrongly_are_a_wrong_call(text: str, call: Call) -> None:
    done = call("collect", "--workdir", "w", "--devices", text)
    assert done.returncode == 2
    assert "--devices is written like pocl:2,intel-1core" in done.stderr


def test_a_family_that_is_not_there_is_a_wrong_call(call: Call) -> None:
    done = call("generate", "--workdir", "w", "--count", "1", "--family", "sparse_produts")
    assert done.returncode == 2
    assert "there is no family `sparse_produts`" in done.stderr


def test_a_step_must_be_named(call: Call) -> None:
    assert call().returncode == 2


def test_a_pace_of_a_device_that_the_dataset_lacks_is_refused(call: Call, repository: Path) -> None:
    asked = call("paces", str(repository / "profiler/corpus/data"), "--device", "rtx", "--minutes", "0.1")
    assert asked.returncode != 0
    names = sorted(json.loads((repository / "profiler/corpus/data/devices.json").read_text()))
    assert names
    assert asked.stderr == f"kernelcast: no rows of `rtx`: the dataset's devices are {', '.join(names)}\n"
