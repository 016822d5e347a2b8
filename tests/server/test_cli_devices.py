"""`kernelcast devices`, `doctor`, `calibrate` and `measure`, as scripts see them."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from profiler.store import FILE_NAME, Store

Run = Callable[..., "subprocess.CompletedProcess[str]"]
NO_PLATFORM = {"OCL_ICD_VENDORS": "/nonexistent.icd"}
SCALE = "kernel void scale(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }\n"
FOREVER = "kernel void forever(global volatile int *x) { while (x[0] == x[0]) x[get_global_id(0)] += 1; }\n"


@pytest.mark.device
def test_devices_are_listed_for_scripts(run: Run) -> None:
    done = run("devices", "--format", "json")
    listed = json.loads(done.stdout)
    assert done.returncode == 0
    assert all({"id", "name", "platform", "type", "calibrated"} <= device.keys() for device in listed)
    assert sum(device["default"] for device in listed) == 1


def test_known_devices_can_be_predicted_for_without_being_here(run: Run) -> None:
    listed = json.loads(run("devices", "--all", "--format", "json", **NO_PLATFORM).stdout)
    assert "generic-cpu" in {device["id"] for device in listed}
    assert not any(device["here"] for device in listed)


def test_no_platform_at_all_is_said_with_what_to_do(run: Run) -> None:
    done = run("devices", "--format", "json", **NO_PLATFORM)
    assert done.returncode == 1
    assert json.loads(done.stdout) == []
    assert "pip install" in done.stderr


def test_the_doctor_names_what_is_broken_and_how_to_mend_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text("[devise]\n")
    done = run("doctor", "--format", "json", **NO_PLATFORM)
    findings = {finding["subject"]: finding for finding in json.loads(done.stdout)}
    assert done.returncode == 1
    assert findings["devices"]["health"] == "broken"
    assert findings["devices"]["mend"]
    assert findings["kernelcast.toml"]["health"] == "broken"
    assert "Did you mean `device`?" in findings["kernelcast.toml"]["text"]
    assert findings["store"]["health"] == "ok"


def test_the_doctor_sees_a_store_that_cannot_be_used(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    done = run("doctor")
    assert done.returncode == 1
    assert "KERNELCAST_DATA_DIR" in done.stdout


def test_a_calibration_that_cannot_be_read_is_named_with_how_to_make_a_new_one(run: Run, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "data" / FILE_NAME)
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("INSERT INTO profiles VALUES ('pocl', '3.1', 'A CPU', '2026-01-01', '{}')")
    for call in ("doctor", "devices"):
        done = run(call)
        assert "kernelcast calibrate --device pocl" in " ".join((done.stdout + done.stderr).split())
        assert "Traceback" not in done.stderr


@pytest.mark.device
def test_the_doctor_finds_a_sound_machine_sound(run: Run) -> None:
    done = run("doctor")
    assert done.returncode == 0, done.stdout
    assert "device " in done.stdout
    assert "Nothing is broken" in done.stdout


@pytest.mark.device
def test_a_measurement_stands_beside_its_prediction(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SCALE)
    request = {
        "id": "m",
        "file": "k.cl",
        "global": [65536],
        "local": [64],
        "args": {"n": 65536},
        "fill": {"x": "zeros"},
    }
    missing = {"id": "gone", "file": "gone.cl"}
    lines = f"{json.dumps(missing)}\n{json.dumps(request)}\n"
    done = run("measure", "--batch", "-", "--repeat", "5", stdin=lines)
    gone, answer = (json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 1
    assert gone["error"]["code"] == "source"
    runtime = answer["runtime_us"]
    assert 0 < runtime["p10"] <= runtime["median"] <= runtime["p90"]
    assert len(runtime["ci95"]) == 2
    assert answer["repeats"] == 5
    assert answer["basis"] == "measured"
    assert answer["error_percent"] == pytest.approx((answer["predicted_us"] / runtime["median"] - 1) * 100)
    assert answer["work"]["work_items"] == 65536


@pytest.mark.device
def test_a_kernel_that_does_not_build_is_named_and_the_others_are_measured(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.cl").write_text("kernel void bad(global float *x) { x[get_global_id(0)] = nonsense(1); }\n")
    (tmp_path / "good.cl").write_text(SCALE)
    done = run("measure", "bad.cl", "good.cl", "--global", "1024", "--repeat", "3")
    assert done.returncode == 1
    assert "[build_failed]" in done.stderr
    assert "scale" in done.stdout
    assert "Traceback" not in done.stderr


def test_measuring_without_a_device_is_a_named_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SCALE)
    done = run("measure", "k.cl", "--format", "json", **NO_PLATFORM)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "device"


@pytest.mark.device
def test_a_known_device_that_is_elsewhere_is_no_unknown_one(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SCALE)
    done = run("measure", "k.cl", "--device", "rtx4090")
    assert done.returncode == 1
    assert "NVIDIA GeForce RTX 4090 is not in this machine; devices here: " in done.stderr
    assert run("predict", "k.cl", "--device", "rtx4090").returncode == 0


def test_what_cannot_be_kept_is_said_once(run: Run) -> None:
    done = run("calibrate", "--quick", KERNELCAST_DATA_DIR="/proc/nowhere")
    assert done.returncode == 1
    assert done.stderr.count("/proc/nowhere cannot be used") == 1


@pytest.mark.device
def test_an_interrupt_ends_the_call_and_the_device_process(kernelcast: str, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(FOREVER)
    command = [kernelcast, "measure", "k.cl", "--global", "64", "--buffer", "x=64", "--budget-s", "3000"]
    # A shell that runs the tests in its background has them and their children ignore interrupts; no terminal does.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        own = psutil.Process(process.pid)
        child = None
        while child is None and process.poll() is None:
            # Discovery has a child of its own, gone before the kernel runs: wait for one that is busy.
            child = next((c for c in own.children() if c.is_running() and _seconds(c) > 1.0), None)
        assert child is not None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    psutil.wait_procs([child], timeout=60)
    assert not child.is_running()


def _seconds(process: psutil.Process) -> float:
    """Processor time so far; 0 for a process that is gone."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user)
