"""Compiling for GPUs that are not here, with the real compilers where the extra `offline` is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from model.compile_targets import Vendor, target_named
from model.opencl.options import BuildOptions
from profiler.machine_code.compiler_log import assembled
from profiler.offline import library
from profiler.offline import tools as offline_tools
from profiler.offline.clang import Text, UnknownFunctions, assembly, read_text
from profiler.offline.compiling import compile_text
from profiler.offline.diagnostics import DoesNotCompile, diagnostics_in
from profiler.offline.library import Part, built_part, parts_for, triple
from profiler.offline.tools import ToolMissing, Tools, clang_command, find_tools, run_tool

SOURCE = """\
__kernel void smooth(__global const float *x, __global float *y, __local float *row, int n) {
    int i = get_global_id(0), l = get_local_id(0);
    row[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += row[(l + k) % 64] * sin(x[k]);
    y[i] = s;
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void copy(__global float4 *to, read_only image2d_t from) {
    __local float tile[256];
    tile[get_local_id(0)] = 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = read_imagef(from, (int2)(get_global_id(0), 0)) * tile[63 - get_local_id(0)];
}
"""


@pytest.fixture(autouse=True)
def _kept_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a while to compile and is named after all that it is made of: beside what else set-up makes."""
    monkeypatch.setattr(library, "cache_folder", lambda: Path(sys.prefix) / "offline-library")


def tools_for(target: str) -> Tools:
    try:
        return find_tools(target_named(target).vendor)
    except ToolMissing as error:
        pytest.skip(error.message)


def text(source: str, *flags: str) -> Text:
    return Text(source, "/home/me/my kernels.cl", BuildOptions(flags=flags))


@pytest.mark.parametrize("target", ["sm_60", "sm_90", "sm_120", "gfx906", "gfx90a", "gfx1100"])
def test_all_kernels_of_a_program_compile_for_a_gpu_that_is_not_here(target: str) -> None:
    codes, _ = compile_text(text(SOURCE), target_named(target), tools_for(target))
    assert set(codes) == {"smooth", "copy"}
    assert codes["copy"].local_mem_bytes == 1024
    assert all(code.registers > 4 and code.spill_bytes == 0 for code in codes.values())
    assert any(each.kind == "barrier" for each in codes["smooth"].instructions)
    assert any(each.space == "image" for each in codes["copy"].instructions)


def test_registers_and_spills_are_those_that_ptxas_reports(tmp_path: Path) -> None:
    found = tools_for("sm_90")
    # More values are alive at once than there are registers.
    many = "\n".join(f"    double4 v{i} = x[i * 64 + {i}];" for i in range(64))
    back = "\n".join(f"    x[i * 64 + {63 - i}] = v{i} * x[i + n];" for i in range(64))
    body = f"    int i = get_global_id(0);\n{many}\n    barrier(CLK_GLOBAL_MEM_FENCE);\n{back}\n"
    crowded = text(f"__kernel void crowded(__global double4 *x, int n) {{\n{body}}}\n{SOURCE}")
    architecture = target_named("sm_90")
    codes, _ = compile_text(crowded, architecture, found)
    ptx = tmp_path / "program.ptx"
    ptx.write_text(assembly(crowded, read_text(crowded, architecture, found), architecture, found))
    command = [str(found.ptxas), "-v", "-arch", "sm_90", str(ptx), "-o", str(tmp_path / "program.cubin")]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert codes["crowded"].spill_bytes > 0
    for name, code in codes.items():
        said = assembled(log, name)
        assert said is not None
        assert (said.registers, said.spill_bytes, said.shared_bytes) == (
            code.registers,
            code.spill_bytes,
            code.local_mem_bytes,
        )


def test_a_program_that_does_not_compile_is_told_by_line_and_column() -> None:
    wrong = SOURCE.replace("sin(x[k])", "no_such(x[k])").replace("= 1.0f;", "= one;")
    with pytest.raises(DoesNotCompile) as raised:
        compile_text(text(wrong), target_named("sm_80"), tools_for("sm_80"))
    places = [(each.file, each.line, each.column) for each in raised.value.diagnostics]
    assert places == [("my kernels.cl", 7, 34), ("my kernels.cl", 12, 29)]
    assert raised.value.line == 7
    assert "no_such" in raised.value.message


def test_build_options_reach_the_compiler() -> None:
    architecture, found = target_named("sm_80"), tools_for("sm_80")
    source = "__kernel void k(__global float *x) { x[get_global_id(0)] = WHAT / x[1]; }"
    options = BuildOptions((("WHAT", "x[3]"),), (), ("-cl-fp32-correctly-rounded-divide-sqrt",))
    precise = Text(source, None, options)
    ptx = assembly(precise, read_text(precise, architecture, found), architecture, found)
    assert "div.rn.f32" in ptx
    quick = Text(source, None, BuildOptions((("WHAT", "x[3]"),)))
    assert "div.full.f32" in assembly(quick, read_text(quick, architecture, found), architecture, found)


def test_images_on_a_gpu_without_them_are_reported() -> None:
    with pytest.raises(DoesNotCompile, match=r"gfx942 \(CDNA3\) has no images") as raised:
        compile_text(text(SOURCE), target_named("gfx942"), tools_for("gfx942"))
    assert raised.value.line == 14


def test_a_function_that_nothing_defines_is_named() -> None:
    declared = "float elsewhere(float);\n" + SOURCE.replace("sin(", "elsewhere(")
    with pytest.raises(UnknownFunctions, match="`elsewhere`"):
        compile_text(text(declared), target_named("sm_80"), tools_for("sm_80"))


def test_what_a_file_elsewhere_holds_is_not_quoted() -> None:
    said = "/etc/secret:1:1: error: unknown type name 'hunter2'\nmy.cl:2:3: warning: fine\n"
    found = diagnostics_in(said, "my.cl", ["/home/me"])
    assert [each.is_error for each in found] == [True, False]
    assert not any("hunter2" in str(each) for each in found)


def test_without_the_compilers_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline_tools, "_site_packages", lambda: iter(()))
    with pytest.raises(ToolMissing) as raised:
        find_tools(Vendor.AMD)
    assert re.search(r"pip install 'kernelcast\[offline\]'", raised.value.message)


@pytest.mark.parametrize("target", ["sm_90", "gfx90a"])
@pytest.mark.parametrize("part", Part)
def test_a_programs_calls_lead_to_the_part_of_the_library_that_has_the_function(part: Part, target: str) -> None:
    tools, vendor = tools_for(target), target_named(target).vendor
    command = [*clang_command(tools), "-triple", triple(vendor), "-x", "ir", "-disable-llvm-passes", "-emit-llvm"]
    status, code, messages = run_tool([*command, str(built_part(part, vendor, tools)), "-o", "-"], b"", 60)
    assert status == 0, messages
    functions = re.findall(rb"^define .*?(@[\w.$]+)\(", code, re.MULTILINE)
    assert len(functions) > 1000
    assert [each for each in functions if part not in parts_for(each)] == []
    assert re.findall(rb"^declare .*?@(?!llvm|__nv_|__ocml_)([\w.$]+)\(", code, re.MULTILINE) == []  # no other part
