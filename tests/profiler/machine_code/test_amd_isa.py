"""AMD's assembly language as LLVM writes it; the text is abridged from its own."""

from __future__ import annotations

from profiler.machine_code.amd_isa import read_amd_isa, undefined_functions
from profiler.machine_code.digest import loops_of, mix_of

TEXT = """
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.text
row_sum:                                ; @row_sum
	.file	1 "/home/me" "my kernels.cl"
	.loc	1 4 9 prologue_end      ; my kernels.cl:4:9
	s_load_b128 s[0:3], s[0:1], 0x0
	v_mov_b32_e32 v1, 0
.LBB0_2:                                ; %loop
	.loc	1 7 9
	global_load_b64 v[2:3], v[4:5], off
	s_waitcnt vmcnt(0)
	v_dual_fmac_f32 v1, v2, v3 :: v_dual_add_f32 v6, v2, v3
	v_add_nc_u32_e32 v4, 8, v4
	ds_store_b32 v7, v1
	s_cbranch_scc1 .LBB0_2
; %bb.3:
	s_barrier
	scratch_store_b32 off, v1, off offset:4 ; 4-byte Folded Spill
	global_atomic_add_f32 v0, v1, s[2:3]
	s_endpgm
.Lfunc_end0:
	.size	row_sum, .Lfunc_end0-row_sum
; codeLenInByte = 120
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .name:           x
        .offset:         0
    .agpr_count:     0
    .group_segment_fixed_size: 1024
    .name:           row_sum
    .private_segment_fixed_size: 8
    .sgpr_count:     18
    .sgpr_spill_count: 0
    .vgpr_count:     9
    .vgpr_spill_count: 1
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1100
...
	.end_amdgpu_metadata
"""


def test_registers_spills_and_memory_are_read_from_the_metadata() -> None:
    code = read_amd_isa(TEXT)["row_sum"]
    assert (code.vector_registers, code.scalar_registers, code.spilled_vector_registers) == (9, 18, 1)
    assert (code.local_bytes, code.private_bytes, code.wave_size, code.code_bytes) == (1024, 8, 32, 120)


def test_instructions_are_told_apart_and_spills_are_no_loads_or_stores_of_the_program() -> None:
    counted = {
        (each.kind, each.space): each.count * (each.lanes if each.kind == "load" else 1)
        for each in mix_of(read_amd_isa(TEXT)["row_sum"].instructions)
    }
    assert counted["fma", ""] == counted["add", ""] == counted["barrier", ""] == 1
    assert counted["load", "global"] == 2  # two words in one instruction
    assert counted["store", "local"] == counted["atomic", "global"] == 1
    assert ("store", "private") not in counted


def test_loops_are_found_with_their_lines() -> None:
    (loop,) = loops_of(read_amd_isa(TEXT)["row_sum"].instructions, frozenset({("my kernels.cl", 7)}))
    assert (loop.line, loop.depth) == (6, 1)


def test_functions_that_nothing_defines_are_named() -> None:
    symbols = ("no_such", "row_sum", ".L__const.k.table")
    call = "".join(f"\ts_add_u32 s4, s4, {symbol}@rel32@lo+4\n" for symbol in symbols)
    assert undefined_functions(TEXT + call) == ["no_such"]


def test_a_text_without_metadata_has_no_kernels() -> None:
    assert read_amd_isa("nonsense") == {}
