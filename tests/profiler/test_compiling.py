"""Compiling on the real device: what the compiler made is told, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.compiled import CodeSource, CompiledFacts, facts_from_json, facts_to_json, key_of
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.throughput.rounds import rounds_of
from model.work.analyse import analyse
from profiler.compile_cache import collect_facts, keep_facts, known_facts
from profiler.compiling import (
    CompileLimits,
    CompileRequest,
    compile_facts,
    compile_program,
)
from profiler.measurement import BuildFailed, Cancelled, DeviceGone, MeasureError, TimedOut
from profiler.store import Store

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

SOURCE = """__kernel void scale(__global const float* x, __global float* y, float factor) {
    size_t i = get_global_id(0);
    y[i] = factor * x[i] + 1.0f;
}

__kernel void curve(__global const float* x, __global float* y, int n) {
    size_t i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += sin(x[i] + k);
    y[i] = sum;
}

__kernel void spin(__global volatile int* x) {
    while (x[0] >= 0) x[1] += 1;
}
"""
MakeKernel = Callable[..., Kernel]
Compiled = tuple[CompiledFacts | MeasureError, ...]


@pytest.fixture(scope="module")
def scale(make_kernel: MakeKernel, types: Any) -> Kernel:
    return make_kernel("scale", x=types.buffer(const=True), y=types.buffer(), factor=types.float)


@pytest.fixture(scope="module")
def curve(make_kernel: MakeKernel, types: Any) -> Kernel:
    return make_kernel("curve", x=types.buffer(const=True), y=types.buffer(), n=types.int)


def request_of(
    kernel: Kernel, source: str = SOURCE, *, local: tuple[int, ...] | None = (64,), device: str = "pocl", **more: Any
) -> CompileRequest:
    launch = Launch((4096,), local, (), (), options=more.pop("options", BuildOptions()))
    return CompileRequest(source, more.pop("path", None), kernel, launch, device)


@pytest.fixture(scope="module")
def compiled(scale: Kernel, curve: Kernel, make_kernel: MakeKernel, types: Any) -> Compiled:
    missing, spin = make_kernel("no_such"), make_kernel("spin", x=types.buffer(types.int))
    return compile_program(
        [request_of(scale), request_of(curve), request_of(missing), request_of(scale, local=None), request_of(spin)]
    )


@pytest.fixture(scope="module")
def both(compiled: Compiled) -> tuple[CompiledFacts, CompiledFacts]:
    one, other = compiled[:2]
    assert isinstance(one, CompiledFacts)
    assert isinstance(other, CompiledFacts)
    return one, other


def test_straight_code_is_told_to_be_vectors(both: tuple[CompiledFacts, CompiledFacts]) -> None:
    facts = both[0]
    assert facts.source is CodeSource.ASSEMBLY
    assert facts.is_vectorised
    assert facts.vector_width_bits
    assert facts.vector_width_bits >= 128
    assert facts.count("load", "f32") > 0
    assert facts.count("store", "f32") > 0
    assert facts.max_work_group_size
    assert facts.max_work_group_size >= 64
    assert facts.code_bytes


def test_a_loop_with_a_call_is_told_by_its_line_with_what_it_calls(both: tuple[CompiledFacts, CompiledFacts]) -> None:
    facts = both[1]
    assert "sin" in {call.function for call in facts.calls}
    assert facts.loops, "the loop over k is in the code"
    assert {loop.line for loop in facts.loops if loop.line is not None} == {8}


def test_code_is_told_by_line_within_each_loop_and_for_which_processor(
    both: tuple[CompiledFacts, CompiledFacts],
) -> None:
    facts = both[1]
    calling = [
        (each.loop, each.line) for each in facts.regions if any(of.element == "sin" for of in each.mix)
    ]  # fmt: skip
    assert calling
    assert {line for _, line in calling} == {9}
    assert all(facts.profile[loop].parent is not None for loop, _ in calling), "within a loop"
    assert facts.microarchitecture
    assert facts_from_json(facts_to_json(facts)) == facts


def test_its_loops_go_round_as_often_as_the_source_says(both: tuple[CompiledFacts, CompiledFacts]) -> None:
    program = read_program(SOURCE)
    kernel = program.kernel("curve")
    launch = Launch((4096,), (64,), scalars=(("n", 50),), buffers=(("x", 4096), ("y", 4096)))
    rounds = rounds_of(both[1], analyse(program, kernel).count(launch))
    assert rounds is not None
    called = sum(
        rounds.often[each.loop] * active * of.count * of.lanes
        for each, active in zip(both[1].regions, rounds.active, strict=True)
        for of in each.mix
        if of.element == "sin"
    )
    assert called == pytest.approx(4096 * 50, rel=0.1)


def test_nothing_runs(compiled: Compiled) -> None:
    facts = compiled[4]  # its loop never ends
    assert isinstance(facts, CompiledFacts)
    assert facts.loops


def test_a_build_failure_names_the_users_own_line(scale: Kernel, tmp_path: Path) -> None:
    broken = SOURCE.replace("factor * x[i]", "factor * undeclared[i]")
    with pytest.raises(BuildFailed, match=r"my kernels\.cl does not build: line 3: .*undeclared") as failure:
        compile_facts(request_of(scale, broken, path=str(tmp_path / "my kernels.cl")))
    assert failure.value.line == 3


def test_a_kernel_that_is_not_there_costs_only_itself(compiled: Compiled) -> None:
    missing = compiled[2]
    assert isinstance(missing, BuildFailed)
    assert "no kernel `no_such`" in missing.message


def test_a_local_size_that_the_driver_chooses_is_said_to_be_a_guess(compiled: Compiled) -> None:
    facts = compiled[3]
    assert isinstance(facts, CompiledFacts)
    assert facts.local_size is None
    assert any("which local size" in warning for warning in facts.warnings)


def test_a_compiler_that_crashes_on_lines_is_asked_again_without_them(make_kernel: MakeKernel, types: Any) -> None:
    source = """__constant sampler_t nearest = CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__kernel void invert(__read_only image2d_t from, __write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, 1.0f - read_imagef(from, nearest, at));
}
"""
    kernel = make_kernel("invert", **{"from": types.image2d, "to": types.image2d})
    assert compile_facts(request_of(kernel, source, local=(8,))).source is CodeSource.ASSEMBLY


def test_a_kernel_that_calls_another_is_compiled_with_it(make_kernel: MakeKernel, types: Any) -> None:
    source = """__kernel void inner(__global float* x) { x[get_global_id(0)] += 1.0f; }
__kernel void outer(__global float* x) { inner(x); }
"""
    assert compile_facts(request_of(make_kernel("outer", x=types.buffer()), source)).count("store") > 0


def test_a_device_that_is_not_there_is_named(scale: Kernel) -> None:
    with pytest.raises(DeviceGone, match="`no-such-device` is not in this machine"):
        compile_facts(request_of(scale, device="no-such-device"))


def test_a_compiler_that_takes_too_long_is_stopped(scale: Kernel) -> None:
    with pytest.raises(TimedOut, match=r"compiling kernel\.cl ran longer than 0\.05 s"):
        compile_facts(request_of(scale), limits=CompileLimits(build_s=0.05))


def test_cancelling_ends_it(scale: Kernel) -> None:
    class Pressed:
        def is_set(self) -> bool:
            return True

    with pytest.raises(Cancelled):
        compile_facts(request_of(scale), cancel=Pressed())


def test_what_was_compiled_once_is_known(
    scale: Kernel, both: tuple[CompiledFacts, CompiledFacts], tmp_path: Path
) -> None:
    store, request, facts = Store.open(tmp_path / "a store.sqlite3"), request_of(scale), both[0]
    assert known_facts(store, scale, request.launch, "pocl", facts.driver) is None
    keep_facts(store, request, facts)
    assert known_facts(store, scale, request.launch, "pocl", facts.driver) == facts
    assert known_facts(store, scale, request.launch, "pocl", "another driver") is None
    assert known_facts(store, scale, request_of(scale, local=(32,)).launch, "pocl", facts.driver) is None
    assert collect_facts(store, [request], facts.driver, _Never()) == {key_of(scale, request.launch, "pocl"): facts}
    # What is known needs no compiler, and so no device; what cannot be read is compiled again.
    key = key_of(scale, request.launch, "gone")
    store.keep_compiled(*key, "gone", facts.driver, facts_to_json(facts))
    assert collect_facts(store, [request_of(scale, device="gone")], facts.driver, _Never()) == {key: facts}
    store.keep_compiled(*key, "gone", facts.driver, '{"not": "facts"}')
    (outcome,) = collect_facts(store, [request_of(scale, device="gone")], facts.driver, _Never()).values()
    assert isinstance(outcome, DeviceGone)


class _Never:
    def is_set(self) -> bool:
        return False
