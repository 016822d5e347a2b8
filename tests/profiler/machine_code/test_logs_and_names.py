"""What compilers say in their logs, and what they call OpenCL's functions."""

from __future__ import annotations

import pytest

from profiler.machine_code.compiler_log import Assembled, assembled, items_side_by_side, warnings_in
from profiler.machine_code.instruction import called_function

INTEL = """Device build done
remark: <unknown>:0:0: Kernel was 16-way vectorized2 gathers1 scatters
Kernel "blur" was successfully vectorized (16)
Kernel "blur2" was successfully vectorized (8)
Kernel "serial" was not vectorized
Done."""
# As NVIDIA's assembler writes it: "CUDA Binary Utilities" and cl_nv_compiler_options.
NVIDIA = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'blur' for 'sm_80'
ptxas info    : Function properties for blur
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 32 registers, 4096 bytes smem, 380 bytes cmem[0]
ptxas info    : Compiling entry function 'blur2' for 'sm_80'
ptxas info    : Function properties for blur2
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, 380 bytes cmem[0]
"""


@pytest.mark.parametrize(("kernel", "items"), [("blur", 16), ("blur2", 8), ("serial", 1), ("other", None)])
def test_intels_log_says_how_many_work_items_run_side_by_side(kernel: str, items: int | None) -> None:
    assert items_side_by_side(INTEL, kernel) == items


def test_nvidias_log_says_registers_and_spills_of_each_kernel() -> None:
    assert assembled(NVIDIA, "blur") == Assembled(registers=32, stack_bytes=16, spill_bytes=12, shared_bytes=4096)
    assert assembled(NVIDIA, "blur2") == Assembled(registers=10, stack_bytes=0, spill_bytes=0, shared_bytes=0)
    assert assembled(NVIDIA, "other") is None
    assert assembled("", "blur") is None


def test_each_warning_is_told_once() -> None:
    warning = "k.cl:3:5: warning: unused variable 'x'"
    assert warnings_in(f"{warning}\n  int x;\n{warning}\n1 warning generated.\n") == (warning,)


@pytest.mark.parametrize(
    ("symbol", "name", "lanes"),
    [
        ("_Z3sinDv8_f", "sin", 8),
        ("_Z8_cl_sqrtf", "sqrt", 1),
        ("_Z7_cl_powff", "pow", 1),
        ("__ocl_svml_z0_sinf16", "sin", 16),
        ("__ocl_svml_e9_exp24", "exp2", 4),
        ("__ocl_svml_l9_log1016", "log10", 16),
        ("__ocl_svml_z1_atan2f8_mask", "atan2", 8),
        ("__ocl_svml_z1_expf16_native", "exp", 16),
        ("__nv_fast_expf", "exp", 1),
        ("expf", "exp", 1),
        ("memcpy", "memcpy", 1),
        ("their_own_f", "their_own_f", 1),
        ("?", "?", 1),
    ],
)
def test_library_functions_go_by_opencls_names(symbol: str, name: str, lanes: int) -> None:
    found = called_function(symbol)
    assert (found.name, found.lanes) == (name, lanes)
