"""The command line takes host files: answers are about the kernels in their literals, on the host's lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model.compile_targets import Vendor
from model.device_catalog import find_builtin
from profiler.offline.diagnostics import Diagnostic, DoesNotCompile, with_lines
from profiler.offline.tools import ToolMissing, find_tools
from server.analysis.elsewhere import Elsewhere
from server.analysis.sources import Sources
from server.cli.forecasts import Forecaster
from server.cli.requests import Request
from tests.server.conftest import answers

Run = Callable[..., subprocess.CompletedProcess[str]]

HOST = '''import pyopencl as cl

FIRST = """
__kernel void scale(__global %(type)s *a, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k)
    a[i] *= 2.0f;
}
""" % {"type": "float"}

SECOND = (
    "// kernelcast: global=4096 local=64\\n"
    "__kernel void shift(__global float *a) {\\n"
    "  a[get_global_id(0) * 33] += 1.0f;\\n"
    "}\\n"
)
'''

APP = '''import numpy
import pyopencl as cl

SOURCE = """
__kernel void twice(__global float *a) {
  a[get_global_id(0)] *= 2.0f;
}
"""
pocl = next(each for each in cl.get_platforms() if each.name == "Portable Computing Language")
context = cl.Context(pocl.get_devices()[:1])
queue = cl.CommandQueue(context)
twice = cl.Kernel(cl.Program(context, SOURCE).build(), "twice")
twice(queue, (4096,), (64,), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * 4096))
queue.finish()
'''


@pytest.fixture
def host(tmp_path: Path) -> Path:
    (tmp_path / "host.py").write_text(HOST)
    return tmp_path / "host.py"


def test_predictions_name_the_lines_of_the_host(run: Run, host: Path, tmp_path: Path) -> None:
    first = HOST.split('"""')[1].replace("%(type)s", "float")
    (tmp_path / "first.cl").write_text(first)
    (alone,) = answers(run("predict", "first.cl", "--device", "nvidia-h200", "--format", "json"))
    scale, shift = answers(run("predict", "host.py", "--device", "nvidia-h200", "--format", "json"))
    assert (scale["kernel"], shift["kernel"]) == ("scale", "shift")
    assert scale["runtime_us"] == alone["runtime_us"]
    for key in ("accesses", "loops", "lines"):
        in_host, in_program = ([each["line"] for each in answer[key]] for answer in (scale, alone))
        assert in_program
        assert in_host == [None if line is None else line + 2 for line in in_program]
    assert {access["line"] for access in shift["accesses"]} == {14}
    assert any("`%(type)s`" in str(each) and "float" in str(each) for each in scale["assumptions"])
    assert shift["launch"]["origin"] == "annotation"


def test_one_kernel_can_be_asked_for(run: Run, host: Path) -> None:
    (shift,) = answers(run("predict", "host.py", "--kernel", "shift", "--format", "json"))
    assert shift["kernel"] == "shift"
    refused = run("predict", "host.py", "--kernel", "shrift")
    assert refused.returncode == 1
    assert "scale, shift" in refused.stderr


def test_mistakes_in_an_annotation_are_told_with_the_hosts_line(run: Run, host: Path) -> None:
    host.write_text(HOST.replace("local=64", "lokal=64"))
    done = run("predict", "host.py", "--kernel", "shift")
    assert "host.py:12: " in done.stderr
    assert "lokal" in done.stderr


def test_a_host_without_kernels_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text('"""Not a __kernel void in sight."""\n')
    done = run("predict", "plain.py")
    assert done.returncode == 1
    assert "there is no kernel in this file" in done.stderr


def test_a_header_of_opencl_c_is_read_as_before(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kernels.h").write_text("__kernel void f(__global float *a) { a[get_global_id(0)] = 1.0f; }\n")
    (answer,) = answers(run("predict", "kernels.h", "--format", "json"))
    assert answer["kernel"] == "f"


@pytest.mark.device
def test_an_embedded_kernel_is_measured(run: Run, host: Path) -> None:
    (measured,) = answers(run("measure", "host.py", "--kernel", "shift", "--budget", "0.2", "--format", "json"))
    assert measured["basis"] == "measured", measured


@pytest.mark.device
def test_what_a_driver_refuses_is_told_with_the_hosts_line(run: Run, host: Path) -> None:
    host.write_text(HOST.replace("a[i] *= 2.0f", "a[i] *= no_such"))
    done = run("compile", "host.py", "--device", "pocl")
    assert done.returncode == 1
    assert "host.py:7: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "shift" in done.stdout


@pytest.mark.device
def test_a_launch_that_cannot_be_is_told_with_the_hosts_line(run: Run, host: Path) -> None:
    host.write_text(HOST.replace("global=4096 local=64", "local=200000"))
    for command in ("compile", "measure"):
        done = run(command, "host.py", "--kernel", "shift", "--device", "pocl")
        assert done.returncode == 1
        assert "host.py:12: shift: a work-group of 200000" in done.stderr
        assert "Traceback" not in done.stderr


def test_loops_of_compiled_code_are_named_by_the_hosts_line(run: Run, host: Path) -> None:
    try:
        find_tools(Vendor.NVIDIA)
    except ToolMissing as error:
        pytest.skip(error.message)
    for done in (run("compile", "host.py", "--target", "sm_90"), run("compile", "host.py", "--target", "sm_90")):
        assert done.returncode == 0, done.stderr
        assert set(re.findall(r"loop at line (\d+)", done.stdout)) == {"6"}
    host.write_text(HOST.replace("a[i] *= 2.0f", "a[i] *= no_such"))
    refused = run("compile", "host.py", "--target", "sm_90", "--format", "json")
    (error,) = (each["error"] for each in answers(refused) if "error" in each)
    assert (error["line"], [each["line"] for each in error["diagnostics"]]) == (7, [7])
    assert "line 7, " in error["message"]


def test_the_message_of_a_refusal_has_the_hosts_line_too() -> None:
    said = (Diagnostic("h.py", 3, 5, True, "no"), Diagnostic("in.h", 3, 1, True, "no"))
    moved = with_lines(DoesNotCompile("h.py does not compile: line 3: no", said, line=9), "h.py", lambda line: line + 6)
    assert (moved.message, moved.line) == ("h.py does not compile: line 9: no", 9)
    assert [each.line for each in moved.diagnostics] == [9, 3]


def test_other_sizes_and_devices_name_the_lines_of_the_host(host: Path) -> None:
    devices = {name: device for name in ("nvidia-h200", "generic-cpu") if (device := find_builtin(name))}
    found = Forecaster(lambda name: devices[name or "nvidia-h200"]).forecast(Request(host))
    scale = found.forecasts[0]
    assert scale.launch is not None
    (elsewhere,) = Elsewhere(Sources()).predicted(scale, found.device, [(scale.launch, devices["generic-cpu"])])
    assert {cost.line for cost in elsewhere.line_costs} <= {4, 5, 6}
    assert any("`%(type)s`" in each.text for each in elsewhere.assumptions)


def test_a_report_is_about_all_programs_of_a_host(run: Run, host: Path) -> None:
    done = run("report", "host.py", "--format", "json", "-o", "-")
    assert [kernel["kernel"] for kernel in json.loads(done.stdout)["kernels"]] == ["scale", "shift"]


@pytest.mark.device
def test_what_a_program_launched_is_predicted_for_the_kernel_in_its_own_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").touch()
    (tmp_path / "app.py").write_text(APP)
    recorded = run("record", "--", sys.executable, "app.py")
    assert recorded.returncode == 0, recorded.stderr
    (answer,) = answers(run("predict", "app.py", "--format", "json"))
    assert answer["launch"]["origin"] == "recorded"
    assert answer["launch"]["global"] == [4096]
