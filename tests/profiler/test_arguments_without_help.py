"""Kernels about which nobody said a word are measured, and shown to stay within their buffers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.launch.expression import constant
from model.launch.inference import complete
from model.launch.launch import Assumption, Launch, Origin
from model.launch.spec import LaunchSpec
from model.opencl.program import read_program
from model.work.analyse import analyse
from profiler.bounds import MAX_BYTES
from profiler.buffer_retry import enlarged
from profiler.measure import measure_all
from profiler.measurement import MeasureError, Measurement, MeasureRequest, OutOfBounds

PATTERNS = """
typedef struct { float mass; int kind; float3 at; } body;
typedef struct { int width; float2 shift; } setup;

__kernel void picture_shrink(__global const uchar4 *in, __global uchar4 *out, int in_width, int in_height, int factor) {
    int x = get_global_id(0), y = get_global_id(1); int4 s = 0;
    for (int b = 0; b < factor; b++) for (int a = 0; a < factor; a++) {
        int u = min(x * factor + a, in_width - 1), v = min(y * factor + b, in_height - 1);
        s += convert_int4(in[v * in_width + u]); }
    out[y * get_global_size(0) + x] = convert_uchar4(s / max(1, factor * factor)); }

__kernel void look_around(__global const float *in, __global float *out, int width, int height, int margin) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < margin || y < margin || x >= width - margin || y >= height - margin) return;
    float s = 0; for (int d = -2; d <= 2; d++) s += in[(y + d) * width + x - d];
    out[y * width + x] = s; }

__kernel void sparse_rows(__global const int *rows, __global const int *cols, __global const float *v,
                          __global const float *x, __global float *y, int n) {
    int r = get_global_id(0); if (r >= n) return; float s = 0;
    for (int j = rows[r]; j < rows[r + 1]; j++) s += v[j] * x[cols[j]];
    y[r] = s; }

__kernel void move_bodies(__global body *b, __global const int2 *pairs, __global float *force, setup s, int n) {
    int i = get_global_id(0); if (i >= n) return; int2 p = pairs[i];
    force[i] = b[p.x].mass * b[p.y].mass + s.shift.x; b[i].at += (float3)(s.width); }

__kernel void tally(__global const ushort *values, __global uint *counts, __local uint *own, int shift) {
    int l = get_local_id(0); own[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&own[(values[get_global_id(0)] >> shift) % get_local_size(0)]); barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[l], own[l]); }

__kernel void send(__global const uint *to, __global const float4 *x, __global float *y) {
    int i = get_global_id(0); vstore4(x[i], to[i], y); }

__kernel void warp(read_only image2d_t in, write_only image2d_t out, __global const float *matrix) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
    int2 p = (int2)(get_global_id(0), get_global_id(1)); float2 f = convert_float2(p);
    float2 q = (float2)(matrix[0] * f.x + matrix[1] * f.y + matrix[2], matrix[3] * f.x + matrix[4] * f.y + matrix[5]);
    write_imagef(out, p, read_imagef(in, s, q)); }

__kernel void sample_at(__global const float2 *at, __global const float *field, __global float *out, int field_width) {
    int i = get_global_id(0); int2 p = convert_int2_rtz(at[i]);
    out[i] = field[(p.y - 1) * field_width + p.x - 1] + field[(p.y + 1) * field_width + p.x + 1]; }

__kernel void far_away(__global const float *seeds, __global const float *table, __global float *out) {
    int i = get_global_id(0); uint h = (uint)(seeds[i] * 1000.0f) * 2654435761u;
    out[i] = table[h % 50000u]; }
"""


def launch_of(name: str, text: str = PATTERNS) -> tuple[MeasureRequest, Launch]:
    program = read_program(text)
    kernel = next(k for k in program.kernels if k.name == name)
    work, spec = analyse(program, kernel), LaunchSpec(origin=Origin.INFERRED)
    dimensions = len(complete(kernel, work, spec).global_size)
    launch = complete(kernel, work, replace(spec, global_size=(constant(64),) * dimensions))
    return MeasureRequest(text, None, kernel, launch, "pocl", repeats=2, budget_s=0.1), launch


HASHED = """__kernel void lookup(__global const uint *key, __global const float *table, __global float *y) {
    uint i = get_global_id(0), h = key[i] * 31u + 7u; h ^= h << 5; y[i] = table[h & 0xfff | 0x800]; }"""


@pytest.mark.parametrize(
    ("lowest", "highest", "elements"),
    [(64, 64, 128), (64, 100, 128), (70, 1000, 1024), (-1, 5, None), (64, MAX_BYTES, None)],
)
def test_a_longer_buffer_holds_what_was_reached_or_is_not_tried(
    lowest: int, highest: int, elements: int | None
) -> None:
    again = enlarged(shortened(is_guessed=True), OutOfBounds("table", overruns=(("table", lowest, highest),)))
    assert (dict(again.launch.buffers)["table"] if again else None) == elements
    assert again is None or [a for a in again.launch.assumptions if a.subject == "table"] == [
        Assumption(
            "table", f"`table` was made {elements} elements long, because the kernel accesses `table[{highest}]`"
        )
    ]


ASTRAY = """
typedef struct { float x, y; int level; } spot;
__kernel void walk_back(__global const float *x, __global float *y, int n, int apart) {
    uint i = get_global_id(0); if (i >= n) return; float s = 0;
    for (uint j = 0; j < 4; j++) { uint at = i; for (uint l = 0; l <= j; l++) at -= apart; s += x[at]; }
    y[i] = s; }
__kernel void look_up(__global const spot *spots, __global const float *table, __global float *y, int pitch) {
    int i = get_global_id(0); y[i] = table[(spots[i].level - 100) * pitch + (int)spots[i].x]; }
__kernel void look_around(__global const uchar *far, __global const float *x, __global float *y, int border, int n) {
    int i = get_global_id(0); if (i < border || i >= n - border) return; y[i] = x[i - 9 * far[i]]; }
__kernel void chase(__global const int *program, __global const float *table, __global float *y, int n) {
    int i = get_global_id(0), p = 1; if (i >= n) return;
    for (int j = 0; j < 9; j++) p = p * 7919 + program[p & 15] * 7 + 1;
    y[i] = table[p]; }
"""


def shortened(*, is_guessed: bool) -> MeasureRequest:
    """A table of 64 elements, whether we said so or the user."""
    request, launch = launch_of("lookup", HASHED)
    buffers = tuple((name, 64 if name == "table" else length) for name, length in launch.buffers)
    assumed = tuple(a for a in launch.assumptions if is_guessed or a.subject != "table")
    return replace(request, launch=replace(launch, buffers=buffers, assumptions=assumed))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Measurement | MeasureError]:
    """Of all kernels here, measured in one go."""
    requests = {kernel.name: launch_of(kernel.name)[0] for kernel in read_program(PATTERNS).kernels}
    requests |= {f"astray: {kernel.name}": launch_of(kernel.name, ASTRAY)[0] for kernel in read_program(ASTRAY).kernels}
    requests |= {"too short": shortened(is_guessed=True), "given": shortened(is_guessed=False)}
    return dict(zip(requests, measure_all(list(requests.values())), strict=True))


@pytest.mark.device
@pytest.mark.parametrize("name", [kernel.name for kernel in read_program(PATTERNS).kernels])
def test_all_usual_patterns_are_measured_and_stay_within_bounds(
    name: str, outcomes: dict[str, Measurement | MeasureError]
) -> None:
    outcome = outcomes[name]
    assert isinstance(outcome, Measurement), outcome
    assert outcome.checked == "guard pages"


@pytest.mark.device
def test_a_guessed_buffer_grows_until_the_kernel_fits_and_the_result_says_so(
    outcomes: dict[str, Measurement | MeasureError],
) -> None:
    outcome = outcomes["too short"]
    assert isinstance(outcome, Measurement)
    assert outcome.checked
    assert any("`table` was made" in note for note in outcome.notes)
    assert outcome.launch_key == shortened(is_guessed=True).launch.key
    assert outcome.proof == ""  # the launch that was asked for is not safe as it stands


@pytest.mark.device
def test_a_length_that_the_user_gave_is_never_changed(outcomes: dict[str, Measurement | MeasureError]) -> None:
    outcome = outcomes["given"]
    assert isinstance(outcome, OutOfBounds)
    assert "`table[" in outcome.message


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("walk_back", "n=... apart=..."),
        ("look_up", "fill.spots=... pitch=..."),
        ("look_around", "fill.far=... border=..."),
        ("chase", "fill.program=... n=..."),
    ],
)
def test_a_kernel_that_guesses_led_astray_names_them_and_no_absurd_value(
    name: str, stated: str, outcomes: dict[str, Measurement | MeasureError]
) -> None:
    outcome = outcomes[f"astray: {name}"]
    assert isinstance(outcome, MeasureError), outcome
    assert f"// kernelcast: {stated}" in outcome.message
