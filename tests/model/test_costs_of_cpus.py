"""A calibrated CPU is predicted by what its runtime was seen to do, not by what the runtime is called."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from model.device import Cost, Device, GatherPoint, ProfileSource
from model.device_catalog import builtin_devices, device_from_json, device_to_json
from model.engine import Engine
from model.prediction import Prediction

LOOP = """// kernelcast: global=65536 local=64 n=100 x=65536
__kernel void k(__global float *restrict x, int n, float c) { int i = get_global_id(0); float v = x[i];
    for (int j = 0; j < n; j++) v = v * c + 0.5f; x[i] = v; }"""
CALL = """// kernelcast: global=65536 local=64 x=65536
__kernel void k(__global float *restrict x) { size_t i = get_global_id(0); x[i] = CALL(x[i]); }"""
STREAM = """// kernelcast: global=n local=LOCAL n=1048576 x=n y=n
__kernel void k(__global const float *restrict x, __global float *restrict y) {
    size_t i = get_global_id(0); y[i] = x[i] * 2.0f + 1.0f; }"""
OPERATIONS = (
    "fp chain unit offset interleaved shared stored stored_offset broadcast strided gathered scattered divide convert "
    "select int int_mul int_divide"
)
CALLS = "sin exp log pow sqrt fmin min floor native_exp vload_half dot length"


def costs(**changed: float) -> tuple[Cost, ...]:
    """A runtime that vectorises everything; `changed` says what it does otherwise, dots written as `__`."""
    found = {f"vector.{name}": 0.05 for name in OPERATIONS.split()}
    found |= {f"scalar.{name}": 0.4 for name in OPERATIONS.split()}
    found |= {f"width.{lanes}": 0.05 for lanes in (8, 16, 32, 256)}
    contexts = ("called", "branch", "unrolled", "counted", "data", "barrier", "kept")
    found |= {f"{context}.{body}": 0.05 for context in contexts for body in ("fp", "chain", "shared")}
    found |= {f"call.{name}": 0.5 for name in CALLS.split()}
    found |= {"call4.fmin": 0.5, "call4.exp": 2.0, "long.add": 0.1, "long.mul": 0.1, "long.divide": 2.0}
    found |= {"reduced.fp": 0.05, "scatter.256": 2.0, "scatter.4096": 4.0, "scatter.65536": 9.0}
    found |= {name.replace("__", "."): ns for name, ns in changed.items()}
    return tuple(Cost(name, ns) for name, ns in found.items())


def with_calibration(device: Device, **changed: float) -> Device:
    """`device` as if calibrated, with `costs` that are `changed`."""
    return replace(
        device,
        source=ProfileSource.CALIBRATED,
        measured_at="2026-01-01T00:00:00+00:00",
        noise_percent=1.0,
        rates=replace(device.rates, costs=costs(**changed), groups_to_fill=1),
    )


@pytest.fixture
def calibrated(cpu: Device) -> Device:
    return with_calibration(cpu)


def with_costs(device: Device, **changed: float) -> Device:
    return replace(device, rates=replace(device.rates, costs=costs(**changed)))


def predict(device: Device, text: str) -> Prediction:
    (forecast,) = Engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction


def test_a_loop_that_the_runtime_does_not_vectorise_takes_longer(calibrated: Device) -> None:
    scalar = with_costs(calibrated, counted__fp=0.4, counted__chain=1.2)
    assert predict(scalar, LOOP).runtime_us.p50 > 4 * predict(calibrated, LOOP).runtime_us.p50


def test_a_kernel_without_effects_costs_its_groups_and_no_round_for_each_work_item(calibrated: Device) -> None:
    device = replace(calibrated, rates=replace(calibrated.rates, item_overhead_ns=1.0))
    nothing = STREAM.replace("y[i] = x[i] * 2.0f + 1.0f;", "float v = x[i] * 2.0f + 1.0f;").replace("LOCAL", "256")
    rates = device.rates
    allowed_us = rates.launch_floor_us + 4096 * rates.group_overhead_ns * 1e-3
    assert predict(device, nothing).runtime_us.p50 == pytest.approx(allowed_us, rel=0.05)


def test_a_function_takes_what_it_was_measured_to_take(calibrated: Device) -> None:
    slow = with_costs(calibrated, call__sin=50.0)
    of_sin, of_exp = CALL.replace("CALL", "sin"), CALL.replace("CALL", "exp")
    assert predict(slow, of_sin).runtime_us.p50 > 20 * predict(slow, of_exp).runtime_us.p50
    assert predict(slow, of_exp).runtime_us.p50 == predict(calibrated, of_exp).runtime_us.p50


def test_a_call_that_stops_vectorisation_makes_the_rest_slow_too(calibrated: Device) -> None:
    stopped = with_costs(calibrated, called__fp=0.4)
    of_floor = CALL.replace("CALL", "floor")
    assert predict(stopped, of_floor).runtime_us.p50 > predict(calibrated, of_floor).runtime_us.p50


def test_a_group_too_narrow_for_a_vector_takes_longer(calibrated: Device) -> None:
    scalar = with_costs(calibrated, width__8=0.4)
    narrow, wide = STREAM.replace("LOCAL", "8"), STREAM.replace("LOCAL", "256")
    slower = predict(scalar, narrow).runtime_us.p50 / predict(scalar, wide).runtime_us.p50
    assert slower > predict(calibrated, narrow).runtime_us.p50 / predict(calibrated, wide).runtime_us.p50


def test_no_measured_cost_makes_a_launch_faster_than_the_roofline(calibrated: Device) -> None:
    nothing = replace(
        calibrated,
        rates=replace(calibrated.rates, costs=tuple(replace(cost, ns=1e-9) for cost in calibrated.rates.costs)),
    )
    prediction = predict(nothing, LOOP)
    assert prediction.runtime_us.p50 >= 1e-3 * prediction.work.flops / calibrated.rates.fp32_gflop_s
    assert prediction.runtime_us.p50 >= calibrated.rates.launch_floor_us


def test_a_calibration_from_before_costs_were_measured_still_predicts(calibrated: Device) -> None:
    old = replace(calibrated, rates=replace(calibrated.rates, costs=()))
    stored = device_to_json(old).replace(',\n    "costs": []', "")
    assert '"costs"' not in stored
    assert device_from_json(stored) == old
    for text in (LOOP, CALL.replace("CALL", "sin"), STREAM.replace("LOCAL", "64")):
        assert predict(device_from_json(stored), text).runtime_us.p50 > 0


def test_a_calibration_from_before_curves_and_conditions_were_kept_still_predicts(calibrated: Device) -> None:
    stored = json.loads(device_to_json(calibrated))
    del stored["calibration"]
    for later in ("arithmetic", "barriers", "images", "memory_levels", "noise", "fma_latency_ns", "launch_wall_us"):
        del stored["rates"][later]
    for point in stored["rates"]["bandwidth"]:
        del point["copy_gb_s"], point["noise_percent"]
    old = device_from_json(json.dumps(stored))
    assert old == calibrated
    assert predict(old, LOOP).runtime_us == predict(calibrated, LOOP).runtime_us


def test_a_calibration_that_lacks_some_costs_still_predicts(calibrated: Device) -> None:
    few = tuple(c for c in calibrated.rates.costs if not c.name.startswith(("call.", "call4.", "scatter.", "long.")))
    device = replace(calibrated, rates=replace(calibrated.rates, costs=few))
    for text in (LOOP, CALL.replace("CALL", "sin"), STREAM.replace("LOCAL", "64")):
        assert predict(device, text).runtime_us.p50 > 0


def test_gpus_are_predicted_without_costs() -> None:
    assert all(not device.rates.costs for device in builtin_devices())


COLUMN = """// kernelcast: global=4096 local=64 columns=COLUMNS x=4096 y=4096*columns
__kernel void k(__global const float *restrict x, __global float *restrict y, int columns) {
    int i = get_global_id(0); y[i * columns] = x[i]; }"""


def test_a_column_of_a_large_matrix_takes_a_line_and_a_page_for_each_element(calibrated: Device) -> None:
    narrow, wide = (predict(calibrated, COLUMN.replace("COLUMNS", columns)) for columns in ("16", "4096"))
    assert wide.runtime_us.p50 > 1.2 * narrow.runtime_us.p50


def test_columns_that_fall_into_the_same_sets_of_a_cache_are_slower(calibrated: Device) -> None:
    odd, power_of_two = (predict(calibrated, COLUMN.replace("COLUMNS", columns)) for columns in ("4095", "4096"))
    assert power_of_two.runtime_us.p50 >= odd.runtime_us.p50


IMAGE = """// kernelcast: global=65536 local=64 y=65536 n=64 im=(256,256)
__kernel void k(read_only image2d_t im, __global float *restrict y, int n) {
    int i = get_global_id(0); float v = read_imagef(im, (int2)(i & 255, i >> 8)).x;
    v = v * 1.5f + 0.5f; v = v * 1.5f + v; y[i] = v * v + 2.0f; }"""


def test_code_that_reads_images_is_not_vectorised_where_code_that_calls_functions_is_not(calibrated: Device) -> None:
    slow = with_costs(calibrated, called__fp=0.4, scalar__fp=4.0)
    fast, called = (predict(device, IMAGE).work for device in (calibrated, slow))
    assert fast == called
    assert predict(slow, IMAGE).runtime_us.p50 > predict(calibrated, IMAGE).runtime_us.p50


READ_BETWEEN = """// kernelcast: global=(256, 256) y=65536 im=(256,256)
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
float4 at(read_only image2d_t im, sampler_t s, float2 p) { return read_imagef(im, s, p); }
kernel void k(read_only image2d_t im, global float *y, sampler_t given) {
    float2 p = (float2)(get_global_id(0), get_global_id(1));
    y[get_global_id(1) * 256 + get_global_id(0)] = READ.x; }"""


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        ("read_imagef(im, nearest, p)", "nearest"),
        ("read_imagef(im, CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP, p)", "nearest"),
        ("at(im, nearest, p)", "nearest"),
        ("read_imagef(im, linear, p)", "linear"),
        ("at(im, linear, p)", "linear"),
        ("read_imagef(im, given, p)", "linear"),
    ],
)
def test_samplers_that_the_source_shows_tell_whether_reads_interpolate(
    calibrated: Device, read: str, kind: str
) -> None:
    text = READ_BETWEEN.replace("READ", read)
    usual = predict(calibrated, text).runtime_us.p50
    slower = {
        each: predict(with_costs(calibrated, **{f"image__{each}": 50.0}), text).runtime_us.p50 > 2 * usual
        for each in ("nearest", "linear")
    }
    assert slower == {"nearest": kind == "nearest", "linear": kind == "linear"}


TREE = """// kernelcast: global=1048576 local=256 x=1048576 y=4096 s=1024
__kernel void k(__global const float *restrict x, __global float *restrict y, __local float *s) {
    KIND t = get_local_id(0); s[t] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 128; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; barrier(CLK_LOCAL_MEM_FENCE); }
    if (t == 0) y[get_group_id(0)] = s[0]; }"""


def test_intels_runtime_gathers_local_memory_that_is_an_argument_at_ids_of_32_bits(calibrated: Device) -> None:
    """Measured: 15 times as long as with `size_t` or an array of the kernel's own; steps of few lanes as the first."""
    narrow, wide = TREE.replace("KIND", "int"), TREE.replace("KIND", "size_t")
    own = narrow.replace(", __local float *s", "").replace(" s=1024", "").replace("KIND", "int")
    own = own.replace("int t =", "__local float s[256]; int t =")
    intels = replace(with_costs(calibrated, vector__gathered=2.0, vector__scattered=2.0), platform="Intel(R) OpenCL")
    assert predict(intels, narrow).runtime_us.p50 > 5 * predict(intels, wide).runtime_us.p50
    assert predict(intels, narrow).runtime_us.p50 > 5 * predict(intels, own).runtime_us.p50
    other = with_costs(calibrated, vector__gathered=2.0, vector__scattered=2.0)
    assert predict(other, narrow).runtime_us.p50 < 1.5 * predict(other, wide).runtime_us.p50


PIXELS = """// kernelcast: global=65536 local=64 x=65536 y=65536
__kernel void k(__global const WIDE *restrict x, __global WIDE *restrict y) {
    KIND i = get_global_id(0); y[i] = x[i] * 2.0f; }"""


def test_intels_runtime_gathers_vectors_of_four_component_by_component(calibrated: Device) -> None:
    """Measured, `int` against `size_t`: 2 for `float2`, 5 and more for `float4`, nothing for `float8`."""
    intels = replace(with_costs(calibrated, vector__unit=0.5, vector__stored=0.5), platform="Intel(R) OpenCL")
    of_two, of_four = (PIXELS.replace("WIDE", wide).replace("KIND", "int") for wide in ("float2", "float4"))
    assert predict(intels, of_four).runtime_us.p50 > 2.5 * predict(intels, of_two).runtime_us.p50


BRANCH = """// kernelcast: global=n local=64 n=1048576 p=0.5 x=n r=2*n t=n fill.x=uniform:0:1 fill.t=randint:0:n
__kernel void k(__global float *x, __global const float *r, __global const int *t, float p, int n) {
    int i = get_global_id(0); float v = x[i]; if (v > p) BODY }"""
SCALAR_BRANCHES = {"branch__fp": 0.4, "branch__chain": 0.4}


@pytest.mark.parametrize("body", ["x[i] = v * p;", "{ v = v * p + r[i]; x[i] = v; }", "x[i] = r[i] < p ? 0 : v * p;"])
def test_a_branch_that_a_mask_serves_costs_what_straight_code_does(calibrated: Device, body: str) -> None:
    scalar = with_costs(calibrated, **SCALAR_BRANCHES)
    text = BRANCH.replace("BODY", body)
    assert predict(scalar, text).runtime_us == predict(calibrated, text).runtime_us


@pytest.mark.parametrize(
    "body",
    [
        "x[i] = v * r[t[i]];",  # wherever the data say
        "x[i] = v * r[2 * i];",
        "x[i] = v * r[i + 1];",  # an index of 32 bits that may overflow
        "x[i] = exp(v);",
        "{ if (n > 5) x[i] = r[t[i]]; }",  # further in
    ],
)
def test_a_branch_that_no_mask_serves_is_run_by_one_work_item_after_the_other(calibrated: Device, body: str) -> None:
    scalar = with_costs(calibrated, **SCALAR_BRANCHES)
    text = BRANCH.replace("BODY", body)
    assert predict(scalar, text).runtime_us.p50 > 1.5 * predict(calibrated, text).runtime_us.p50


ENTERED = """// kernelcast: global=n local=1024 n=1048576 m=M x=2*n y=2*n
__kernel void k(__global float *restrict x, __global const float *restrict y, int n, int m) {
    int i = get_global_id(0); size_t s = i; s = get_global_id(0); if (i < m) BODY }"""
STEPS = "v = v * v + 1.5f; " * 60


def entered(device: Device, body: str, work_items: int) -> float:
    text = ENTERED.replace("m=M", f"m={work_items}").replace("BODY", f"{{ {body} }}").replace("STEPS", STEPS)
    return predict(device, text).runtime_us.p50


@pytest.mark.parametrize("body", ["float v = y[i]; STEPS x[i] = v;", "float v = y[s + 1]; STEPS x[s] = v;"])
def test_what_ids_decide_is_under_a_mask_and_takes_as_long_if_few_enter(calibrated: Device, body: str) -> None:
    """Unless a runtime, whose branches are of vectors, leaves out those of which no work-item enters."""
    scalar = with_costs(calibrated, **SCALAR_BRANCHES)
    half, few = (entered(scalar, body, work_items) for work_items in (524288, 16384))
    assert few == pytest.approx(half, rel=0.1)
    assert half == pytest.approx(entered(scalar, body, 1048576), rel=0.1)
    assert entered(calibrated, body, 16384) < 0.5 * entered(calibrated, body, 524288)


@pytest.mark.parametrize(
    "body",
    [
        "float v = y[i + 1]; STEPS x[i] = v;",  # an index of 32 bits that may overflow
        "float v = y[2 * i]; STEPS x[i] = v;",
        "float v = exp(y[i]); STEPS x[i] = v;",
        "float v = y[i]; for (int k = 0; k < n / 16384; k++) { STEPS } x[i] = v;",
    ],
)
def test_what_no_mask_serves_is_run_by_those_who_enter(calibrated: Device, body: str) -> None:
    scalar = with_costs(calibrated, **SCALAR_BRANCHES)
    assert entered(scalar, body, 16384) < 0.5 * entered(scalar, body, 524288)


def test_stores_under_a_mask_cost_what_they_were_measured_to_take(calibrated: Device) -> None:
    slow = with_costs(calibrated, masked__stored=2.0)
    stored, chosen = (BRANCH.replace("BODY", body) for body in ("x[i] = v * p;", "v *= p; x[i] = v;"))
    assert predict(slow, stored).runtime_us.p50 > 5 * predict(calibrated, stored).runtime_us.p50
    assert predict(slow, chosen).runtime_us == predict(calibrated, chosen).runtime_us


def test_stores_behind_a_guard_that_all_pass_are_under_a_mask(calibrated: Device) -> None:
    slow = with_costs(calibrated, masked__stored=2.0)
    open_, guarded, returned = (
        STREAM.replace("LOCAL", "64").replace("y[i] =", f"{guard} y[i] =")
        for guard in ("", "if (i < get_global_size(0) / 2 * 2)", "if (i >= get_global_size(0) / 2 * 2) return;")
    )
    assert predict(slow, open_).runtime_us == predict(calibrated, open_).runtime_us
    for text in (guarded, returned):
        assert predict(slow, text).runtime_us.p50 > 4 * predict(calibrated, text).runtime_us.p50


INDEX = """// kernelcast: global=1048576 local=64 c=3 x=2*1048576 y=2*1048576
__kernel void k(__global const float *restrict x, __global float *restrict y, int c) { BODY }"""


def test_neighbours_that_a_32_bit_index_hides_cost_what_such_were_measured_to_take(calibrated: Device) -> None:
    slow = with_costs(calibrated, vector__unit=2.0, vector__stored=2.0, scalar__unit=2.0, scalar__stored=2.0)
    shown = "size_t i = get_global_id(0); y[i] = x[i];", "int i = get_global_id(0); y[i + c] = x[i + c];"
    hidden = "int i = get_global_id(0); y[i] = x[i];", "uint i = get_global_id(0); y[i + c] = x[i + c];"
    for body in shown:
        assert predict(slow, INDEX.replace("BODY", body)).runtime_us.p50 < 2 * 1048576 * 0.5e-3
    for body in hidden:
        assert predict(slow, INDEX.replace("BODY", body)).runtime_us.p50 > 2 * 1048576 * 1.9e-3


VECTOR = """// kernelcast: global=262144 local=64 x=4*262144 y=4*262144
__kernel void k(__global const uchar *restrict x, __global uchar *restrict y) {
    size_t i = get_global_id(0); BODY }"""


def test_vload_and_vstore_take_a_call_each_where_functions_are_called(calibrated: Device) -> None:
    calls, inlined = with_costs(calibrated, call__fmin=2.0, call4__fmin=2.0), with_costs(calibrated, call__fmin=0.0)
    called = VECTOR.replace("BODY", "vstore4(vload4(i, x), i, y);")
    pointed = VECTOR.replace("BODY", "((__global uchar4 *)y)[i] = ((__global const uchar4 *)x)[i];")
    assert predict(calls, called).runtime_us.p50 > 3 * predict(calls, pointed).runtime_us.p50
    assert predict(inlined, called).runtime_us.p50 == pytest.approx(predict(inlined, pointed).runtime_us.p50, rel=1e-3)


DIVISION = """// kernelcast: global=1048576 local=64 w=1000 x=1048576 y=1048576
__kernel void k(__global int *restrict x, __global int *restrict y, int w) {
    int i = get_global_id(0); BODY }"""


def test_a_remainder_costs_no_second_division(calibrated: Device) -> None:
    device = with_costs(calibrated, vector__int_divide=3.0, scalar__int_divide=3.0)
    one, both, two = (
        predict(device, DIVISION.replace("BODY", body)).runtime_us.p50
        for body in ("x[i] = i / w;", "x[i] = i / w; y[i] = i % w;", "x[i] = i / w; y[i] = (i + 5) % w;")
    )
    assert both < 1.2 * one
    assert two > 1.8 * one


NARROW = """// kernelcast: global=1048576 local=64 x=1048576 y=1048576
__kernel void k(__global const TYPE4 *restrict x, __global TYPE4 *restrict y, TYPE4 c) { size_t i = get_global_id(0);
    TYPE4 v = x[i]; v ^= c; v &= x[i] | c; v |= c; v ^= x[i]; v &= c; v |= x[i] ^ c; y[i] = v; }"""


@pytest.mark.parametrize(("kind", "times"), [("short", 2), ("char", 4)])
def test_vectors_hold_more_narrow_integers_than_words(calibrated: Device, kind: str, times: int) -> None:
    def integer_us(device: Device, element: str) -> float:
        found = predict(device, NARROW.replace("TYPE", element)).analytic_times
        assert found is not None
        return next(time_us for name, _, time_us in found.resources if name == "integer")

    assert integer_us(calibrated, "int") == pytest.approx(times * integer_us(calibrated, kind), rel=0.1)
    alone = with_costs(calibrated, width__64=0.4)
    assert integer_us(alone, "int") == pytest.approx(integer_us(alone, kind), rel=0.1), "one in a register is one"


def test_no_answer_is_faster_than_loads_that_wait_for_each_other(calibrated: Device) -> None:
    """Unless their work-items go side by side in vectors, where the chains of several overlap."""
    chase = """// kernelcast: global=65536 local=64 table=1048576 fill.table=randint:0:1048576 start=65536 out=65536
    __kernel void k(__global const int *table, __global const int *start, __global int *out) {
        int at = start[get_global_id(0)]; for (int k = 0; k < 100; k++) at = table[at]; out[get_global_id(0)] = at; }"""
    curve = tuple(GatherPoint(size, 1.0, chase_gaccess_s=0.1) for size in (1 << 14, 1 << 26))
    timed = replace(calibrated, rates=replace(calibrated.rates, gather=curve))
    one_by_one = predict(with_costs(timed, counted__fp=3.2, data__fp=3.2), chase)
    assert one_by_one.floor_us > 0.5 * 65536 * 100 / 0.1 * 1e-3
    assert one_by_one.own_us.p10 >= one_by_one.floor_us
    assert predict(with_costs(timed), chase).floor_us < one_by_one.floor_us / 2
    assert predict(calibrated, chase).floor_us < one_by_one.floor_us / 2  # not timed: nothing is sure
