"""`kernelcast program`: the time of a whole program, recorded or written down, and what if."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from model.program.command import Command, CommandKind, CommandSequence, Queue
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.recordings import Recording, save, sources_of
from profiler.recording.sources import source_key
from profiler.store import Store

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SOURCE = "kernel void scale(global float *x, float by) { int i = get_global_id(0); x[i] = x[i] * by + 1.0f; }\n"
PROGRAM = f"""
import numpy as np
import pyopencl as cl
context = cl.Context([p for p in cl.get_platforms() if p.name == "Portable Computing Language"][0].get_devices()[:1])
queue = cl.CommandQueue(context)
kernel = cl.Kernel(cl.Program(context, {SOURCE!r}).build(), "scale")
data = np.ones(1 << 18, np.float32)
x = cl.Buffer(context, cl.mem_flags.READ_WRITE, data.nbytes)
for _ in range(5):
    cl.enqueue_copy(queue, x, data)
    kernel(queue, data.shape, (64,), x, np.float32(2))
    cl.enqueue_copy(queue, data, x)
"""


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A project with a recording of a program on a GPU that is not here, as the store has it; its folder."""
    store = Store.open(tmp_path / "data" / "kernelcast.sqlite3")
    key = source_key(SOURCE.encode())
    sources_of(store).keep(key, SOURCE.encode(), ())
    entry = RecordedEntry(
        "scale", (1 << 18,), (64,), args=(("by", 2.0),), buffers=(("x", 1 << 18),), count=4, event_us=20.0,
        total_us=80.0, source=key, device_id="nvidia-h100-pcie", device_name="NVIDIA H100 PCIe",
    )  # fmt: skip
    commands = [
        Command(CommandKind.WRITE, 0, 100, 0, size_bytes=1 << 20, is_blocking=True, start_us=10, finish_us=90),
        *(
            Command(
                CommandKind.LAUNCH,
                110.0 + 5 * n,
                112.0 + 5 * n,
                0,
                0,
                start_us=120.0 + 20 * n,
                finish_us=140.0 + 20 * n,
            )
            for n in range(4)
        ),
        Command(CommandKind.READ, 140, 330, 0, size_bytes=1 << 20, is_blocking=True, start_us=210, finish_us=320),
    ]
    sequence = CommandSequence(tuple(commands), (Queue("nvidia-h100-pcie"),), left_out=2, wall_us=400.0)
    save(store, Recording(tmp_path, ("simulate",), str(tmp_path), 1.0, 0, (entry,)), sequence)
    return tmp_path


def answer(run: Run, *words: str) -> dict[str, Any]:
    done = run("program", "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_recorded_program_is_predicted_with_its_parts(run: Run, recorded: Path) -> None:
    found = answer(run)
    assert found["program"].endswith("simulate")
    assert found["recorded"]["total_us"] == 330
    assert found["recorded"]["parts_us"] == {"kernels": 80, "transfers": 190, "builds": 0, "host": 32}
    predicted = found["predicted"]
    assert predicted["devices"] == ["nvidia-h100-pcie"]
    assert predicted["total_us"] == pytest.approx(sum(predicted["critical_path_us"].values()))
    assert predicted["low_us"] <= predicted["total_us"] <= predicted["high_us"]
    assert any("assumed" in note for note in predicted["notes"])
    assert any("2 commands after the first 6 are left out" in note for note in predicted["notes"])
    (kernel,) = found["kernels"]
    assert (kernel["kernel"], kernel["launches"], kernel["recorded_us"]) == ("scale", 4, 80)
    assert found["half"]["transfers"] < predicted["total_us"]


def test_recorded_times_give_back_about_what_was_recorded(run: Run, recorded: Path) -> None:
    parts = answer(run, "--recorded-times")["predicted"]["parts_us"]
    assert (parts["kernels"], parts["transfers"]) == (80, 190)


def test_what_if_shows_the_change_beside_the_prediction(run: Run, recorded: Path) -> None:
    found = answer(run, "--scale", "transfers=0.5", "--scale", "scale=2", "--device", "nvidia-h100-pcie")
    before, after = found["predicted"]["parts_us"], found["changed"]["parts_us"]
    assert after["transfers"] == pytest.approx(before["transfers"] / 2)
    assert after["kernels"] == pytest.approx(before["kernels"] * 2)
    others = answer(run, "--compare", "nvidia-h200", "amd-instinct-mi300x")["devices"]
    assert list(others) == ["nvidia-h200", "amd-instinct-mi300x"]
    assert all(each["total_us"] > 0 for each in others.values())


def test_another_version_of_a_kernel_takes_its_place(run: Run, recorded: Path) -> None:
    slow = SOURCE.replace("x[i] * by", "sin(cos(sin(cos(x[i])))) * pow(by, x[i])")
    (recorded / "other.cl").write_text(slow, "utf-8")
    found = answer(run, "--source", "other.cl")
    assert found["changed"]["parts_us"]["kernels"] != found["predicted"]["parts_us"]["kernels"]
    (recorded / "none.cl").write_text("kernel void other(global int *a) { a[0] = 1; }\n", "utf-8")
    assert "has none of the program's kernels: scale" in run("program", "--source", "none.cl").stderr


def test_tables_name_parts_kernels_and_what_bounds(run: Run, recorded: Path) -> None:
    done = run("program", "--scale", "transfers=0.5")
    assert done.returncode == 0, done.stderr
    for word in ("simulate", "transfers", "Critical path", "Changed", "Bounded by", "scale", "half of transfers"):
        assert word in done.stdout


def test_a_trace_is_written_for_perfetto(run: Run, recorded: Path) -> None:
    done = run("program", "--trace", "trace.json")
    assert "timeline written to trace.json" in done.stderr
    trace = json.loads((recorded / "trace.json").read_text("utf-8"))
    assert {each["ph"] for each in trace["traceEvents"]} == {"M", "X"}
    assert {each["pid"] for each in trace["traceEvents"]} == {1, 2}


def test_a_page_draws_the_timeline(run: Run, recorded: Path) -> None:
    done = run("program", "-o", "page.html")
    assert "page written to page.html" in done.stderr
    page = (recorded / "page.html").read_text("utf-8")
    svg = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    rows = [each.text for each in svg.iter("text") if each.get("class") == "row-name"]
    assert rows[0] == "host thread 0"
    assert rows[-1] == "recorded: queue 0 of nvidia-h100-pcie"
    kinds = {each.get("class") for each in svg.iter("rect")}
    assert {"box kernels", "box transfers"} <= kinds
    assert "Bounded by" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scale", "nothing=2"), "there is no `nothing` in this program; there is kernels, transfers"),
        (("--scale", "transfers"), "is not WHAT=FACTOR"),
        (("77",), "there is no recording 77"),
        (("--pipeline", "frame"), "there is no pipeline `frame`"),
        (("--source", "missing.cl"), "missing.cl cannot be read"),
        (("--trace", "missing/t.json"), "cannot be written"),
    ],
)
def test_wrong_calls_say_what_is_wrong(run: Run, recorded: Path, words: tuple[str, ...], said: str) -> None:
    done = run("program", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_a_recording_it_says_how_to_make_one(run: Run) -> None:
    done = run("program")
    assert done.returncode == 2
    assert "kernelcast record --profile -- COMMAND" in done.stderr


def test_a_pipeline_is_predicted_without_a_recording(run: Run, tmp_path: Path) -> None:
    launches = ("1024 local=64 by=2 x=1024 name=small", "1048576 local=64 by=2 x=1048576 name=large")
    annotated = "".join(f"// kernelcast: global={each}\n" for each in launches) + SOURCE
    (tmp_path / "scale.cl").write_text(annotated, "utf-8")
    (tmp_path / "kernelcast.toml").write_text(
        '[device]\nid = "nvidia-h100-pcie"\n[[pipeline]]\nname = "frame"\nrepeat = 10\nsteps = [\n'
        '  { write = 4194304 },\n  { launch = "scale", file = "scale.cl", name = "large" },\n  { host_us = 30 },\n'
        "  { read = 4194304, blocking = true },\n]\n",
        "utf-8",
    )
    found = answer(run, "--pipeline", "frame")
    assert found["recorded"] is None
    assert found["kernels"][0]["launches"] == 10
    assert found["predicted"]["bound"] == "transfers"
    assert found["predicted"]["parts_us"]["host"] == pytest.approx(300)


@pytest.mark.device
def test_a_program_is_recorded_and_predicted_on_this_machine(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    done = run("record", "--profile", "--", sys.executable, "program.py")
    assert done.returncode == 0, done.stderr
    found = answer(run)
    assert found["kernels"][0]["launches"] == 5
    assert found["recorded"]["parts_us"]["transfers"] > 0
    assert found["recorded"]["parts_us"]["builds"] > 0
    assert 0 < found["recorded"]["without_builds_us"] < found["recorded"]["total_us"]
    assert found["predicted"]["total_us"] > 0
