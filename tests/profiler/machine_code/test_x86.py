"""x86-64 machine code, by its bytes. Source of the encodings: Intel's Software Developer's Manual, volume 2."""

from __future__ import annotations

import pytest

from model.work.counts import OpKind
from profiler.machine_code.digest import digest
from profiler.machine_code.instruction import Instruction
from profiler.machine_code.x86 import Section, disassemble

RET = "c3"
VADDPS_YMM = "c5f458c2"  # vaddps ymm0, ymm1, ymm2
VADDSS = "c5f258c2"  # vaddss xmm0, xmm1, xmm2
DEC_RCX = "48ffc9"


def code(
    *parts: str, relocations: dict[int, str] | None = None, lines: dict[int, int] | None = None
) -> list[Instruction]:
    data = bytes.fromhex("".join(parts))
    places: dict[int, tuple[str, int] | None] = {at: ("k.cl", line) for at, line in (lines or {}).items()}
    return list(disassemble(Section(data, {}, relocations or {}, places), 0, len(data)))


@pytest.mark.parametrize(
    ("bytes_", "kind", "element", "lanes"),
    [
        (VADDPS_YMM, OpKind.ADD, "f32", 8),
        (VADDSS, OpKind.ADD, "f32", 1),
        ("c4e275b8c2", OpKind.FMA, "f32", 8),  # vfmadd231ps ymm0, ymm1, ymm2
        ("c4e2f1b8c2", OpKind.FMA, "f64", 2),  # vfmadd231pd xmm0, xmm1, xmm2
        ("62f1744858c2", OpKind.ADD, "f32", 16),  # vaddps zmm0, zmm1, zmm2
        ("f20f59c1", OpKind.MUL, "f64", 1),  # mulsd xmm0, xmm1
        ("0f5ec1", OpKind.DIVIDE, "f32", 4),  # divps xmm0, xmm1
        ("0f51c1", OpKind.SQRT, "f32", 4),  # sqrtps xmm0, xmm1
        ("0f52c1", OpKind.NATIVE, "f32", 4),  # rsqrtps xmm0, xmm1
        ("0f5fc1", OpKind.SIMPLE, "f32", 4),  # maxps xmm0, xmm1
        ("0f2ec1", OpKind.COMPARE, "f32", 1),  # ucomiss xmm0, xmm1
        ("c5f5fec2", OpKind.INTEGER, "i32", 8),  # vpaddd ymm0, ymm1, ymm2
        ("c4e27540c2", OpKind.INT_MUL, "i32", 8),  # vpmulld ymm0, ymm1, ymm2
        ("4801d8", OpKind.INTEGER, "i64", 1),  # add rax, rbx
        ("0fafc3", OpKind.INT_MUL, "i32", 1),  # imul eax, ebx
        ("f7fb", OpKind.INT_DIVIDE, "i32", 1),  # idiv ebx
        ("c5fc28c1", "move", "f32", 8),  # vmovaps ymm0, ymm1
        ("c5f457c2", OpKind.SIMPLE, "f32", 8),  # vxorps ymm0, ymm1, ymm2
    ],
)
def test_instructions_mean_what_the_analysis_calls_them(bytes_: str, kind: str, element: str, lanes: int) -> None:
    (found,) = code(bytes_)
    assert (found.kind, found.element, found.lanes) == (kind, element, lanes)


def test_setting_a_register_to_zero_is_no_arithmetic() -> None:
    (found,) = code("c5fc57c0")  # vxorps ymm0, ymm0, ymm0
    assert found.kind == "move"


def test_arithmetic_on_memory_is_a_load_too() -> None:
    (found,) = code("c5f45807")  # vaddps ymm0, ymm1, [rdi]
    assert (found.kind, found.loads, found.stores, found.memory_lanes) == (OpKind.ADD, True, False, 8)


def test_addresses_that_are_only_computed_are_not_loaded() -> None:
    (found,) = code("488d04b7")  # lea rax, [rdi + rsi*4]
    assert not found.loads
    assert found.kind == OpKind.INTEGER


def test_what_is_put_on_the_stack_and_fetched_again_was_spilled() -> None:
    found = digest(code("c5fc29442420", VADDPS_YMM, "c5fc284c2420", RET))  # vmovaps [rsp+32], ymm0 ... ymm1, [rsp+32]
    assert (found.spill_bytes, found.spill_loads, found.spill_stores) == (32, 1, 1)


def test_a_copy_of_the_stacks_pointer_points_to_the_stack_too() -> None:
    copy = "4889e3"  # mov rbx, rsp
    found = digest(code(copy, "c5fc294320", VADDPS_YMM, "c5fc284b20", RET))  # vmovaps [rbx+32], ymm0 ... ymm1, [rbx+32]
    assert (found.spill_bytes, found.spill_loads, found.spill_stores) == (32, 1, 1)


def test_what_is_only_put_on_the_stack_is_no_spill() -> None:
    assert digest(code("c5fc29442420", RET)).spill_bytes == 0


def test_calls_are_named_by_their_relocations_and_tell_their_lanes() -> None:
    call = code("e800000000", "e800000000", RET, relocations={1: "_Z3sinDv8_f", 6: "_Z8_cl_sqrtf"})
    assert {(c.function, c.lanes, c.count) for c in digest(call).calls} == {("sin", 8, 1), ("sqrt", 1, 1)}
    assert digest(call).float_vector_share == 0.5


def test_a_function_called_through_a_register_is_named_too() -> None:
    load_address, call_it = "48b80000000000000000", "ffd0"  # movabs rax, ...; call rax
    found = digest(code(load_address, call_it, RET, relocations={2: "__ocl_svml_z0_sinf16"}))
    assert [(c.function, c.lanes) for c in found.calls] == [("sin", 16)]


def test_vectors_count_where_a_line_was_compiled_twice() -> None:
    vectors, rest = VADDPS_YMM + DEC_RCX + "75f7", VADDSS + DEC_RCX + "75f7"  # two loops: dec rcx; jne -9
    found = digest(code(vectors, rest, RET, lines={0: 3}), {("k.cl", 3)})
    assert found.float_vector_share == 1.0
    assert found.vector_width_bits == 256
    assert [(loop.line, loop.lanes) for loop in found.loops] == [(2, 8), (2, 1)]


def test_a_line_that_was_never_vectorised_is_told_apart_from_one_that_was() -> None:
    vectors, scalars = VADDPS_YMM + DEC_RCX + "75f7", VADDSS + DEC_RCX + "75f7"
    found = digest(code(vectors, scalars, RET, lines={0: 3, 9: 7}))
    assert found.float_vector_share == 0.5


def test_without_lines_what_is_left_over_by_vector_loops_is_left_out() -> None:
    vectors, rest = VADDPS_YMM + DEC_RCX + "75f7", VADDSS + DEC_RCX + "75f7"
    assert digest(code(vectors, rest, RET)).float_vector_share == 1.0


def test_bytes_that_are_no_instruction_are_skipped() -> None:
    assert [i.kind for i in code("06", VADDPS_YMM, RET)] == [OpKind.ADD, "move"]


def test_code_that_only_copies_is_as_wide_as_its_loads_and_stores() -> None:
    found = digest(code("c5fc1007", "c5fc1106", RET))  # vmovups ymm0, [rdi]; vmovups [rsi], ymm0
    assert (found.vector_width_bits, found.memory_vector_share, found.float_vector_share) == (256, 1.0, None)
