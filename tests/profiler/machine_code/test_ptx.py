"""PTX as NVIDIA's driver hands it out. The texts are written after the manual, "PTX ISA"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.compiled import CompiledCall
from model.work.counts import OpKind
from profiler.machine_code.digest import calls_of, loops_of, mix_of
from profiler.machine_code.instruction import Instruction
from profiler.machine_code.ptx import read_ptx

HEAD = """
.version 8.0
.target sm_80
.address_size 64
.file 1 "/home/me/my kernels.cl"
"""
ROW_SUM = (
    HEAD
    + """
.entry row(.param .u64 p) { ret; }
.visible .entry row_sum(
	.param .u64 .ptr .global .align 4 row_sum_param_0, // { not a body
	.param .u32 row_sum_param_1
)
.reqntid 64, 1, 1
{
	.local .align 16 .b8 	__local_depot0[64];
	.shared .align 4 .b8 row_sum_tmp[1024];
	.reg .pred 	%p<3>;
	.reg .f32 	%f<9>;
	.loc 1 3 5
	ld.param.u64 	%rd1, [row_sum_param_0];
	setp.ge.s32 	%p1, %r3, %r2;
	@%p1 bra 	$L__BB0_4;
$L__BB0_2:
	.loc 1 7 9
	ld.global.nc.v4.f32 	{%f1, %f2, %f3, %f4}, [%rd4];
	fma.rn.f32 	%f5, %f1, %f2, %f5;
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.f32 	[param0+0], %f5;
	call.uni (retval0),
	__nv_sinf,
	(
	param0
	);
	ld.param.f32 	%f6, [retval0+0];
	} // callseq 0
	add.s32 	%r3, %r3, 1;
	setp.lt.s32 	%p2, %r3, %r2;
	@%p2 bra 	$L__BB0_2;
	bar.sync 	0;
	atom.shared.add.u32 %r9, [%rd3], 1;
	st.global.f32 	[%rd5], %f6;
$L__BB0_4:
	ret;
}
"""
)


def instructions(body: str) -> tuple[Instruction, ...]:
    code = read_ptx(f"{HEAD}.entry k() {{\n{body}\n}}", "k")
    assert code is not None
    return code.instructions


def test_a_kernel_is_read_whole() -> None:
    code = read_ptx(ROW_SUM, "row_sum")
    assert code is not None
    assert (code.private_bytes, code.local_bytes) == (64, 1024)
    mix = {(each.kind, each.element, each.lanes, each.space): each.count for each in mix_of(code.instructions)}
    assert mix == {
        ("integer", "i32", 1, ""): 3,
        ("branch", "", 1, ""): 2,
        ("fma", "f32", 1, ""): 1,
        ("call", "", 1, ""): 1,
        ("barrier", "", 1, ""): 1,
        ("atomic", "i32", 1, "local"): 1,
        ("load", "f32", 4, "global"): 1,
        ("store", "f32", 1, "global"): 1,
    }
    assert calls_of(code.instructions) == (CompiledCall("sin", 1, 1),)
    (loop,) = loops_of(code.instructions, {("my kernels.cl", 7)})
    assert (loop.line, loop.depth) == (6, 1)


def test_a_kernel_whose_name_begins_like_anothers_is_not_taken_for_it() -> None:
    code = read_ptx(ROW_SUM, "row")
    assert code is not None
    assert len(code.instructions) == 1
    assert read_ptx(ROW_SUM, "sum") is None


@pytest.mark.parametrize(
    ("text", "kind", "element"),
    [
        ("add.f32 %f1, %f2, %f3;", OpKind.ADD, "f32"),
        ("sub.rn.f64 %fd1, %fd2, %fd3;", OpKind.ADD, "f64"),
        ("mul.lo.s32 %r1, %r2, %r3;", OpKind.INT_MUL, "i32"),
        ("mul.wide.u32 %rd1, %r2, 4;", OpKind.INT_MUL, "i32"),
        ("mul.f32 %f1, %f2, %f3;", OpKind.MUL, "f32"),
        ("mad.lo.s32 %r1, %r2, %r3, %r4;", OpKind.INT_MUL, "i32"),
        ("div.rn.f32 %f1, %f2, %f3;", OpKind.DIVIDE, "f32"),
        ("div.approx.f32 %f1, %f2, %f3;", OpKind.NATIVE, "f32"),
        ("rem.u32 %r1, %r2, %r3;", OpKind.INT_DIVIDE, "i32"),
        ("sqrt.rn.f32 %f1, %f2;", OpKind.SQRT, "f32"),
        ("sin.approx.ftz.f32 %f1, %f2;", OpKind.NATIVE, "f32"),
        ("max.f32 %f1, %f2, %f3;", OpKind.SIMPLE, "f32"),
        ("max.s32 %r1, %r2, %r3;", OpKind.INTEGER, "i32"),
        ("setp.lt.f32 %p1, %f1, %f2;", OpKind.COMPARE, "f32"),
        ("cvt.rn.f32.s32 %f1, %r1;", OpKind.CONVERT, "i32"),
        ("shl.b32 %r1, %r2, 2;", OpKind.INTEGER, "i32"),
        ("mov.u32 %r1, %tid.x;", "move", "i32"),
    ],
)
def test_instructions_mean_what_the_analysis_calls_them(text: str, kind: str, element: str) -> None:
    (found,) = instructions(text)
    assert (found.kind, found.element) == (kind, element)


def test_two_halves_in_one_register_are_two_lanes() -> None:
    (found,) = instructions("fma.rn.f16x2 %r1, %r2, %r3, %r4;")
    assert (found.kind, found.element, found.lanes) == (OpKind.FMA, "f16", 2)


def test_a_predicated_return_does_not_end_the_code() -> None:
    leaves, computes = instructions("@%p1 ret;\nadd.f32 %f1, %f2, %f3;")
    assert leaves.falls_through
    assert computes.kind == OpKind.ADD


def test_comments_hide_nothing_and_add_nothing() -> None:
    assert len(instructions("/* bra X; */ add.f32 %f1, %f2, %f3; // ret;\n")) == 1


@given(st.text(alphabet="abd.efglmnort%@{}();:,\n $1 ", max_size=200))
def test_whatever_a_driver_writes_is_read_without_a_crash(text: str) -> None:
    code = read_ptx(f".entry k() {{\n{text}", "k")
    if code is not None:
        loops_of(code.instructions, ())
        mix_of(code.instructions)
