"""Arm's offline compiler by its documented report. The program itself is not free to ship: a small stand-in answers."""

from __future__ import annotations

import copy
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from model.compile_targets import target_named
from model.opencl.options import BuildOptions
from profiler.offline.arm import UnreadableReport, code_of, command_for, read_report
from profiler.offline.clang import Text
from profiler.offline.code import CompiledCode
from profiler.offline.compiling import compile_text
from profiler.offline.diagnostics import DoesNotCompile
from profiler.offline.tools import ToolMissing
from profiler.offline.vendor_tools import ArmTools, find_arm_tools
from server.cli import main

SOURCE = "__kernel void scale(__global float *x) {\n    x[get_global_id(0)] *= 2.0f;\n}\n"
# Written by hand after the documented schema `performance`, version 2.
REPORT: dict[str, Any] = {
    "schema": {"name": "performance", "version": 2},
    "producer": {"name": "Mali Offline Compiler", "version": [8, 4, 0], "build": "000000", "documentation": ""},
    "shaders": [
        {
            "filename": "program.cl",
            "driver": "r45p0-00rel0",
            "hardware": {"architecture": "Valhall", "core": "Mali-G710", "revision": "r0p0"},
            "shader": {"api": "OpenCL", "type": "Kernel"},
            "notes": [],
            "warnings": [],
            "properties": [{"name": "has_side_effects", "display_name": "Has side-effects", "value": True}],
            "variants": [
                {
                    "name": "Main",
                    "performance": {
                        "pipelines": ["arith_total", "arith_fma", "arith_cvt", "arith_sfu", "load_store", "texture"],
                        "total_cycles": {
                            "bound_pipelines": ["load_store"], "cycle_count": [0.5, 0.25, 0.5, 0.0, 2.0, 0.0],
                        },
                        "shortest_path_cycles": {
                            "bound_pipelines": ["load_store"], "cycle_count": [0.25, 0.1, 0.25, 0.0, 1.0, 0.0],
                        },
                        "longest_path_cycles": {
                            "bound_pipelines": [None], "cycle_count": [None, None, None, None, None, None],
                        },
                    },
                    "properties": [
                        {"name": "work_registers_used", "display_name": "Work registers", "value": 40},
                        {"name": "uniform_registers_used", "display_name": "Uniform registers", "value": 12},
                        {"name": "thread_occupancy", "display_name": "Thread occupancy", "value": 50},
                        {"name": "has_stack_spilling", "display_name": "Stack spilling", "value": True},
                        {"name": "stack_spill_bytes", "display_name": "Stack spill bytes", "value": 16},
                        {"name": "fp16_arithmetic", "display_name": "16-bit arithmetic", "value": 25},
                    ],
                },
            ],
        }
    ],
}  # fmt: skip
ERROR = {
    "schema": {"name": "error", "version": 1},
    "shaders": [
        {
            "filename": "program.cl",
            "errors": ["scale.cl:2:28: error: use of undeclared identifier 'two'"],
            "warnings": ["scale.cl:1:1: warning: something"],
        }
    ],
}


def text(*flags: str) -> Text:
    return Text(SOURCE, "/home/me/scale.cl", BuildOptions(flags=flags))


def without(*names: str) -> dict[str, Any]:
    report = copy.deepcopy(REPORT)
    variant = report["shaders"][0]["variants"][0]
    variant["properties"] = [each for each in variant["properties"] if each["name"] not in names]
    return report


def code(report: dict[str, Any], *flags: str) -> CompiledCode:
    return code_of(read_report(json.dumps(report)), text(*flags), target_named("mali-g710"))


@pytest.fixture
def malioc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `malioc` would answer lies in `answer.json` beside it; what it was called with, in `called.json`."""
    program = tmp_path / "malioc"
    program.write_text(
        f"#!{sys.executable}\nimport json, pathlib, sys\nhere = pathlib.Path(__file__).parent\n"
        "if '--version' in sys.argv: print('Mali Offline Compiler v8.4.0 (Build 000000)'); sys.exit(0)\n"
        "source = pathlib.Path(sys.argv[-1]).read_text()\n"
        "(here / 'called.json').write_text(json.dumps([sys.argv[1:], source]))\n"
        "answer = (here / 'answer.json').read_text()\nprint(answer)\nsys.exit('\"error\"' in answer)\n"
    )
    program.chmod(0o755)
    (tmp_path / "answer.json").write_text(json.dumps(REPORT))
    monkeypatch.setattr(shutil, "which", lambda name: str(program) if name == "malioc" else None)
    return tmp_path


def test_registers_spills_the_share_of_halves_and_the_cycles_of_each_pipe_are_read() -> None:
    found = code(REPORT)
    assert (found.registers, found.scalar_registers, found.spill_bytes, found.private_mem_bytes) == (40, 12, 16, 16)
    assert found.half_arithmetic_percent == 25
    pipes = {each.pipe: (each.total, each.shortest, each.longest) for each in found.pipes}
    assert pipes["load_store"] == (2.0, 1.0, None)
    assert pipes["arith_fma"] == (0.25, 0.1, None)
    assert found.instructions == ()
    assert any("instructions are not known" in note for note in found.notes)


def test_the_occupancy_and_the_limiting_pipe_are_those_of_the_report() -> None:
    report = read_report(json.dumps(REPORT))
    assert (report.occupancy_percent, report.bound) == (50, ("load_store",))


def test_an_older_report_says_only_whether_registers_are_spilled() -> None:
    found = code(without("stack_spill_bytes", "thread_occupancy", "fp16_arithmetic"))
    assert found.spill_bytes == 4
    assert found.half_arithmetic_percent is None
    assert any("not how many" in note for note in found.notes)


def test_build_options_that_malioc_does_not_take_are_named() -> None:
    tools, source = ArmTools(Path("malioc"), "malioc 8.4.0"), Path("k.cl")
    options = text("-cl-std=CL3.0", "-cl-fast-relaxed-math")
    command = command_for(options, target_named("immortalis-g715"), tools, source, "scale")
    assert command[1:-1] == [
        "--kernel", "--opencl", "3.0", "--core", "Immortalis-G715", "--name", "scale", "--format", "json",
    ]  # fmt: skip
    assert any("-cl-fast-relaxed-math left out" in note for note in code(REPORT, *options.options.flags).notes)


@pytest.mark.parametrize("report", ["", "[]", "{}", '{"schema": {"name": "performance"}, "shaders": []}', "no json"])
def test_a_report_that_lacks_what_is_promised_is_refused(report: str) -> None:
    with pytest.raises(UnreadableReport):
        read_report(report)


def test_pipes_that_do_not_match_their_cycles_are_refused() -> None:
    report = copy.deepcopy(REPORT)
    report["shaders"][0]["variants"][0]["performance"]["total_cycles"]["cycle_count"].pop()
    with pytest.raises(UnreadableReport):
        read_report(json.dumps(report))


def test_a_kernel_is_compiled_by_its_name_with_the_definitions_in_its_text(malioc: Path) -> None:
    options = BuildOptions((("N", "3"),))
    codes, warnings = compile_text(
        Text(SOURCE, "/home/me/scale.cl", options), target_named("mali-g710"), find_arm_tools(), ["scale"]
    )
    assert (codes["scale"].registers, warnings) == (40, ())
    called, source = json.loads((malioc / "called.json").read_text())
    assert called[called.index("--name") + 1] == "scale"
    assert source == f'#define N 3\n#line 1 "scale.cl"\n{SOURCE}'


def test_what_malioc_refuses_is_told_by_line_and_column(malioc: Path) -> None:
    (malioc / "answer.json").write_text(json.dumps(ERROR))
    with pytest.raises(DoesNotCompile) as raised:
        compile_text(text(), target_named("mali-g710"), find_arm_tools(), ["scale"])
    (told,) = raised.value.diagnostics
    assert (told.file, told.line, told.column, told.text) == ("scale.cl", 2, 28, "use of undeclared identifier 'two'")
    assert raised.value.line == 2


def test_a_message_without_a_file_belongs_to_the_text_itself(malioc: Path) -> None:
    answer = copy.deepcopy(ERROR)
    answer["shaders"][0]["errors"] = ["ERROR: 0:2: 'two' : undeclared"]  # type: ignore[index]
    (malioc / "answer.json").write_text(json.dumps(answer))
    with pytest.raises(DoesNotCompile) as raised:
        compile_text(text(), target_named("mali-g710"), find_arm_tools(), ["scale"])
    assert raised.value.line == 2


def test_the_version_of_malioc_is_part_of_what_results_depend_on(malioc: Path) -> None:
    assert find_arm_tools().version == "malioc 8.4.0"


@pytest.mark.usefixtures("malioc")
def test_the_command_line_shows_pipes_and_the_occupancy_that_the_report_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scale.cl"
    file.write_text(f"// kernelcast: global=4096 local=256 x=4096\n{SOURCE}")
    assert main(["compile", "--target", "mali-g710", str(file)]) == 0
    shown = capsys.readouterr().out
    for words in ("40 work, 12 uniform", "occupancy 50 % (registers)", "load_store 2", "warps in a core", "25 %"):
        assert words in shown
    assert main(["compile", "--target", "mali-g710", "--format", "json", str(file)]) == 0
    compiled = json.loads(capsys.readouterr().out)["compiled"]
    pipe = {"pipe": "arith_fma", "total": 0.25, "shortest": 0.1, "longest": None}
    assert pipe in compiled["pipes"]
    assert (compiled["source"], compiled["half_arithmetic_percent"]) == ("malioc", 25)


def test_without_malioc_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ToolMissing, match=r"malioc is not on PATH: install Arm Performance Studio"):
        find_arm_tools()
