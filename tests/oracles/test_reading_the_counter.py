"""What an instruction counter prints is read as it is meant; none of this needs the counter."""

from __future__ import annotations

import pytest

from tests.oracles.instructions.meaning import flop_instructions, global_bytes, why_bytes_unseen
from tests.oracles.instructions.printed import read_printed
from tests.oracles.instructions.task import MARK, Executed, NotExecuted

PRINTED = f"""{MARK} begin 0
Instructions executed for kernel 'k':
              32 - load global (128 bytes)
              16 - call _Z3sinf()
              16 - fadd
               4 - load local (16 bytes)

{MARK} done
{MARK} begin 1

OCLGRIND FATAL ERROR (./src/core/WorkItem.cpp:1681)
Undefined external function: llvm.fshl.i32
When creating kernel 'fsh'
{MARK} failed: 'fsh' was not found
{MARK} begin 2
"""


def test_each_launch_has_its_own_counts_its_reason_or_nothing() -> None:
    outcomes = read_printed(PRINTED)
    assert outcomes[0] == Executed(
        {"load global": 32, "call _Z3sinf()": 16, "fadd": 16, "load local": 4}, {"load global": 128, "load local": 16}
    )
    assert outcomes[1] == NotExecuted("Undefined external function: llvm.fshl.i32")
    assert 2 not in outcomes


@pytest.mark.parametrize(
    ("instruction", "flops"),
    [
        ("fadd", 1), ("fdiv", 1), ("frem", 1), ("fneg", 0), ("fcmp", 0), ("add", 0), ("sitofp", 0),
        ("call llvm.fmuladd.f32()", 2), ("call llvm.fmuladd.v4f32()", 2), ("call _Z3fmafff()", 2),
        ("call _Z3madDv4_fS_S_()", 2), ("call _Z4sqrtd()", 1), ("call _Z10native_expf()", 1), ("call _Z3powff()", 1),
        ("call _Z3dotDv4_fS_()", 7), ("call _Z3dotff()", 1), ("call _Z6lengthDv3_f()", 6),
        ("call _Z8distanceDv2_fS_()", 5),
        ("call _Z13fast_distanceDv2_fS_()", 5), ("call _Z3mixfff()", 3), ("call _Z4fmaxff()", 0),
        ("call _Z5clampfff()", 0),
        ("call _Z3absi()", 0), ("call _Z3maxii()", 0), ("call _Z13get_global_idj()", 0), ("call helper()", 0),
    ],
)  # fmt: skip
def test_an_instruction_is_worth_so_many_operations(instruction: str, flops: int) -> None:
    assert flop_instructions(Executed({instruction: 3}, {})) == 3 * flops


@pytest.mark.parametrize(
    ("call", "what", "size_bytes"),
    [
        ("call _Z6vload3mPU3AS1Kf()", "load", 12),
        ("call _Z7vstore4Dv4_hmPU3AS1h()", "store", 4),
        ("call _Z10vload_halfmPU3AS1KDh()", "load", 2),
        ("call _Z16vstore_half4_rteDv4_fmPU3AS1Dh()", "store", 8),
        ("call _Z6vload2mPU3AS3Kf()", "load", 0),  # local memory
        ("call _Z6vload2mPKf()", "load", 0),  # private memory
    ],
)
def test_a_call_moves_what_its_name_and_types_say(call: str, what: str, size_bytes: int) -> None:
    executed = Executed({call: 5, f"{what} global": 2}, {f"{what} global": 8})
    assert global_bytes(executed, what) == 8 + 5 * size_bytes


def test_calls_that_move_as_much_as_their_arguments_say_are_named() -> None:
    assert "async_work_group_copy" in str(
        why_bytes_unseen(Executed({"call _Z21async_work_group_copyPU3AS3fPU3AS1Kfm9ocl_event()": 1}, {}))
    )
    assert why_bytes_unseen(Executed({"call llvm.memcpy.p0i8.p1i8.i64()": 1}, {})) is not None
    assert why_bytes_unseen(Executed({"load global": 1}, {"load global": 4})) is None
