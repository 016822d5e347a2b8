"""Arguments that nobody gave keep a kernel within its buffers, and fit each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.device import Device
from model.engine import Engine
from model.launch.annotation import write_annotation
from model.launch.arg_name_hints import Meaning, meaning_of
from model.launch.expression import constant
from model.launch.fill import DEFAULT_FLOATS
from model.launch.inference import complete
from model.launch.launch import Fill, Launch, Origin
from model.launch.spec import LaunchSpec
from model.opencl.program import read_program
from model.work.analyse import analyse

Infer = Callable[[str], Launch]


@pytest.fixture
def infer(cpu: Device) -> Infer:
    """The launch of the only kernel of a text, with what a line of annotation above it says."""

    def infer_launch(text: str) -> Launch:
        if text.startswith("//"):
            (forecast,) = Engine().forecast(text, None, cpu).forecasts
            assert forecast.launch is not None, forecast.problem
            return forecast.launch
        program = read_program(text)
        kernel = program.kernels[0]
        return complete(kernel, analyse(program, kernel), LaunchSpec(origin=Origin.INFERRED), cpu)

    return infer_launch


@settings(max_examples=40, deadline=None)
@given(
    width=st.integers(1, 300), height=st.integers(1, 40), rounds=st.integers(1, 9),
    steps=st.tuples(*[st.integers(0, 7)] * 3), first=st.integers(0, 50), limit=st.integers(1, 400),
)  # fmt: skip
def test_the_last_work_item_of_an_affine_index_has_an_element(
    width: int, height: int, rounds: int, steps: tuple[int, int, int], first: int, limit: int
) -> None:
    a, b, c = steps
    text = f"""__kernel void k(__global float *x) {{
        int i = get_global_id(0), j = get_global_id(1); if (i >= {limit}) return;
        for (int r = 0; r < {rounds}; r++) x[{a} * i + {b} * j + {c} * r + {first}] = 1; }}"""
    program = read_program(text)
    spec = LaunchSpec(global_size=(constant(width), constant(height)))
    launch = complete(program.kernels[0], analyse(program, program.kernels[0]), spec)
    last = a * (min(width, limit) - 1) + b * (height - 1) + c * (rounds - 1) + first
    assert dict(launch.buffers)["x"] == last + 1


def test_a_stencil_over_a_flat_launch_reaches_no_further_than_its_picture(infer: Infer) -> None:
    launch = infer("""// kernelcast: global=5000 w=100 h=50
__kernel void k(__global const float *x, __global float *y, int w, int h) {
        int i = get_global_id(0), r = i / w, c = i % w;
        if (r > 0 && c > 0 && r < h - 1 && c < w - 1) y[i] = x[(r - 1) * w + c - 1] + x[(r + 1) * w + c + 1]; }""")
    assert dict(launch.buffers) == {"x": 5000, "y": 5000}


def test_a_kernel_that_looks_around_itself_is_kept_from_the_edge(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global const float *x, __global float *y, int width, int height, int edge) {
        int i = get_global_id(0), j = get_global_id(1);
        if (i >= edge && j >= edge && i < width - edge && j < height - edge)
            y[j * width + i] = x[(j - 3) * width + i - 3]; }""")
    assert dict(launch.scalars)["edge"] >= 3


def test_checks_on_the_data_bound_what_is_reached_through_them(infer: Infer) -> None:
    launch = infer("""// kernelcast: global=1000 nx=30 ny=20
__kernel void k(__global const float2 *at, __global const float *x, __global float *y, int nx, int ny) {
        int i = get_global_id(0), a = (int)at[i].x, b = (int)at[i].y;
        if (a >= 0 && a < nx && b >= 0 && b < ny) y[i] = x[b * nx + a]; }""")
    assert dict(launch.buffers)["x"] == 600


def test_clamped_indices_stay_within_what_they_are_clamped_to(infer: Infer) -> None:
    launch = infer("""// kernelcast: global=1000 bins=10
__kernel void k(__global const float *x, __global int *h, int bins) {
        int b = (int)(x[get_global_id(0)] * 3.7f); b = b < 0 ? 0 : b; atomic_inc(&h[min(b, bins - 1)]); }""")
    assert dict(launch.buffers)["h"] == 10


def test_bytes_index_no_further_than_a_byte_goes(infer: Infer) -> None:
    launch = infer("__kernel void k(__global const uchar *x, __global int *h) { atomic_inc(&h[x[get_global_id(0)]]); }")
    assert dict(launch.buffers)["h"] == 256


def test_an_index_of_rows_stays_below_the_number_of_rows(infer: Infer) -> None:
    launch = infer("""// kernelcast: global=1000 x=640 width=64
__kernel void k(__global const int *row, __global const float *x, __global float *y, int width) {
        int i = get_global_id(0); float s = 0;
        for (int c = 0; c < width; c++) s += x[row[i] * width + c];
        y[i] = s; }""")
    assert dict(launch.fills)["row"] == Fill("randint", (0, 10))


@pytest.mark.parametrize("check", ["i < n[0]", "i < (int)*n - 0", "!(i >= n[0])", "get_group_id(0) < n[0]"])
def test_a_buffer_that_says_how_many_there_are_gives_all_work_items_something_to_do(infer: Infer, check: str) -> None:
    launch = infer(f"""__kernel void k(__global float *x, __global const uint *n) {{
        int i = get_global_id(0); if ({check}) x[i] = 1; }}""")
    assert dict(launch.fills)["n"] == Fill("const", launch.global_size)
    assert dict(launch.buffers) == {"x": launch.work_items, "n": 1}
    assert any("`n` says how many work-items" in a.text for a in launch.assumptions)


def test_a_frame_lies_within_the_picture(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, int left, int top, int width, int height) {
        int i = get_global_id(0), j = get_global_id(1); if (i < left || j < top) return;
        if (i >= width + left || j >= height + top) return; x[j * width + i] = 1; }""")
    assert dict(launch.scalars) == {"left": 0, "top": 0, "width": 1024, "height": 1024}


def test_of_two_ends_the_start_lies_before_all_work_items(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, int first_point, int end_point) {
        int i = get_global_id(0); if (i < first_point) x[i] = 0; else if (i < end_point) x[i] = 1; }""")
    assert dict(launch.scalars) == {"first_point": 0, "end_point": launch.work_items}


def test_what_the_ids_of_groups_are_multiplied_by_is_as_wide_as_a_group(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, __global float *y, int w, int h, int wide, __local float *t) {
        int i = get_global_id(0), j = get_global_id(1), a = get_local_id(0), b = get_local_id(1);
        if (i < w && j < h) t[b * (wide + 1) + a] = x[j * w + i]; barrier(CLK_LOCAL_MEM_FENCE);
        i = get_group_id(1) * wide + a; j = get_group_id(0) * wide + b;
        if (i < h && j < w) y[j * h + i] = t[a * (wide + 1) + b]; }""")
    assert dict(launch.scalars)["wide"] == 16
    assert launch.local_size == (16, 16)
    assert dict(launch.buffers) == dict.fromkeys(("x", "y"), launch.work_items)


def test_groups_of_a_written_width_are_checked_like_work_items(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, int pitch, int columns, int m) { __local float t[16][16];
        int a = get_local_id(0), b = get_local_id(1), i = get_group_id(0) * 16 + a, j = get_group_id(1) * 16 + b;
        t[b][a] = i; barrier(CLK_LOCAL_MEM_FENCE);
        if (i < columns && j < m) x[j * pitch + i] = t[a][b]; }""")
    width, height = launch.global_size
    assert launch.local_size == (16, 16)
    assert dict(launch.scalars) == {"pitch": width, "columns": width, "m": height}
    assert dict(launch.buffers)["x"] == width * height


def test_whichever_of_several_cases_holds_is_within_bounds(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, __global const int *n) { int i = get_global_id(0);
        switch (n[i]) { case 3: case 4: x[8 * n[i]] = 1; } if (n[i] == 1 || n[i] == 2) x[n[i]] = 1; }""")
    assert dict(launch.buffers)["x"] == 33


def test_a_counter_that_the_kernel_itself_counts_with_starts_as_it_is(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, __global int *n) {
        int i = get_global_id(0); if (i < n[0]) x[atomic_inc(n)] = 1; }""")
    assert "n" not in dict(launch.fills) or dict(launch.fills)["n"].kind != "const"


def test_places_to_write_to_are_all_different(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global const int *to, __global const float *x, __global float *y) {
        int i = get_global_id(0); y[to[i]] = x[i]; }""")
    assert dict(launch.fills)["to"] == Fill("perm")
    assert dict(launch.buffers)["y"] == dict(launch.buffers)["to"]


def test_positions_are_taken_far_enough_from_zero_to_look_around_them(infer: Infer) -> None:
    launch = infer("""typedef struct { float row, column; } spot;
__kernel void k(__global const spot *at, __global const float *x, __global float *y, int width) {
        int i = get_global_id(0), r = (int)at[i].row, c = (int)at[i].column;
        y[i] = x[(r - 1) * width + c - 1]; }""")
    fill = dict(launch.fills)["at"]
    assert fill.kind == "uniform"
    assert fill.arguments[0] >= 1
    assert "at" in {a.subject for a in launch.assumptions}


@pytest.mark.parametrize(
    ("start", "step"),
    [
        ("get_global_id(0)", "get_global_size(0)"),
        ("get_local_id(0) + get_local_size(0) * get_group_id(0)", "get_local_size(0) * get_num_groups(0)"),
    ],
)
def test_the_end_of_a_loop_over_the_whole_launch_is_the_launch(infer: Infer, start: str, step: str) -> None:
    launch = infer(f"""__kernel void k(__global float *x, int total) {{
        for (int i = {start}; i < total; i += {step}) x[i] = 0; }}""")
    assert dict(launch.scalars)["total"] == launch.global_size[0] == dict(launch.buffers)["x"]


def test_sizes_that_only_their_names_tell_fit_each_other(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global const float *p, __global const float *x, __global float *y,
        int img_width, int img_height) { int i = get_global_id(0); float u = p[i];
        if (u >= 0 && u < img_width && u < img_height) y[i] = x[(int)u * img_width + (int)u]; }""")
    scalars = dict(launch.scalars)
    assert scalars["img_width"] * scalars["img_height"] == launch.work_items


def test_the_ends_of_a_range_leave_room_between_them(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global const float *x, __global int *h, float min_value,
        float maxValue, int bins) {
        int i = get_global_id(0); float step = (maxValue - min_value) / bins;
        atomic_inc(&h[clamp((int)((x[i] - min_value) / step), 0, bins - 1)]); }""")
    scalars = dict(launch.scalars)
    assert scalars["min_value"] <= DEFAULT_FLOATS[0]
    assert scalars["maxValue"] >= DEFAULT_FLOATS[1]
    assert dict(launch.buffers)["h"] == scalars["bins"]


def test_a_radius_is_not_taken_for_a_bound(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global const float *x, __global float *y, int width, int size) {
        int i = get_global_id(0), e = (size - 1) / 2; float s = 0;
        for (int d = -e; d <= e; d++) { if (i + d < 0 || i + d >= width) continue; s += x[i + d]; } y[i] = s; }""")
    assert dict(launch.scalars)["width"] == launch.global_size[0]
    assert dict(launch.scalars)["size"] < 100


def test_an_image_is_as_large_as_the_scalars_of_its_name_say(infer: Infer) -> None:
    launch = infer("""// kernelcast: global=(100, 50) src_width=300 src_height=200
__kernel void k(read_only image2d_t src, write_only image2d_t dst, sampler_t s, int src_width, int src_height) {
        int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imagef(dst, p, read_imagef(src, s, p * 3)); }""")
    assert dict(launch.images) == {"src": (300, 200, 1), "dst": (100, 50, 1)}


@pytest.mark.parametrize(
    ("place", "read", "written"),
    [
        ("(int2)(x, y)", (320, 200, 1), (320, 200, 1)),
        ("(int2)(x * 4 + 3, y)", (1280, 200, 1), (1280, 200, 1)),
        ("(int2)(x / 4, y / 4)", (80, 50, 1), (80, 50, 1)),
        ("(int2)(x, 0)", (320, 1, 1), (320, 1, 1)),
        ("(int2)(x + 1, y + 2)", (320, 200, 1), (321, 202, 1)),  # a sampler answers for reads at a border
        ("convert_int2((float2)(x, y) * 0.3f)", (96, 60, 1), (96, 60, 1)),
    ],
)
def test_an_image_is_as_large_as_its_coordinates_reach(
    infer: Infer, place: str, read: tuple[int, ...], written: tuple[int, ...]
) -> None:
    launch = infer(f"""// kernelcast: global=(320, 200)
__kernel void k(read_only image2d_t a, write_only image2d_t b, sampler_t s) {{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(b, {place}, read_imagef(a, s, {place})); }}""")
    assert dict(launch.images) == {"a": read, "b": written}
    notes = {each.subject: each.text for each in launch.assumptions}
    assert ("as far as its coordinates reach" in notes["b"]) == (written != (320, 200, 1))


def test_shares_of_an_image_and_a_size_that_is_given_say_nothing_of_its_size(infer: Infer) -> None:
    launch = infer("""// kernelcast: global=(320, 200) b=(64, 64)
__kernel void k(read_only image2d_t a, write_only image2d_t b) {
    const sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP;
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(b, (int2)(2 * x, y), read_imagef(a, s, (float2)(x / 320.0f, y / 200.0f))); }""")
    assert dict(launch.images) == {"a": (320, 200, 1), "b": (64, 64, 1)}


@pytest.mark.parametrize(("kind", "sides"), [("image2d_t", 2), ("image3d_t", 3), ("image2d_array_t", 3)])
def test_a_flat_launch_still_has_images_of_full_dimensions(infer: Infer, kind: str, sides: int) -> None:
    at = "(int2)(i % 64, i / 64)" if sides == 2 else "(int4)(i % 8, i / 8 % 8, i / 64, 0)"
    launch = infer(f"""__kernel void k(read_only {kind} p, sampler_t s, __global float4 *y) {{
        int i = get_global_id(0); y[i] = read_imagef(p, s, {at}); }}""")
    assert all(1 < side <= 2048 for side in dict(launch.images)["p"][:sides])


def test_large_arrays_of_each_work_item_come_with_small_work_groups(infer: Infer) -> None:
    launch = infer("""__kernel void k(__global float *x, int n) { float held[2000]; int i = get_global_id(0);
        for (int j = 0; j < n; j++) held[j] = x[i] * j; x[i] = held[(int)x[i]]; }""")
    assert launch.local_size is not None
    assert launch.local_size[0] <= 64


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("imgWidth", Meaning.WIDTH), ("ny", Meaning.HEIGHT), ("size.s2", Meaning.DEPTH),
        ("global_size_dim1", Meaning.HEIGHT), ("dim_0", Meaning.WIDTH), ("nb_points", Meaning.COUNT),
        ("kernel_size", Meaning.WINDOW), ("start_at", Meaning.START), ("row_offset", Meaning.START), ("alpha", None),
        ("scale_x", Meaning.FACTOR), ("nbins", Meaning.BINS),
    ],
)  # fmt: skip
def test_names_say_what_numbers_are_for(name: str, meaning: Meaning | None) -> None:
    assert meaning_of(name) is meaning


GUESSED = (
    """__kernel void k(__global const int *to, __global const float *x, __global float *y) {
        int i = get_global_id(0); y[to[i]] = x[i]; }""",
    """typedef struct { float row, column; } spot;
__kernel void k(__global const spot *at, __global const float *x, __global float *y, int width, int2 shift) {
        int i = get_global_id(0), r = (int)at[i].row + shift.x;
        y[i] = x[(r - 1) * width + shift.y]; }""",
    """__kernel void k(read_only image3d_t src, write_only image2d_t dst, sampler_t s, __local float4 *t,
        int src_depth) {
        int2 p = (int2)(get_global_id(0), get_global_id(1)); float4 sum = 0;
        for (int z = 0; z < src_depth; z++) sum += read_imagef(src, s, (int4)(p, z, 0));
        t[get_local_id(0)] = sum; barrier(CLK_LOCAL_MEM_FENCE); write_imagef(dst, p, t[0]); }""",
)


@pytest.mark.parametrize("text", GUESSED)
def test_what_was_guessed_can_be_written_out_and_means_the_same(cpu: Device, infer: Infer, text: str) -> None:
    launch = infer(text)
    line = write_annotation(launch, read_program(text).kernels[0])
    (forecast,) = Engine().forecast(f"{line}\n{text}", None, cpu).forecasts
    assert forecast.problem is None
    assert forecast.launch is not None
    assert forecast.launch.key == launch.key
    assert forecast.launch.assumptions == ()
