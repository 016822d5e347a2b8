"""What nobody said of a launch is read from the source, and every guess is listed."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest

from model.device import Device
from model.engine import Engine
from model.errors import LaunchError
from model.forecast import Forecast
from model.launch.annotation import write_annotation
from model.launch.inference import complete
from model.launch.launch import Launch, Origin
from model.launch.spec import LaunchSpec
from model.opencl.program import read_program
from model.work.analyse import analyse

Infer = Callable[..., Launch]
Forecasts = Callable[[str], list[Forecast]]


@pytest.fixture
def infer(cpu: Device) -> Infer:
    """The launch of the only kernel of a text about which nobody said anything."""

    def infer_launch(text: str) -> Launch:
        program = read_program(text)
        kernel = program.kernels[0]
        return complete(kernel, analyse(program, kernel), LaunchSpec(origin=Origin.INFERRED), cpu)

    return infer_launch


@pytest.fixture
def forecasts(cpu: Device) -> Forecasts:
    return lambda text: list(Engine().forecast(text, None, cpu).forecasts)


def annotated(forecasts: Forecasts, line: str, text: str) -> Launch:
    (forecast,) = forecasts(f"// kernelcast: {line}\n{text}")
    assert forecast.problem is None, forecast.problem
    assert forecast.launch is not None
    return forecast.launch


VADD = """__kernel void vadd(__global const float *a, __global float *b, int n) {
    int i = get_global_id(0); if (i < n) b[i] = a[i]; }"""


def test_a_bound_check_ties_the_global_size_to_its_scalar(infer: Infer, forecasts: Forecasts) -> None:
    launch = infer(VADD)
    assert dict(launch.scalars)["n"] == launch.global_size[0]
    assert annotated(forecasts, "n=5000", VADD).global_size == (5000,)


PICTURE = """__kernel void shade(__global float *a, uint width, uint height) {
    uint i = get_global_id(0); if (i >= width * height) return; a[i] = i / width; }"""
VOLUME = """__kernel void shade(__global float *a, int w, int h, int d) {
    int i = get_global_id(0); if (i < w * h * d) a[i] = i / (w * h); }"""


@pytest.mark.parametrize("text", [PICTURE, VOLUME, PICTURE.replace("width * height", "2 * width * height")])
def test_the_product_of_sides_that_ids_stay_below_is_as_large_as_the_launch(infer: Infer, text: str) -> None:
    launch = infer(text)
    sides = [value for _, value in launch.scalars]
    assert prod(sides) * (2 if "2 *" in text else 1) == launch.work_items


def test_the_side_of_a_square_is_the_root_of_the_launch(infer: Infer) -> None:
    launch = infer(VOLUME.replace("w * h * d", "w * w"))
    assert dict(launch.scalars)["w"] ** 2 == launch.work_items


def test_sides_that_are_given_tell_how_many_work_items_there_are(forecasts: Forecasts) -> None:
    assert annotated(forecasts, "width=640 height=480", PICTURE).global_size == (640 * 480,)
    launch = annotated(forecasts, "global=307200 width=640", PICTURE)
    assert dict(launch.scalars)["height"] == 480


def test_every_guess_is_listed_by_its_name(infer: Infer) -> None:
    subjects = {a.subject for a in infer(VADD).assumptions}
    assert {"global", "n", "a", "b"} <= subjects
    assert all(a.text for a in infer(VADD).assumptions)


def test_what_was_said_is_not_listed_as_a_guess(forecasts: Forecasts) -> None:
    launch = annotated(forecasts, "global=1000 n=1000 a=1000 b=1000", VADD)
    assert launch.assumptions == ()


def test_buffers_reach_as_far_as_their_index(forecasts: Forecasts) -> None:
    text = "__kernel void k(__global float *x, __global float4 *y) { int i = get_global_id(0); x[3 * i + 7] = y[i].x; }"
    launch = annotated(forecasts, "global=100", text)
    assert dict(launch.buffers) == {"x": 3 * 99 + 7 + 1, "y": 100}


def test_a_matrix_is_as_long_as_rows_and_columns_need(forecasts: Forecasts) -> None:
    text = """__kernel void t(__global const float *a, __global float *b, int w, int h) {
        int x = get_global_id(0), y = get_global_id(1); if (x < w && y < h) b[x * h + y] = a[y * w + x]; }"""
    launch = annotated(forecasts, "w=100 h=50", text)
    assert launch.global_size == (100, 50)
    assert dict(launch.buffers) == {"a": 5000, "b": 5000}


def test_dimensions_follow_from_the_ids_used(infer: Infer) -> None:
    for d in range(3):
        text = f"__kernel void k(__global float *x) {{ x[get_global_id({d}) + get_global_id(0)] = 1; }}"
        assert len(infer(text).global_size) == d + 1


def test_a_local_array_of_fixed_size_bounds_the_work_group(infer: Infer) -> None:
    for size in (32, 64, 128):
        text = f"""__kernel void k(__global float *x) {{ __local float t[{size}]; int l = get_local_id(0);
            t[l] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); x[get_global_id(0)] = t[{size} - 1 - l]; }}"""
        assert infer(text).local_size == (size,)


def test_a_tile_bounds_both_sides_of_the_work_group(infer: Infer) -> None:
    text = """__kernel void k(__global float *x, int n) { __local float t[8][8 + 1];
        int a = get_local_id(0), b = get_local_id(1); t[b][a] = x[get_global_id(1) * n + get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE); x[get_global_id(0) * n + get_global_id(1)] = t[a][b]; }"""
    assert infer(text).local_size == (8, 8)


@pytest.mark.parametrize(("row", "local"), [(0, (64, 1)), (1, (1, 64))])
def test_work_items_that_share_local_memory_are_in_a_row_of_their_own(
    infer: Infer, row: int, local: tuple[int, ...]
) -> None:
    text = f"""__kernel void k(__global float *x, __local float *row, int n) {{ int l = get_local_id({row});
        int at = get_global_id(1) * n + get_global_id(0);
        row[l] = x[at]; barrier(CLK_LOCAL_MEM_FENCE); x[at] = row[get_local_size({row}) - 1 - l]; }}"""
    launch = infer(text)
    assert launch.local_size == local
    assert dict(launch.local_bytes) == {"row": 64 * 4}


def test_local_memory_for_the_whole_group_says_nothing_of_its_shape(infer: Infer) -> None:
    text = """__kernel void k(__global float *x, int n) { __local float sum; if (get_local_id(1) == 0) sum = 0;
        barrier(CLK_LOCAL_MEM_FENCE); x[get_global_id(1) * n + get_global_id(0)] = sum; }"""
    assert infer(text).local_size == (32, 32)


def test_a_required_work_group_is_taken(infer: Infer) -> None:
    text = "__kernel __attribute__((reqd_work_group_size(48,1,1))) void k(__global int *x) { x[get_global_id(0)] = 1; }"
    launch = infer(text)
    assert launch.local_size == (48,)
    assert launch.global_size[0] % 48 == 0


def test_another_work_group_than_the_required_one_is_refused(forecasts: Forecasts) -> None:
    text = "__kernel __attribute__((reqd_work_group_size(64,1,1))) void k(__global int *x) { x[get_global_id(0)] = 1; }"
    (forecast,) = forecasts(f"// kernelcast: global=640 local=32\n{text}")
    assert forecast.problem is not None
    assert "requires local=" in forecast.problem.message


def test_a_local_pointer_gets_what_the_group_reaches(forecasts: Forecasts) -> None:
    text = """__kernel void k(__global float *x, __local float *t) { t[2 * get_local_id(0) + 1] = 0;
        barrier(CLK_LOCAL_MEM_FENCE); x[get_global_id(0)] = t[0]; }"""
    assert dict(annotated(forecasts, "global=256 local=64", text).local_bytes) == {"t": 2 * 64 * 4}


CSR = """__kernel void spmv(__global const int *rows, __global const int *cols, __global const float *v,
    __global const float *x, __global float *y, int n) {
    int r = get_global_id(0); if (r >= n) return; float s = 0;
    for (int j = rows[r]; j < rows[r + 1]; j++) s += v[j] * x[cols[j]];
    y[r] = s; }"""


def test_row_pointers_and_indices_get_fills_that_keep_them_in_range(forecasts: Forecasts) -> None:
    launch = annotated(forecasts, "n=1000 x=1000", CSR)
    fills, buffers = dict(launch.fills), dict(launch.buffers)
    assert buffers["rows"] == 1001
    assert fills["rows"].kind == "csr_rows"
    assert fills["rows"].arguments[0] <= buffers["v"]
    assert fills["cols"].kind == "randint"
    assert fills["cols"].arguments[1] <= buffers["x"]
    assert {"rows", "cols"} <= {a.subject for a in launch.assumptions}


def test_an_index_buffer_stays_within_what_it_points_into(forecasts: Forecasts) -> None:
    text = "__kernel void k(__global const int *i, __global float *x) { int g = get_global_id(0); x[i[g]] = g; }"
    launch = annotated(forecasts, "global=100 x=40", text)
    assert str(dict(launch.fills)["i"]) == "randint:0:40"


def test_ids_that_must_reach_a_scalar_leave_work_to_do(infer: Infer) -> None:
    text = """__kernel void k(__global float *x, int start, int size) {
        int i = get_global_id(0); if (i >= start && i < size) x[i] = 0; }"""
    launch = infer(text)
    assert dict(launch.scalars) == {"start": 0, "size": launch.global_size[0]}


def test_an_invented_launch_asks_for_no_absurd_buffers(infer: Infer) -> None:
    text = """__kernel void k(__global float *x) { long i = get_global_id(0), n = get_global_size(0);
        for (long j = 0; j < n; j++) x[i * n + j] = 1; }"""
    launch = infer(text)
    assert sum(n for _, n in launch.buffers) * 4 <= 256 << 20
    assert launch.global_size[0] >= 1024


def test_a_buffer_too_large_for_the_device_is_refused_by_name(cpu: Device) -> None:
    program = read_program(VADD)
    work = analyse(program, program.kernels[0])
    engine = Engine()
    text = f"// kernelcast: global=64 n=64 a={cpu.max_alloc_bytes}\n{VADD}"
    (forecast,) = engine.forecast(text, None, cpu).forecasts
    assert forecast.problem is not None
    assert forecast.problem.code == LaunchError.code
    assert "`a` takes" in forecast.problem.message
    assert complete(program.kernels[0], work, LaunchSpec(), None).buffers  # no device, no limit


def test_sizes_of_images_follow_the_global_size(forecasts: Forecasts) -> None:
    text = """__kernel void k(read_only image2d_t a, write_only image2d_t b) {
        int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imagef(b, p, read_imagef(a, p)); }"""
    assert dict(annotated(forecasts, "global=(320, 200)", text).images)["a"] == (320, 200, 1)


def test_vectors_by_value_are_written_as_an_annotation_that_reads_back_without_complaint(cpu: Device) -> None:
    text = (
        "typedef struct { float4 tint; int2 size; float gain; } params_t;\n"
        "kernel void shade(global float4 *px, const float4 colour, const int2 size, const params_t p)\n"
        "{\n"
        "    int x = get_global_id(0), y = get_global_id(1);\n"
        "    if (x < size.x && y < size.y) px[y * size.x + x] = colour + p.tint * p.gain;\n"
        "}\n"
    )
    inferred = Engine().forecast(text, None, cpu).forecasts[0]
    assert inferred.launch is not None
    assert dict(inferred.launch.scalars)["colour"] == 1.0
    annotated = Engine().forecast(write_annotation(inferred.launch, inferred.kernel) + "\n" + text, None, cpu)
    assert annotated.annotation_problems == ()
    assert annotated.forecasts[0].launch is not None
    assert annotated.forecasts[0].launch.key == inferred.launch.key
