"""Measuring on the real device: figures when it can be had, a named failure when not, and never a dead parent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from model.launch.launch import Fill, Launch
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.types import ImageType
from profiler.measure import MeasureLimits, measure, measure_all
from profiler.measurement import (
    BuildFailed,
    Cancelled,
    DeviceGone,
    KernelCrashed,
    MeasureError,
    Measurement,
    MeasureRequest,
    NeedsAnnotation,
    OutOfResources,
    TimedOut,
)

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

SCALE = """__kernel void scale(__global const float* x, __global float* y, float factor, int n) {
    int i = get_global_id(0);
    if (i < n) y[i] = factor * x[i];
}
"""
N = 4096
MakeKernel = Callable[..., Kernel]
MakeRequest = Callable[..., MeasureRequest]


@pytest.fixture(scope="session")
def scale(make_kernel: MakeKernel, types: Any) -> Kernel:
    return make_kernel("scale", x=types.buffer(const=True), y=types.buffer(), factor=types.float, n=types.int)


def launch_of(n: int = N, **more: Any) -> Launch:
    return Launch((n,), (64,), (("factor", 2.5), ("n", n)), (("x", n), ("y", n)), **more)


@pytest.fixture(scope="module")
def measured(scale: Kernel, make_request: MakeRequest) -> tuple[Measurement, list[tuple[float, str]]]:
    """A measurement, and what was told meanwhile."""
    heard: list[tuple[float, str]] = []
    options = BuildOptions(defines=(("SIDE", "a b"),), flags=("-cl-mad-enable",))
    request = make_request(SCALE, scale, launch_of(options=options))
    return measure(request, on_progress=lambda *step: heard.append(step)), heard


def test_a_measurement_has_a_median_inside_its_interval(
    measured: tuple[Measurement, list[tuple[float, str]]],
) -> None:
    result, heard = measured
    assert result.kernel == "scale"
    assert result.launch == f"{N} / 64"
    assert result.ci95_us[0] < result.median_us < result.ci95_us[1]
    assert 0 < result.p10_us <= result.median_us <= result.p90_us
    assert result.batches >= 6 or result.notes  # a busy machine
    assert {"building", "warming up", "timing", "batch 1"} <= {text for _, text in heard}
    assert [fraction for fraction, _ in heard] == sorted(fraction for fraction, _ in heard)


def test_beside_the_event_stand_the_wall_clock_the_overhead_and_the_circumstances(
    measured: tuple[Measurement, list[tuple[float, str]]],
) -> None:
    result, _ = measured
    assert result.wall_us is not None
    assert result.launch_overhead_us is not None
    assert 0 <= result.launch_overhead_us < result.wall_us
    assert result.options == "'-DSIDE=a b' -cl-mad-enable"
    assert 0 <= (result.other_load_percent or 0) <= 100
    assert result.kernelcast_version == version("kernelcast")


def test_repeats_are_counted_exactly_when_asked_for(scale: Kernel, make_request: MakeRequest) -> None:
    assert measure(make_request(SCALE, scale, launch_of(), repeats=13)).repeats == 13


def test_a_build_failure_names_the_users_own_line(scale: Kernel, make_request: MakeRequest, tmp_path: Path) -> None:
    broken = SCALE.replace("factor * x[i]", "factor * undeclared[i]")
    options = BuildOptions(defines=(("UNUSED", "1"),))
    request = make_request(broken, scale, launch_of(options=options), path=str(tmp_path / "my kernels.cl"))
    with pytest.raises(BuildFailed, match=r"my kernels\.cl does not build: line 3: .*undeclared") as failure:
        measure(request)
    assert failure.value.line == 3


def test_a_kernel_named_like_a_builtin_function_is_told_to_be(scale: Kernel, make_request: MakeRequest) -> None:
    step = SCALE.replace("scale", "step")
    with pytest.raises(BuildFailed, match="no kernel `step`; OpenCL C has a built-in function of that name"):
        measure(make_request(step, replace(scale, name="step"), launch_of()))


def test_an_error_in_an_include_names_the_include(scale: Kernel, make_request: MakeRequest, tmp_path: Path) -> None:
    (tmp_path / "broken.h").write_text("\nint f(void) { return oops; }\n")
    request = make_request('#include "broken.h"\n' + SCALE, scale, launch_of(), path=str(tmp_path / "k.cl"))
    with pytest.raises(BuildFailed, match=r"broken\.h, line 2: .*oops") as failure:
        measure(request)
    assert failure.value.line is None


def test_an_include_is_that_next_to_the_file_and_not_one_of_the_same_name_in_the_current_folder(
    scale: Kernel, make_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "value.h").write_text("")
    (tmp_path / "value.h").write_text("#error the one of the current folder\n")
    monkeypatch.chdir(tmp_path)
    for path in (str(tmp_path / "sub" / "k.cl"), "sub/k.cl"):
        measure(make_request('#include "value.h"\n' + SCALE, scale, launch_of(), path=path))


def test_defines_and_folders_may_contain_blanks(
    make_kernel: MakeKernel, make_request: MakeRequest, types: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "my includes"
    folder.mkdir()
    (folder / "value.h").write_text("#define VALUE 2.0f\n")
    source = '#include "value.h"\n__kernel void set(__global T* x) { x[get_global_id(0)] = (T)VALUE; }\n'
    options = BuildOptions(defines=(("T", "unsigned int"),), include_dirs=(str(folder),))
    request = make_request(
        source, make_kernel("set", x=types.buffer()), Launch((64,), None, (), (("x", 64),), options=options)
    )
    assert measure(request).median_us > 0


def test_a_loop_that_never_ends_is_stopped(make_kernel: MakeKernel, make_request: MakeRequest, types: Any) -> None:
    source = "__kernel void spin(__global volatile int* x) { while (x[0] >= 0) x[1] += 1; }"
    request = make_request(source, make_kernel("spin", x=types.buffer(types.int)), Launch((1,), None, (), (("x", 4),)))
    with pytest.raises(TimedOut, match=r"kernel `spin` ran longer than 2 s and was stopped: a loop"):
        measure(request, limits=MeasureLimits(first_run_s=2))


def test_a_kernel_that_writes_out_of_bounds_takes_only_its_own_process_down(
    make_kernel: MakeKernel, make_request: MakeRequest, scale: Kernel, types: Any
) -> None:
    source = "__kernel void wild(__global int* x, int far) { x[(long)far * get_global_id(0) * 1024] = 1; }"
    kernel = make_kernel("wild", x=types.buffer(types.int), far=types.int)
    with pytest.raises(
        KernelCrashed, match=r"kernel `wild` crashed \(SIG\w+\): .*(far from all of its buffers|out of bounds)"
    ):
        measure(make_request(source, kernel, Launch((1024,), (64,), (("far", 2**30),), (("x", 16),))))
    assert measure(make_request(SCALE, scale, launch_of())).median_us > 0


def test_cancelling_ends_a_running_kernel_at_once(
    make_kernel: MakeKernel, make_request: MakeRequest, types: Any
) -> None:
    source = "__kernel void spin(__global volatile int* x) { while (x[0] >= 0) x[1] += 1; }"
    request = make_request(source, make_kernel("spin", x=types.buffer(types.int)), Launch((1,), None, (), (("x", 4),)))
    cancel = threading.Event()

    def cancel_once_it_runs(_fraction: float, text: str) -> None:
        if text in ("checking bounds", "warming up"):
            cancel.set()

    with pytest.raises(Cancelled):
        measure(request, on_progress=cancel_once_it_runs, cancel=cancel)


def test_a_buffer_larger_than_the_device_is_refused_by_name(scale: Kernel, make_request: MakeRequest) -> None:
    request = make_request(SCALE, scale, Launch((64,), None, (("factor", 1.0), ("n", 64)), (("x", 10**12), ("y", 64))))
    with pytest.raises(OutOfResources, match=r"`x` needs 4000 GB, but this device allows .* in one piece"):
        measure(request)


@pytest.mark.parametrize(("length", "memory_bytes"), [(2**27, 600 * 10**6), (60 * 2**20, 700 * 2**20)])
def test_memory_beyond_the_limit_is_a_named_failure(
    scale: Kernel, make_request: MakeRequest, length: int, memory_bytes: int
) -> None:
    """At once, or when the compiler has taken its part: drivers crash where memory is refused."""
    with pytest.raises(OutOfResources, match="choose a smaller launch"):
        measure(make_request(SCALE, scale, launch_of(length)), limits=MeasureLimits(memory_bytes=memory_bytes))


def test_a_work_group_larger_than_the_device_is_refused(scale: Kernel, make_request: MakeRequest) -> None:
    request = make_request(
        SCALE, scale, Launch((2**20,), (2**20,), (("factor", 1.0), ("n", 64)), (("x", 64), ("y", 64)))
    )
    with pytest.raises(OutOfResources, match="local size 1048576 in dimension 0"):
        measure(request)


def test_a_local_size_that_does_not_divide_is_explained(
    make_kernel: MakeKernel, make_request: MakeRequest, types: Any
) -> None:
    source = """__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
    void one(__global float* x) { x[get_global_id(0)] = 1; }"""
    request = make_request(source, make_kernel("one", x=types.buffer()), Launch((64,), (16,), (), (("x", 64),)))
    with pytest.raises(OutOfResources, match="kernel `one`: this local size does not go with this kernel"):
        measure(request)


def test_a_missing_value_says_what_to_write(scale: Kernel, make_request: MakeRequest) -> None:
    request = make_request(SCALE, scale, Launch((64,), None, (("factor", 1.0),), (("x", 64), ("y", 64))))
    with pytest.raises(NeedsAnnotation, match="say what `n` is, for example: // kernelcast: n=1024"):
        measure(request)


IMAGES = {
    "image1d_t": ("read_imagef(p, s, g).x", (64, 1, 1)),
    "image1d_array_t": ("read_imagef(p, s, (int2)(g, 1)).x", (64, 1, 4)),
    "image1d_buffer_t": ("read_imagef(p, g).x", (64, 1, 1)),
    "image2d_t": ("read_imageui(p, s, (int2)(g, 1)).x", (64, 8, 1)),
    "image2d_array_t": ("read_imagei(p, s, (int4)(g, 1, 1, 0)).x", (64, 8, 4)),
    "image3d_t": ("read_imagef(p, s, (int4)(g, 1, 1, 0)).x", (64, 8, 4)),
}


@pytest.fixture(scope="module")
def supplied(make_kernel: MakeKernel, make_request: MakeRequest, types: Any) -> dict[str, Measurement | MeasureError]:
    """Kernels that take something out of the ordinary, measured in one go."""
    prints = '__kernel void chat(__global int* x) { printf("hello %d\\n", x[get_global_id(0)]); }'
    mixed = """__kernel void look(read_only image2d_t picture, sampler_t s, __local float* tmp, __global float* out) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        tmp[get_local_id(0)] = read_imagef(picture, s, at).x;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[at.y * get_global_size(0) + at.x] = tmp[0];
    }"""
    look = make_kernel(
        "look", "read_only", picture=types.image2d, s=types.sampler, tmp=types.local(), out=types.buffer()
    )
    look_launch = Launch(
        (32, 16), (8, 1), (), (("out", 512),), images=(("picture", (32, 16, 1)),), local_bytes=(("tmp", 32),)
    )
    # Wrong contents send this kernel far out of bounds.
    picks = """__kernel void pick(__global const int* at, __global int* x) {
        x[(long)(at[get_global_id(0)] - 7) * (1 << 30)] = 1;
    }"""
    pick = make_kernel("pick", at=types.buffer(types.int, const=True), x=types.buffer(types.int))
    pick_launch = Launch((64,), (8,), (), (("at", 64), ("x", 64)), fills=(("at", Fill("const", (7,))),))
    chat = make_kernel("chat", x=types.buffer(types.int))
    requests = {
        "printf": make_request(prints, chat, Launch((4,), (1,), (), (("x", 4),)), repeats=2),
        "local memory and a sampler": make_request(mixed, look, look_launch, repeats=2),
        "a fill": make_request(picks, pick, pick_launch, repeats=2),
    }
    for kind, (read, size) in IMAGES.items():
        source = f"""__kernel void look(read_only {kind} p, __global float* out) {{
            const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
            int g = get_global_id(0);
            out[g] = {read};
        }}"""
        kernel = make_kernel("look", "read_only", p=ImageType(kind), out=types.buffer())
        launch = Launch((64,), (16,), (), (("out", 64),), images=(("p", size),))
        requests[kind] = make_request(source, kernel, launch, repeats=2)
    return dict(zip(requests, measure_all(list(requests.values())), strict=True))


@pytest.mark.parametrize("what", ["printf", "local memory and a sampler", "a fill", *IMAGES])
def test_whatever_a_kernel_takes_is_supplied_and_what_it_prints_disturbs_nobody(
    what: str, supplied: dict[str, Measurement | MeasureError]
) -> None:
    outcome = supplied[what]
    assert isinstance(outcome, Measurement), outcome
    assert outcome.repeats == 2


def test_without_any_platform_the_message_says_what_to_install(
    scale: Kernel, make_request: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nonexistent.icd")
    with pytest.raises(DeviceGone, match=r"no OpenCL platform on this machine: .*pip install 'kernelcast\[pocl\]'"):
        measure(make_request(SCALE, scale, launch_of()))
