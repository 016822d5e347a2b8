"""`kernelcast compile --target`: a GPU that is not here, as terminals and scripts see it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from model.compile_targets import Vendor
from profiler.offline import library
from profiler.offline import tools as offline_tools
from profiler.offline.tools import ToolMissing, find_tools
from profiler.offline.vendor_tools import find_intel_tools
from server.cli import main
from server.cli.diagnosis import Health, examine

SOURCE = """\
// kernelcast: global=4096 local=256
__kernel void dot_rows(__global const float *x, __global float *y) {
    int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 1000; k++)
        s += x[k] * x[i + k];
    y[i] = s;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "dots.cl"
    found.write_text(SOURCE)
    return found


@pytest.fixture
def _compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "cache_folder", lambda: Path(sys.prefix) / "offline-library")
    try:
        find_tools(Vendor.NVIDIA)
    except ToolMissing as error:
        pytest.skip(error.message)


@pytest.mark.usefixtures("_compilers")
def test_registers_occupancy_and_loops_are_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--target", "sm_90", str(file)]) == 0
    shown = capsys.readouterr().out
    for words in (
        "Hopper (sm_90)",
        "registers, occupancy 100 %",
        "no spills",
        "loop at line 5, a round:",
        "load (global)",
    ):
        assert words in shown


@pytest.mark.usefixtures("_compilers")
def test_json_has_the_occupancy_and_the_mix_of_each_loop(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--target", "gfx90a", "--format", "json", str(file)]) == 0
    answer = json.loads(capsys.readouterr().out)
    compiled, occupancy = answer["compiled"], answer["occupancy"]
    assert (answer["device"]["id"], compiled["source"]) == ("gfx90a", "amd isa")
    assert compiled["registers"] > 0
    assert compiled["scalar_registers"] > 0
    assert (occupancy["percent"], occupancy["max_waves"], occupancy["local"]) == (100.0, 32, [256])
    assert any(each["kind"] == "load" and each["space"] == "global" for each in compiled["profile"][1]["mix"])
    assert main(["compile", "--target", "gfx90a", "--format", "json", str(file)]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["compiled"]["compiled_at"] == compiled["compiled_at"]  # known, and not compiled again


@pytest.mark.usefixtures("_compilers")
def test_each_error_is_told_once_by_line_and_column(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        SOURCE.replace("y[i] = s", "y[i] = t") + SOURCE.replace("dot_rows", "other").replace("x[k]", "z[k]")
    )
    assert main(["compile", "--target", "sm_80", str(file)]) == 1
    said = capsys.readouterr().err
    assert f"{file}:7:12: error: use of undeclared identifier 't'" in said
    assert said.count("error:") == 2
    assert main(["compile", "--target", "sm_80", "--format", "json", str(file)]) == 1
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert [each["line"] for each in first["error"]["diagnostics"]] == [7, 14]


def test_an_unknown_target_is_a_wrong_call(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--target", "sm_1", str(file)]) == 2
    assert "there is no target `sm_1`" in capsys.readouterr().err


def test_doctor_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(offline_tools, "_site_packages", lambda: iter(()))
    found = [each for each in examine(tmp_path, lambda _: ()) if each.subject.startswith("offline")]
    mends = {each.subject: each.mend for each in found if each.health is Health.NOTE}
    assert all("kernelcast[offline]" in mends[f"offline, {vendor}"] for vendor in ("NVIDIA", "AMD"))


def test_doctor_says_how_to_install_the_compilers_that_pip_does_not_bring(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("profiler.offline.vendor_tools.shutil.which", lambda _: None)
    found = {each.subject: each for each in examine(tmp_path, lambda _: ())}
    assert "ocloc is not on PATH" in found["offline, Intel"].text
    assert "intel-opencl-icd" in found["offline, Intel"].mend
    assert "malioc is not on PATH" in found["offline, Arm"].text
    assert "Arm Performance Studio" in found["offline, Arm"].mend


@pytest.fixture
def _ocloc() -> None:
    try:
        find_intel_tools()
    except ToolMissing as error:
        pytest.skip(error.message)


@pytest.mark.usefixtures("_ocloc")
def test_intels_registers_occupancy_and_refusals_are_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--target", "dg2", str(file)]) == 0
    shown = capsys.readouterr().out
    for words in ("Xe-HPG (dg2-g10)", "128 registers, occupancy 100 %", "no spills", "threads in a core", "Sub-group"):
        assert words in shown
    file.write_text(SOURCE.replace("y[i] = s", "y[i] = t"))
    assert main(["compile", "--target", "dg2", str(file)]) == 1
    assert f"{file}:7:12: error: use of undeclared identifier 't'" in capsys.readouterr().err


@pytest.mark.usefixtures("_ocloc")
def test_what_ocloc_made_counts_in_predictions_for_its_gpus(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--target", "dg2", "--format", "json", str(file)]) == 0
    compiled = json.loads(capsys.readouterr().out)
    assert compiled["compiled"]["source"] == "zebin"
    assert main(["predict", "--format", "json", "--device", "intel-arc-a770-graphics", str(file)]) == 0
    code = json.loads(capsys.readouterr().out)["code"]
    assert code["target"] == "dg2-g10"
    assert code["occupancy_percent"] == compiled["occupancy"]["percent"]
    in_a_thread = compiled["compiled"]["registers"] * 8  # of 32 bits, for all of its work-items
    assert code["registers"] == in_a_thread // compiled["compiled"]["sub_group_size"]


@pytest.mark.usefixtures("_compilers")
def test_what_was_compiled_for_a_target_counts_in_predictions_for_its_gpus_at_any_local_size(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def predicted(*flags: str) -> dict[str, object]:
        assert main(["predict", "--format", "json", *flags, str(file)]) == 0
        answer: dict[str, object] = json.loads(capsys.readouterr().out)
        return answer

    file.write_text(SOURCE.replace("dot_rows", "once_compiled"))
    gpu = ("--device", "nvidia-h100-80gb-hbm3")
    assert predicted(*gpu)["code"] is None
    assert main(["compile", "--target", "sm_90", "--format", "json", str(file)]) == 0
    compiled = json.loads(capsys.readouterr().out)
    code = predicted(*gpu)["code"]
    assert isinstance(code, dict)
    assert code["target"] == "sm_90"
    assert code["registers"] == compiled["compiled"]["registers"]
    assert code["occupancy_percent"] == compiled["occupancy"]["percent"]
    smaller = predicted(*gpu, "--local", "32")["code"]
    assert isinstance(smaller, dict)
    assert (smaller["registers"], smaller["occupancy_limiter"]) == (code["registers"], "work-groups")
    assert predicted("--device", "nvidia-a100-pcie-40gb")["code"] is None  # another target
