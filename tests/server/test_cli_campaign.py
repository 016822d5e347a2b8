"""`kernelcast campaign`: killed and called again, it measures nothing twice, and leaves files that can be committed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from model.device import Device, DeviceType, ProfileSource
from model.device_catalog import device_from_json, device_to_json, find_builtin
from model.device_curves import CALIBRATION_VERSION, Calibration
from profiler.campaign.rows import COLUMNS
from profiler.corpus.dataset.arrow import metadata_of, read_table
from profiler.devices import discover, find_device
from profiler.gpu_hardware import UnservedGpu
from profiler.measurement import DeviceGone
from server.cli import main

SCALE = """// kernelcast: global=4096 local=64 n=4096 x=n name=small
// kernelcast: global=65536 local=64 n=65536 x=n name=large
kernel void scale(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }
"""


@dataclass(frozen=True)
class Campaign:
    """A campaign on PoCL as a user calls it, and what its store holds meanwhile."""

    kernelcast: str
    own: Path
    folder: Path

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        command = [self.kernelcast, "campaign", "--device", "pocl", "--minutes", "60", "--calibration", "no"]
        command += ["--kernels", str(self.own), "--folder", str(self.folder)]
        with (self.own.parent / "said.txt").open("wb") as said:
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                yield process
            finally:
                process.kill()
                process.wait()

    def said(self) -> str:
        """What the last call printed."""
        return (self.own.parent / "said.txt").read_text("utf-8")

    def rows(self, of: str = "%") -> dict[tuple[str, str, int], str]:
        """The timings by kernel, launch and repeat; of kernels from one origin alone."""
        file = self.folder / "work" / "corpus.sqlite3"
        if not file.exists():
            return {}
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)
        try:
            query = "SELECT kernel_id, launch_key, repeat, timing FROM rows JOIN kernels ON id = kernel_id"
            found = database.execute(f"{query} WHERE origin LIKE ?", (of,))
            return {(kernel, key, repeat): timing for kernel, key, repeat, timing in found}
        except sqlite3.OperationalError:  # its tables are not there yet
            return {}
        finally:
            database.close()

    def wait_for(self, process: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> None:
        while not is_so():
            if process.poll() is not None:
                pytest.fail(f"it ended with {process.returncode}: {self.said()[-2000:]}")
            time.sleep(0.05)

    def attempts(self) -> set[int]:
        with sqlite3.connect(self.folder / "work" / "corpus.sqlite3") as database:
            return {attempts for (attempts,) in database.execute("SELECT attempts FROM rows")}


@pytest.fixture(autouse=True)
def terminal() -> Iterator[None]:
    """A shell that runs the tests in its background has them ignore interrupts; no terminal does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def campaign(kernelcast: str, tmp_path: Path) -> Campaign:
    """In a folder where an earlier call has calibrated: to do so takes a minute, and other tests do."""
    own, folder = tmp_path / "own", tmp_path / "the campaign"
    own.mkdir()
    (own / "scale.cl").write_text(SCALE)
    folder.mkdir()
    pocl = find_device(discover(), "pocl")
    made = Calibration(CALIBRATION_VERSION, False, 60.0, 3, 0, None, 0.1, None)
    profile = replace(
        pocl,
        rates=replace(pocl.rates, launch_floor_us=1.0, launch_wall_us=20.0),
        source=ProfileSource.CALIBRATED,
        measured_at="2026-01-01T00:00:00+00:00",
        calibration=made,
    )
    (folder / "profile.json").write_text(device_to_json(profile))
    return Campaign(kernelcast, own, folder)


@pytest.mark.device
@pytest.mark.e2e
def test_killed_and_called_again_it_goes_on_and_measures_nothing_twice(campaign: Campaign) -> None:
    with campaign.running() as process:
        campaign.wait_for(process, lambda: bool(campaign.rows("own")))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    seen = campaign.rows()
    assert seen
    with campaign.running() as process:
        campaign.wait_for(process, lambda: bool(campaign.rows("generator")))
        os.kill(process.pid, signal.SIGINT)
        process.wait()
    said = campaign.said()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    rows = campaign.rows()
    assert seen.items() <= rows.items()
    assert campaign.attempts() == {1}

    table = read_table(campaign.folder, COLUMNS)
    found = table.to_pylist()
    assert {(row["kernel_id"], row["launch_key"], row["repeat"]) for row in found} == rows.keys()
    assert {row["part"] for row in found} == {"own", "corpus"}
    assert {row["name"] for row in found if row["part"] == "own"} == {"scale"}
    for row in found:
        assert row["device"] == "pocl"
        assert row["driver"]
        assert min(row["median_us"], row["wall_us"], row["before_us"], row["after_us"], row["after_host_us"]) > 0
    assert metadata_of(table)["profiles"]["after"]["rates"]["launch_wall_us"] == 20.0
    assert device_from_json((campaign.folder / "profile.json").read_text()).calibrated

    page = (campaign.folder / "report.md").read_text()
    for words in ("before: not calibrated", "after: calibrated", "Host and device times", "| noise of |"):
        assert words in page
    assert "| own | before: not calibrated |" in page
    assert "Median APE" in said
    assert (campaign.folder / "work" / ".gitignore").read_text() == "*\n"
    left = {file.name for file in campaign.folder.iterdir()}
    assert left == {"profile.json", "rows.parquet", "report.md", "work"}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Say which devices OpenCL has, and which GPUs the system has besides."""

    def has(*devices: Device, unserved: tuple[UnservedGpu, ...] = ()) -> None:
        def found() -> tuple[Device, ...]:
            if not devices:
                raise DeviceGone("no OpenCL platform")
            return devices

        monkeypatch.setattr("server.cli.campaign.discover", found)
        monkeypatch.setattr("server.cli.campaign.unserved_gpus", lambda _: unserved)

    return has


def _builtin(device_id: str) -> Device:
    device = find_builtin(device_id)
    assert device is not None
    return device


@pytest.mark.parametrize("devices", [(), ("generic-cpu",)])
def test_without_a_gpu_it_says_so(machine: Any, devices: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    machine(*map(_builtin, devices))
    assert main(["campaign"]) == 3
    said = capsys.readouterr().err
    assert "no GPU is in this machine" in said
    assert ("--device ID, of generic-cpu" in said) == bool(devices)


def test_a_gpu_without_its_driver_is_named_with_what_to_install(
    machine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(_builtin("generic-cpu"), unserved=(UnservedGpu("AMD", "", "/dev/kfd", "install ROCm"),))
    assert main(["campaign"]) == 3
    said = capsys.readouterr().err
    assert "a GPU by AMD is in this machine (/dev/kfd), and no OpenCL driver has it: install ROCm" in said


def test_of_several_gpus_one_must_be_named(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    gpus = [_builtin(each) for each in ("nvidia-h200", "nvidia-tesla-t4")]
    assert {gpu.type for gpu in gpus} == {DeviceType.GPU}
    machine(*gpus)
    assert main(["campaign"]) == 2
    assert "--device (nvidia-h200, nvidia-tesla-t4)" in capsys.readouterr().err


def test_a_device_that_is_not_there_is_a_wrong_call(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    machine(_builtin("generic-cpu"))
    assert main(["campaign", "--device", "rtx9999"]) == 2
    assert "no device answers to `rtx9999`" in capsys.readouterr().err
