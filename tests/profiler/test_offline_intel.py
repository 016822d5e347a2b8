"""Compiling for Intel's GPUs with the real `ocloc`, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from model.compile_targets import target_named
from model.opencl.options import BuildOptions
from profiler.machine_code.digest import loops_of, mix_of
from profiler.offline import vendor_tools
from profiler.offline.clang import Text
from profiler.offline.code import CompiledCode
from profiler.offline.compiling import compile_text
from profiler.offline.diagnostics import DoesNotCompile
from profiler.offline.tools import ToolMissing
from profiler.offline.vendor_tools import IntelTools, find_intel_tools

TARGETS = ["skl", "tgllp", "adl-p", "dg2-g10", "dg2-g11", "pvc"]
SOURCE = """\
__kernel void smooth(__global const float *x, __global float *y, __local float *row, int n) {
    int i = get_global_id(0), l = get_local_id(0);
    row[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += row[(l + k) % 64] * native_sin(x[k]);
    y[i] = s;
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void copy(__global float4 *to, read_only image2d_t from) {
    __local float tile[256];
    tile[get_local_id(0)] = 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = read_imagef(from, (int2)(get_global_id(0), 0)) * tile[63 - get_local_id(0)];
}
__kernel void table(__global float *x, int n) {
    float t[100];
    for (int k = 0; k < n; k++)
        t[(k * 7) % 100] = x[k + get_global_id(0)];
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += t[(k * 3) % 100];
    x[get_global_id(0)] = s;
}
"""
_MANY = "\n".join(f"    float4 v{i} = x[i * 64 + {i}];" for i in range(64))
_BACK = "\n".join(f"    x[i * 64 + {63 - i}] = v{i} * x[i + n];" for i in range(64))
CROWDED = (
    "__kernel void crowded(__global float4 *x, int n) {\n    int i = get_global_id(0);\n"
    f"{_MANY}\n    barrier(CLK_GLOBAL_MEM_FENCE);\n{_BACK}\n}}\n"
)
PROGRAM = SOURCE + CROWDED


@pytest.fixture
def tools() -> IntelTools:
    try:
        return find_intel_tools()
    except ToolMissing as error:
        pytest.skip(error.message)


def text(source: str, *flags: str) -> Text:
    return Text(source, "/home/me/my kernels.cl", BuildOptions(flags=flags))


@cache
def compiled(source: str, target: str, tools: IntelTools, *flags: str) -> dict[str, CompiledCode]:
    return compile_text(text(source, *flags), target_named(target), tools)[0]


@pytest.mark.parametrize("target", TARGETS)
def test_all_kernels_of_a_program_compile_for_a_gpu_that_is_not_here(target: str, tools: IntelTools) -> None:
    codes = compiled(PROGRAM, target, tools)
    assert set(codes) == {"smooth", "copy", "table", "crowded"}
    assert all(code.registers == 128 for code in codes.values())
    assert all(code.wave_size in (8, 16, 32) for code in codes.values())
    assert (codes["copy"].local_mem_bytes, codes["copy"].required_local_size) == (1024, (64, 1, 1))
    assert 400 <= codes["table"].private_mem_bytes <= 512


@pytest.mark.parametrize("target", TARGETS)
def test_registers_spills_and_sizes_are_those_that_ocloc_itself_reports(
    target: str, tools: IntelTools, tmp_path: Path
) -> None:
    """Its log names registers, width and spills; its notes are read as plain text here, kernel by kernel."""
    codes = compiled(PROGRAM, target, tools)
    (tmp_path / "k.cl").write_text(PROGRAM)
    command = [
        str(tools.compiler), "compile", "-file", "k.cl", "-device", target, "-out_dir", "made", "--format", "zebin",
        "-options", "-cl-std=CL1.2",
    ]  # fmt: skip
    log = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    said = re.search(r"kernel crowded\s+compiled SIMD(\d+) allocated (\d+) regs and spilled", log)
    assert said is not None
    crowded = codes["crowded"]
    assert (crowded.wave_size, crowded.registers) == (int(said[1]), int(said[2]))
    assert crowded.spill_bytes > 0
    assert f"compiled SIMD{said[1]}" in crowded.notes[0]
    (binary,) = (path for path in (tmp_path / "made").iterdir() if path.suffix == ".bin")
    notes = binary.read_bytes().decode("latin-1").partition("kernels_misc_info")[0]
    for name, code in codes.items():
        own = re.split(r"\n  - name: ", notes.partition(f"- name:            {name}\n")[2])[0]
        assert _number("grf_count", own) == code.registers
        assert _number("simd_size", own) == code.wave_size
        assert _number("slm_size", own) == code.local_mem_bytes
        size = _number("size", own.partition("per_thread_memory_buffers")[2])
        assert (size if "is_simt_thread" in own else size // code.wave_size) == code.private_mem_bytes
        assert (code.spill_bytes > 0) == (name == "crowded")


def _number(key: str, notes: str) -> int:
    found = re.search(rf"\b{key}:\s+(\d+)", notes)
    return int(found[1]) if found else 0


def test_twice_the_registers_where_the_build_options_ask_for_them(tools: IntelTools) -> None:
    usual = compiled(PROGRAM, "pvc", tools)["crowded"]
    large = compiled(CROWDED, "pvc", tools, "-cl-intel-256-GRF-per-thread")["crowded"]
    assert (usual.registers, large.registers) == (128, 256)


def test_a_program_that_does_not_compile_is_told_by_line_and_column(tools: IntelTools) -> None:
    wrong = SOURCE.replace("native_sin(x[k])", "no_such(x[k])").replace("= 1.0f;", "= one;")
    with pytest.raises(DoesNotCompile) as raised:
        compiled(wrong, "dg2", tools)
    places = [(each.file, each.line, each.column) for each in raised.value.diagnostics]
    assert places == [("my kernels.cl", 7, 34), ("my kernels.cl", 12, 29)]
    assert (raised.value.line, "no_such" in raised.value.message) == (7, True)


def test_a_type_that_the_gpu_lacks_is_refused_at_its_place(tools: IntelTools) -> None:
    source = "__kernel void k(__global float *x) {\n    double d = x[0];\n    x[1] = d * d;\n}\n"
    with pytest.raises(DoesNotCompile, match="cl_khr_fp64") as raised:
        compiled(source, "dg2", tools)
    assert raised.value.line == 2
    assert "k" in compiled(source, "pvc", tools)  # which has it


def test_definitions_and_folders_with_blanks_reach_the_compiler(tools: IntelTools, tmp_path: Path) -> None:
    folder = tmp_path / "my headers"
    folder.mkdir()
    (folder / "scale.h").write_text("#define SCALE 2.0f\n")
    source = '#include "scale.h"\n__kernel void k(__global float *x) { x[0] = SCALE * (WHAT); }\n'
    options = BuildOptions((("WHAT", 'x[3] + sizeof("a b")'),), (str(folder),))
    architecture = target_named("tgllp")
    assert set(compile_text(Text(source, str(tmp_path / "k.cl"), options), architecture, tools)[0]) == {"k"}
    (folder / "scale.h").write_text("#define SCALE 2.0f\nfloat f(void) { return nothing; }\n")
    with pytest.raises(DoesNotCompile, match=r"scale\.h, line 2"):
        compile_text(Text(source, str(tmp_path / "k.cl"), options), architecture, tools)


@pytest.mark.parametrize("target", TARGETS)
def test_the_instructions_of_loops_are_read_where_the_disassembler_is_installed(target: str, tools: IntelTools) -> None:
    if tools.disassembler is None:
        pytest.skip("iga64 is not installed")
    smooth = compiled(PROGRAM, target, tools)["smooth"]
    assert loops_of(smooth.instructions, ())
    found = {(each.kind, each.space) for each in mix_of(smooth.instructions)}
    assert {("barrier", ""), ("load", "local"), ("store", "local"), ("load", "global"), ("store", "global")} <= found
    assert any(each.kind == "native" for each in mix_of(smooth.instructions))
    assert smooth.notes == ()


def test_without_the_disassembler_registers_are_known_and_the_missing_mix_is_explained(tools: IntelTools) -> None:
    codes = compiled(SOURCE, "dg2", replace(tools, disassembler=None))
    assert all(code.registers == 128 and code.instructions == () for code in codes.values())
    assert all("libigc-tools" in code.notes[0] for code in codes.values())


def test_a_program_without_kernels_has_none(tools: IntelTools) -> None:
    assert compiled("float twice(float x) { return 2 * x; }\n", "dg2", tools) == {}


def test_a_chip_that_the_compiler_does_not_know_is_named_with_what_to_install(tools: IntelTools) -> None:
    newer = replace(target_named("bmg"), target="no-such-chip")
    with pytest.raises(ToolMissing, match=r"ocloc [\d.]+ does not know no-such-chip.*compute-runtime"):
        compile_text(text(SOURCE), newer, tools)


def test_without_ocloc_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(ToolMissing, match=r"ocloc is not on PATH: .*intel-opencl-icd"):
        find_intel_tools()


def test_without_what_reads_its_binaries_the_message_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: str(tmp_path / "ocloc"))
    monkeypatch.setattr(vendor_tools, "find_spec", lambda _: None)
    with pytest.raises(ToolMissing, match=r"kernelcast\[offline\]"):
        find_intel_tools()
