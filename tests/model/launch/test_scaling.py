"""The same launch at other sizes: what is a size grows, what is none stays, and every launch can be run."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import Forecast
from model.launch.driver_choice import effective_local_size
from model.launch.expression import constant
from model.launch.inference import complete
from model.launch.launch import Launch
from model.launch.scaling import FACTORS, Scaled, scale
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec

KERNELS = sorted((Path(__file__).resolve().parents[2] / "kernels").glob("*.cl"))
SCALE = """__kernel void scale(__global float *x, const int n, const int radius, const int mode) {
  int i = get_global_id(0);
  if (i >= radius && i < n - radius && mode) x[i] = x[i - radius] + x[i + radius];
}
"""
PICTURE = """__kernel void picture(__global const float *a, __global float *b, const int width, const int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) b[y * width + x] = a[y * width + x];
}
"""
GRID_STRIDE = """__kernel void total(__global const float *x, __global float *sums, const int count) {
  float s = 0;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) s += x[i];
  sums[get_global_id(0)] = s;
}
"""
ScaleText = Callable[..., Scaled]


@pytest.fixture(scope="module")
def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def forecasts(text: str, device: Device, path: Path | None = None, *requests: LaunchSpec) -> tuple[Forecast, ...]:
    return Engine().forecast(text, path, device, requests=requests).forecasts


def scaled(forecast: Forecast, device: Device, factors: tuple[float, ...] = FACTORS) -> Scaled:
    assert forecast.work is not None
    assert forecast.spec is not None
    assert forecast.launch is not None, forecast.problem
    return scale(forecast.kernel, forecast.work, forecast.spec, forecast.launch, device, factors)


@pytest.fixture
def scale_text(device: Device) -> ScaleText:
    """Scale the first launch of a text by one factor or several."""

    def run(text: str, *factors: float, request: LaunchSpec | None = None) -> Scaled:
        return scaled(forecasts(text, device, None, *([request] if request else []))[0], device, factors or FACTORS)

    return run


def at(found: Scaled, factor: float) -> Launch:
    """The launch whose number of work-items took this factor."""
    (launch,) = [each.launch for each in found.launches if each.factor == pytest.approx(factor, rel=0.03)]
    return launch


@pytest.mark.parametrize("file", KERNELS, ids=lambda f: f.stem)
def test_kernels_of_all_kinds_scale_over_the_whole_range(file: Path, device: Device) -> None:
    for forecast in forecasts(file.read_text(), device, file):
        found, launch = scaled(forecast, device), forecast.launch
        assert launch is not None
        local = effective_local_size(launch, forecast.kernel)
        sizes = [each.launch.work_items for each in found.launches]
        assert sizes == sorted(set(sizes))
        assert len(sizes) >= 10 or found.stopped
        assert found.launches[-1].factor == pytest.approx(64, rel=0.05)
        assert found.launches[0].factor <= 1 / 16
        for each in found.launches:
            assert each.launch.local_size == launch.local_size
            assert all(g % s == 0 for g, s in zip(each.launch.global_size, local, strict=True))
            assert each.factor == pytest.approx(each.launch.work_items / launch.work_items)
            assert all(length >= 1 for _, length in each.launch.buffers)


@pytest.mark.parametrize("file", KERNELS, ids=lambda f: f.stem)
def test_the_launch_at_hand_is_one_of_the_sizes_and_means_what_it_meant(file: Path, device: Device) -> None:
    for forecast in forecasts(file.read_text(), device, file):
        found, launch = scaled(forecast, device), forecast.launch
        assert launch is not None
        assert forecast.work is not None
        assert [each.launch for each in found.launches if each.factor == 1] == [launch]
        # What was made explicit in order to be scaled says the same launch.
        assert complete(forecast.kernel, forecast.work, found.plan.spec, device).key == launch.key


def test_names_of_an_annotation_grow_and_all_that_is_written_with_them(scale_text: ScaleText) -> None:
    launch = at(scale_text("// kernelcast: global=N local=64 N=4096 x=N n=N radius=3 mode=1\n" + SCALE), 4)
    assert launch.global_size == (16384,)
    assert dict(launch.buffers) == {"x": 16384}
    assert dict(launch.scalars) == {"n": 16384, "radius": 3, "mode": 1}


def test_numbers_that_are_no_sizes_stay(scale_text: ScaleText) -> None:
    found = scale_text("// kernelcast: global=4096 local=64 x=4096 n=4096 radius=3 mode=1\n" + SCALE)
    launch = at(found, 16)
    assert dict(launch.scalars) == {"n": 65536, "radius": 3, "mode": 1}
    assert dict(launch.buffers) == {"x": 65536}
    assert dict(found.plan.stays) == {"radius": 3, "mode": 1}


def test_sides_of_a_picture_grow_with_the_square_root(scale_text: ScaleText) -> None:
    named = "// kernelcast: global=(W, H) local=(16, 16) W=640 H=480 a=W*H b=W*H width=W height=H\n"
    plain = "// kernelcast: global=(640, 480) local=(16, 16) a=307200 b=307200 width=640 height=480\n"
    for annotation in (named, plain):
        launch = at(scale_text(annotation + PICTURE), 16)
        assert launch.global_size == (2560, 1920)
        assert dict(launch.scalars) == {"width": 2560, "height": 1920}
        assert dict(launch.buffers) == {"a": 2560 * 1920, "b": 2560 * 1920}


def test_lengths_that_nobody_gave_follow_the_index(scale_text: ScaleText) -> None:
    launch = at(scale_text("// kernelcast: global=(64, 64) local=(8, 8)\n" + PICTURE), 4)
    assert launch.global_size == (128, 128)
    assert dict(launch.buffers) == {"a": 128 * 128, "b": 128 * 128}


def test_a_bound_below_the_global_size_keeps_its_share(scale_text: ScaleText) -> None:
    launch = at(scale_text("// kernelcast: global=1024 local=64 x=1000 n=1000 radius=1 mode=1\n" + SCALE), 2)
    assert launch.global_size == (2048,)
    assert dict(launch.scalars)["n"] == 2000


def test_a_grid_stride_loop_gets_more_data_and_more_groups(scale_text: ScaleText) -> None:
    text = "// kernelcast: global=1024 local=64 x=1048576 count=1048576\n" + GRID_STRIDE
    launch = at(scale_text(text), 4)
    assert launch.global_size == (4096,)
    assert dict(launch.scalars) == {"count": 4194304}
    assert dict(launch.buffers)["x"] == 4194304


def test_a_request_of_plain_numbers_scales_like_an_annotation(scale_text: ScaleText) -> None:
    request = LaunchSpec(
        global_size=parse_sizes("4096"), local_size=parse_sizes("64"), values=(("n", (constant(4096),)),)
    )
    launch = at(scale_text(SCALE, request=request), 8)
    assert launch.global_size == (32768,)
    assert dict(launch.scalars)["n"] == 32768


def test_an_inferred_launch_scales(scale_text: ScaleText) -> None:
    launch = at(scale_text(PICTURE), 4)
    assert launch.global_size == (2048, 2048)
    assert dict(launch.scalars) == {"width": 2048, "height": 2048}


def test_row_pointers_end_where_the_rows_do(scale_text: ScaleText) -> None:
    text = """// kernelcast: global=1024 local=64 n=1024 start=1025 x=16384 y=1024 fill.start=csr_rows:16384
    __kernel void rows(__global const int *start, __global const float *x, __global float *y, const int n) {
      int i = get_global_id(0);
      float s = 0;
      if (i < n) { for (int k = start[i]; k < start[i + 1]; ++k) s += x[k]; y[i] = s; }
    }"""
    launch = at(scale_text(text), 4)
    assert dict(launch.fills)["start"].arguments == (65536,)
    assert dict(launch.buffers)["x"] == 65536


def test_a_single_work_group_holds_no_size(scale_text: ScaleText) -> None:
    found = scale_text("// kernelcast: global=64 local=64 x=64 n=64 radius=1 mode=1\n" + SCALE)
    assert len(found.launches) == 1
    assert "single work-group" in found.plan.reason


def test_a_size_that_is_compiled_in_is_named(scale_text: ScaleText) -> None:
    found = scale_text("// kernelcast: global=SIZE local=64 -DSIZE=4096 x=SIZE n=SIZE radius=1 mode=1\n" + SCALE)
    assert len(found.launches) == 1
    assert "`SIZE`" in found.plan.reason


def test_names_that_the_local_size_is_written_with_stay(scale_text: ScaleText) -> None:
    text = "// kernelcast: global=ceil_div(N, G)*G local=G G=64 N=1000 x=N n=N radius=1 mode=1\n" + SCALE
    launch = at(scale_text(text), 4)
    assert launch.local_size == (64,)
    assert launch.global_size == (4032,)  # 4000 and the rest of its last group


def test_sizes_end_where_the_devices_memory_does(scale_text: ScaleText) -> None:
    text = "// kernelcast: global=N local=64 N=536870912 x=N n=N radius=1 mode=1\n" + SCALE
    found = scale_text(text)
    assert "more than" in found.stopped
    assert found.launches[-1].factor < 64
    assert found.launches[0].factor < 1 / 32


@settings(max_examples=60, deadline=None)
@given(
    groups=st.tuples(st.integers(2, 300), st.integers(2, 300)),
    local=st.tuples(st.sampled_from([1, 2, 8, 16, 24]), st.sampled_from([1, 4, 7, 16])),
    factor=st.floats(1 / 64, 64),
    is_named=st.booleans(),
)
def test_any_launch_of_two_dimensions_stays_one_that_can_run(
    groups: tuple[int, int], local: tuple[int, int], factor: float, is_named: bool
) -> None:
    device = find_builtin("nvidia-h200")
    assert device is not None
    width, height = (count * size for count, size in zip(groups, local, strict=True))
    head = f"// kernelcast: local=({local[0]}, {local[1]}) "
    if is_named:
        head += f"global=(W, H) W={width} H={height} a=W*H b=W*H width=W height=H\n"
    else:
        head += f"global=({width}, {height}) a={width * height} b={width * height} width={width} height={height}\n"
    (forecast,) = forecasts(head + PICTURE, device)
    found = scaled(forecast, device, (factor,))
    for each in found.launches:
        made = each.launch
        assert made.local_size == local
        assert all(g % s == 0 and g >= s for g, s in zip(made.global_size, local, strict=True))
        assert dict(made.scalars) == {"width": made.global_size[0], "height": made.global_size[1]}
        assert all(length == pytest.approx(prod(made.global_size), abs=1) for _, length in made.buffers)
