"""Every function and type that OpenCL C 1.0 to 3.0 declares is known: held against the headers of a compiler."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from model.opencl.builtin_types import BUILTIN_TYPE_NAMES
from model.opencl.builtins import FLOAT_CONSTANTS, INTEGER_CONSTANTS
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.counts import OpKind
from model.work.execution.unknowns import UnknownKind

_NOT_KNOWN = {
    r"(amd|arm|intel)_\w+": "of one vendor",
    r"ndrange_[123]D|enqueue_marker|get_default_queue|(retain|release)_event|create_user_event|is_valid_event"
    r"|set_user_event_status|capture_event_profiling_info": "for kernels that kernels enqueue, which are not analysed",
}
_NO_CONSTANTS = {
    r"CLK_AVC_\w+": "of one vendor",
    r"__\w+|_OPENCL_\w+|cl_\w+|ATOMIC_FLAG_INIT|MAX_WORK_DIM": "of the header itself, extensions and features",
    r"CLK_(s?RGB|s?BGRA|ABGR|ARGB|R|A|RG|RA|Rx|RGx|INTENSITY|LUMINANCE|DEPTH)\w*|CLK_[SU]NORM_\w+|CLK_(UN)?SIGNED_INT\w+"
    r"|CLK_(HALF_)?FLOAT": "what queries of images answer, which is not followed",
    r"CLK_(NULL|ENQUEUE|INVALID|EVENT|DEVICE|OUT_OF|PROFILING)_\w+|CLK_SUCCESS|CL_(COMPLETE|QUEUED|RUNNING|SUBMITTED)":
        "for kernels that kernels enqueue, which are not analysed",
}  # fmt: skip
# These Clang knows without a header.
_WITHOUT_HEADER = (
    "to_global to_local to_private read_pipe write_pipe reserve_read_pipe reserve_write_pipe commit_read_pipe "
    "commit_write_pipe work_group_reserve_read_pipe sub_group_commit_write_pipe get_pipe_num_packets "
    "get_pipe_max_packets vec_step printf"
)
_NO_FUNCTIONS = frozenset(
    {"__attribute__", "defined", "deprecated", "ext_vector_type", "format", "vec_type_hint", "work_group_size_hint"}
)


@cache
def _header() -> str:
    found = find_spec("pocl_binary_distribution")
    if found is None or found.origin is None:
        pytest.skip("the package pocl-binary-distribution, whose headers are read here, is not installed")
    folder = Path(found.origin).parent / ".libs" / "share" / "pocl" / "include"
    if not (folder / "opencl-c.h").exists():
        pytest.skip(f"{folder} holds no opencl-c.h")
    text = "\n".join((folder / name).read_text() for name in ("opencl-c.h", "opencl-c-base.h"))
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def _functions() -> list[str]:
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", _header(), flags=re.MULTILINE)
    declared = set(re.findall(r"\b(\w+)\s*\((?=[^;{]*\)[^;{]*;)", code))
    reinterpreting = set(re.findall(r"define\s+(as_\w+)\(", _header()))
    return sorted((declared | reinterpreting | set(_WITHOUT_HEADER.split())) - _NO_FUNCTIONS)


def _left_out(name: str, reasons: dict[str, str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in reasons)


def _unknown(calls: list[str]) -> Iterator[str]:
    """Those of the functions called that the analysis of a kernel does not know."""
    body = "\n".join(f"    {call};" for call in calls)
    program = read_program(f"kernel void k(global int *a, float4 f, int4 i, read_only image2d_t image) {{\n{body}\n}}")
    work = analyse(program, program.kernels[0])
    yield from (unknown.name for unknown in work.unknowns if unknown.kind is UnknownKind.FUNCTION)


def test_every_function_of_the_headers_is_known_or_left_out_for_a_reason() -> None:
    wanted = [name for name in _functions() if not _left_out(name, _NOT_KNOWN)]
    assert len(wanted) > 900
    assert sorted(set(_unknown([f"{name}(i, i, i)" for name in wanted]))) == []


def test_what_is_left_out_is_said_to_be_unknown() -> None:
    assert set(_unknown(["amd_bfe(i, i, i)", "enqueue_marker(i, i, i, i)"])) == {"amd_bfe", "enqueue_marker"}


def test_every_type_of_the_headers_is_known() -> None:
    named = set(re.findall(r"typedef[^;]*?\b(\w+)(?:\s*__attribute__\([^;]*)?\s*;", _header()))
    images = set(re.findall(r"\b(image\w+_t)\b", _header()))
    of_atomics = set(re.findall(r"\b(atomic_\w+_t|atomic_(?:int|uint|long|ulong|float|double|half|flag))\b", _header()))
    assert sorted((named | images | of_atomics) - BUILTIN_TYPE_NAMES - {"workDimension"}) == []


def test_every_constant_of_the_headers_is_known_or_left_out_for_a_reason() -> None:
    defined = set(re.findall(r"^[ \t]*#\s*define\s+(\w+)\b(?!\()", _header(), re.MULTILINE))
    unknown = defined - set(INTEGER_CONSTANTS) - FLOAT_CONSTANTS
    assert sorted(name for name in unknown if not _left_out(name, _NO_CONSTANTS)) == []


Count = Callable[..., Any]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("a[g] = sub_group_ballot_find_lsb(sub_group_ballot(a[g]))", OpKind.INTEGER),
        ("a[g] = sub_group_non_uniform_reduce_mul(a[g])", OpKind.INTEGER),
        ("a[g] = bit_reverse(a[g])", OpKind.INTEGER),
        ("a[g] = dot_4x8packed_uu_uint(a[g], 3)", OpKind.INT_MUL),
        ("a[g] = sub_group_elect()", OpKind.INTEGER),
        ("a[g] = any(vload4(g, a))", OpKind.INTEGER),
    ],
)
def test_functions_of_newer_versions_cost_what_they_compute(count: Count, call: str, kind: OpKind) -> None:
    counted = count(f"kernel void k(global int *a) {{ int g = get_global_id(0); {call}; }}", (64,), (64,))
    assert counted.ops(kind) >= 64
    assert not counted.work.unknowns


def test_a_copy_of_lines_moves_as_many_elements_as_the_lines_have(count: Count) -> None:
    counted = count(
        "kernel void k(global float *a, local float *t) {"
        "event_t e = async_work_group_copy_2D2D(t, 0, a, 0, sizeof(float), 16, 8, 64, 16, 0);"
        "wait_group_events(1, &e); }",
        (64,), (64,), buffers={"a": 4096},
    )  # fmt: skip
    assert sum(access.count * access.element_bytes for access in counted.accesses("a")) == 16 * 8 * 4


def test_a_packet_read_from_a_pipe_is_a_value_that_nobody_knows(count: Count) -> None:
    counted = count(
        "kernel void k(read_only pipe int p, global int *a) { int v = 1; read_pipe(p, &v); a[get_global_id(0)] = v; }",
        (64,), (64,),
    )  # fmt: skip
    assert "pipe" in counted.said
    assert not counted.work.unknowns
