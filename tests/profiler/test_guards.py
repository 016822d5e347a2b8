"""A kernel that leaves its buffers is named with the buffer, the element and the line before it is ever timed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model.launch.launch import Fill, Launch
from model.opencl.program import read_program
from profiler.devices import discover
from profiler.measure import measure, measure_all
from profiler.measurement import KernelCrashed, MeasureError, Measurement, MeasureRequest, OutOfBounds
from tests.profiler.guarded_kernels import proved

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

SOURCE = """typedef struct { float mass; float4 place; } Particle;
typedef struct { __global float* values; int n; } Table;
__kernel void shifted(__global const float* x, __global float* y, int by) {
    int i = get_global_id(0);
    float seen =
        x[i + by];
    y[i] = seen;
}
__kernel void scattered(__global const int* to, __global float* y) { y[to[get_global_id(0)]] = 1; }
__kernel void in_fours(__global float* y) { int i = get_global_id(0); vstore4(vload4(i, y), i, y + 1); }
__kernel void in_casts(__global float* y) { ((__global float4*)y)[get_global_id(0)] = (float4)(2); }
__kernel void particles(__global Particle* p) { p[get_global_id(0)].place.w = 3; }
__kernel void in_threes(__global float3* y) { y[get_global_id(0)] = (float3)(4); }
__kernel void only_one(__global float* y) { int i = get_global_id(0); if (i == 77) y[i - 78] = 5; else y[i] = 6; }
__kernel void looked_up(__constant int* table, __global int* y) { int i = get_global_id(0); y[i] = table[i]; }
__kernel void counted(__global int* n) { atomic_inc(&n[get_global_id(0) / 8]); }
__kernel void tables(__global Table* t) { t[get_global_id(0)].values[3] = 7; }
__kernel void drawn(write_only image2d_t photo) {
    write_imagef(photo, (int2)(get_global_id(0), 17), (float4)(1));
}
__kernel void endless(__global volatile float* y) { int i = get_global_id(0); while (y[i] < 2) y[i] *= 1; }
"""
N = 1000
Outcome = Measurement | MeasureError
FAR = 1 << 29


def launch(buffers: dict[str, int], items: int = N, fill: tuple[str, Fill] | None = None, **scalars: int) -> Launch:
    return Launch((items,), None, tuple(scalars.items()), tuple(buffers.items()), fills=(fill,) if fill else ())


CASES: dict[str, tuple[str, Launch, str, int]] = {
    "read one past the end": (
        "shifted", launch({"x": N, "y": N}, by=1),
        r"`x[1000]` is read past its end on line 6: buffer `x` has 1000 elements; "
        "give it more: // kernelcast: x=1001, or guard the index", 6),
    "written one past the end": (
        "shifted", launch({"x": N, "y": N - 1}, by=0),
        "`y[999]` is written past its end on line 7: buffer `y` has 999 elements; "
        "give it more: // kernelcast: y=1000, or guard the index", 7),
    "read in front": (
        "shifted", launch({"x": N, "y": N}, by=-1),
        "`x[-1]` is read in front of its beginning on line 6: buffer `x` has 1000 elements; guard the index", 6),
    "read far away": (
        "shifted", launch({"x": N, "y": N}, by=FAR), "`x[5368", 6),
    "read far in front": (
        "shifted", launch({"x": N, "y": N}, by=-FAR), "`x[-536", 6),
    "an empty buffer": (
        "shifted", launch({"x": 0, "y": N}, by=0), "buffer `x` has 0 elements", 6),
    "an index buffer": (
        "scattered", launch({"to": N, "y": N}, fill=("to", Fill("const", (1003,)))),
        "`y[1003]` is written past its end on line 9: buffer `y` has 1000 elements; its index comes from `to`: say "
        "what that holds: // kernelcast: fill.to=randint:0:1000, or guard the index", 9),
    "vstore4": ("in_fours", launch({"y": N}, N // 4), "`y[1000]` is written past its end on line 10", 10),
    "a cast to float4": ("in_casts", launch({"y": N - 1}, N // 4), "`y[999]` is written past its end on line 11", 11),
    "structs": ("particles", launch({"p": N - 1}), "`p[999].place` is written past its end on line 12", 12),
    "float3": ("in_threes", launch({"y": N - 1}), "`y[999]` is written past its end on line 13", 13),
    "one work-item of many": ("only_one", launch({"y": N}), "`y[-1]` is written in front of its beginning", 14),
    "constant memory": ("looked_up", launch({"table": N - 1, "y": N}), "`table[999]` is read past its end", 15),
    "atomics": ("counted", launch({"n": N // 8 - 1}), "`n[124]` is ", 16),
}  # fmt: skip


# What a case ends in when the kernel leaves no buffer, or cannot be brought to an end.
OTHERS: dict[str, tuple[str, Launch]] = {
    "inside, odd": ("shifted", launch({"x": N, "y": N}, by=0)),
    "inside, whole pages": ("shifted", launch({"x": 1024, "y": 1024}, 1024, by=0)),
    "inside, one element": ("shifted", launch({"x": 1, "y": 1}, 1, by=0)),
    "a null pointer": ("tables", launch({"t": N})),
    "an image": ("drawn", Launch((30,), images=(("photo", (30, 17, 1)),))),
    # Only what lies beyond the end keeps it going: which items a driver runs first, and beside which others, differs by
    # processor, and an item that loops inside for ever would keep those from ever leaving the buffer.
    "never ends": ("endless", launch({"y": 64}, 128, fill=("y", Fill("const", (2,))))),
    "after one that never ends": ("shifted", launch({"x": 64, "y": 64}, 64, by=0)),
}


def request(kernel: str, launched: Launch, device: str) -> MeasureRequest:
    return MeasureRequest(SOURCE, None, read_program(SOURCE).kernel(kernel), launched, device, repeats=1)


@pytest.fixture(scope="module", params=["pocl", "intel-cpu"])
def device(request: pytest.FixtureRequest) -> str:
    if request.param not in {one.id for one in discover()}:
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture(scope="module")
def outcomes(device: str) -> dict[str, Outcome]:
    """Of all cases, measured in one go."""
    launches = {name: (kernel, launched) for name, (kernel, launched, _, _) in CASES.items()} | OTHERS
    found = measure_all([request(kernel, launched, device) for kernel, launched in launches.values()])
    return dict(zip(launches, found, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_an_overrun_names_buffer_element_line_and_remedy(case: str, outcomes: dict[str, Outcome]) -> None:
    _, _, sentence, line = CASES[case]
    error = outcomes[case]
    assert isinstance(error, OutOfBounds)
    assert sentence in error.message
    assert error.line == line


def test_what_was_reached_is_told_buffer_by_buffer(outcomes: dict[str, Outcome]) -> None:
    error = outcomes["read one past the end"]
    assert isinstance(error, OutOfBounds)
    assert error.overruns == (("x", N, N),)


@pytest.mark.parametrize("case", [case for case in OTHERS if "inside" in case])
def test_a_kernel_that_stays_inside_is_measured_and_says_so(case: str, outcomes: dict[str, Outcome]) -> None:
    found = outcomes[case]
    assert isinstance(found, Measurement)
    assert found.checked == "guard pages"


def test_an_image_is_guarded_where_the_driver_does_not_check_coordinates(outcomes: dict[str, Outcome]) -> None:
    found = outcomes["an image"]
    if isinstance(found, OutOfBounds):  # Intel's runtime stores wherever it is told
        assert found.message.startswith("image `photo` is written outside of its 30x17 texels on line 19; ")
    else:  # PoCL leaves such a store out
        assert isinstance(found, Measurement)
        assert found.checked == "guard pages"


def test_a_pointer_inside_a_struct_is_said_to_be_null(outcomes: dict[str, Outcome]) -> None:
    error = outcomes["a null pointer"]
    assert isinstance(error, KernelCrashed)
    assert error.message.startswith("kernel `tables` crashed (SIGSEGV): it writes at a null pointer")


def test_a_kernel_that_leaves_its_buffers_and_never_ends_costs_its_own_launch_alone(
    outcomes: dict[str, Outcome],
) -> None:
    """`y[i]` reads zero for ever beyond the end."""
    error = outcomes["never ends"]
    assert isinstance(error, OutOfBounds)
    assert "past its end on line 21" in error.message
    assert isinstance(outcomes["after one that never ends"], Measurement)


def test_a_driver_that_runs_kernels_in_the_thread_that_asks_is_guarded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCL_DEVICES", "basic")
    launches = [launch({"x": N, "y": N}, by=by) for by in (0, 1)]
    inside, past = measure_all([request("shifted", launched, "pocl") for launched in launches])
    assert isinstance(inside, Measurement)
    assert inside.checked == "guard pages"
    assert isinstance(past, OutOfBounds)


def test_what_was_proved_before_is_not_proved_again() -> None:
    heard: list[str] = []
    known = replace(request("shifted", launch({"x": N, "y": N}, by=0), "pocl"), proved="guard pages")
    assert measure(known, on_progress=lambda _, text: heard.append(text)).checked == "guard pages"
    assert not any("bounds" in text for text in heard)


def test_our_own_kernels_stay_in_their_buffers(repository: Path) -> None:
    """A sample; all of them: see guarded_kernels.py."""
    names = ("hash_probe.cl", "lens_correct.cl", "marbles.cl")
    words = [word for _, word in proved((repository / "tests" / "kernels" / name for name in names), "pocl")]
    assert words == ["guard pages"] * len(words)
    assert len(words) >= len(names)
