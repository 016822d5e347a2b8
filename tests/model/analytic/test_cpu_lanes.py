"""Which of a launch's work-items stand side by side decides what its accesses cost: Intel's runtime chooses them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.analytic.cpu_lanes import lanes_of
from model.analytic.launch_times import launch_times
from model.device import Device
from model.engine import Engine
from tests.model.conftest import Count
from tests.model.test_costs_of_cpus import with_calibration

SIZE = 1024
PRODUCT = """// kernelcast: global=(1024, 1024) LOCAL w=1024 v=1048576 o=1048576
kernel void k(global const float *v, global float *o, const int w) {
    TYPE x = get_global_id(X), y = get_global_id(Y);
    float s = 0;
    for (int k = 0; k < 64; k++) s += v[k * w + x] * v[y * w + k];
    o[y * w + x] = s; }"""


@pytest.fixture
def calibrated(cpu: Device) -> Device:
    return with_calibration(cpu, width__8=0.1, width__4=0.2)


def product_us(device: Device, x: int, local: str = "local=(16, 16)", kind: str = "size_t") -> float:
    text = PRODUCT.replace("X)", f"{x})").replace("Y)", f"{1 - x})").replace("LOCAL", local).replace("TYPE", kind)
    (forecast,) = Engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction.runtime_us.p50


@pytest.fixture
def intels(calibrated: Device) -> Device:
    return replace(calibrated, platform="Intel(R) OpenCL")


@pytest.fixture
def pocl(calibrated: Device) -> Device:
    return replace(calibrated, platform="Portable Computing Language")


@pytest.mark.parametrize("local", ["local=(16, 16)", ""], ids=["square", "by the driver"])
def test_intels_runtime_takes_the_dimension_that_suits(intels: Device, local: str) -> None:
    assert product_us(intels, 1, local) == pytest.approx(product_us(intels, 0, local), rel=0.1)


def takes_the_second(device: Device, count: Count, kind: str) -> bool:
    text = PRODUCT.replace("X)", "1)").replace("Y)", "0)").replace("TYPE", kind)
    counts = count(text, (SIZE, SIZE), (16, 16), w=SIZE, buffers={"v": SIZE * SIZE, "o": SIZE * SIZE}).counts
    return lanes_of(counts, device).accesses != counts.accesses


@pytest.mark.parametrize(("kind", "expected"), [("size_t", True), ("int", True), ("uint", False)])
def test_an_unsigned_index_hides_which_dimension_suits(intels: Device, count: Count, kind: str, expected: bool) -> None:
    assert takes_the_second(intels, count, kind) is expected


CHANNELS_LAST = """kernel void k(global const float *v, global float *o, TYPE w, TYPE c) {
    TYPE x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    o[(y * w + x) * c + z] = v[(y * w + x) * c + z] * 2; }"""


@pytest.mark.parametrize("local", [(1, 1, 64), (4, 4, 16)])
def test_intels_runtime_takes_the_third_dimension_where_channels_come_last(
    intels: Device, pocl: Device, count: Count, local: tuple[int, ...]
) -> None:
    """Seen with version 2026.22: 7 to 9 times as fast as neighbours in the first dimension would be."""
    text, buffers = CHANNELS_LAST.replace("TYPE", "int"), {"v": 1 << 20, "o": 1 << 20}
    counts = count(text, (64, 64, 256), local, w=64, c=256, buffers=buffers).counts
    lanes = lanes_of(counts, intels)
    assert {access.stride_bytes for access in lanes.accesses} == {4}
    assert (lanes.width, lanes.global_size) == (local[2], (256, 64, 64))
    if local[0] > 1:
        assert {access.stride_bytes for access in lanes_of(counts, pocl).accesses} == {4 * 256}


def test_an_unsigned_index_hides_channels_that_come_last(intels: Device, count: Count) -> None:
    text, buffers = CHANNELS_LAST.replace("TYPE", "uint"), {"v": 1 << 20, "o": 1 << 20}
    counts = count(text, (64, 64, 256), (1, 1, 64), w=64, c=256, buffers=buffers).counts
    assert all(placed.hidden & 4 for part in counts.contexts for placed in part.accesses)


def test_bytes_are_put_side_by_side_along_the_third_dimension_whatever_hides_them(intels: Device, count: Count) -> None:
    """Seen with images of bytes whose width and channels are unsigned."""
    text = (
        CHANNELS_LAST.replace("TYPE x", "int x").replace("TYPE w, TYPE c", "uint w, uint c").replace("float", "uchar")
    )
    counts = count(text, (64, 64, 256), (4, 4, 16), w=64, c=256, buffers={"v": 1 << 20, "o": 1 << 20}).counts
    assert {access.stride_bytes for access in lanes_of(counts, intels).accesses} == {1}


@pytest.mark.parametrize("channels", [1, 3, 256])
def test_intels_groups_are_no_longer_than_the_dimension_of_its_vectors(
    intels: Device, count: Count, channels: int
) -> None:
    """Seen with version 2026.22: 3 channels take 20 times as long as in groups of 64, and 1 channel as long as 3."""
    text, groups = CHANNELS_LAST.replace("TYPE", "int"), 64 * 64
    items = groups * channels
    counts = count(text, (64, 64, channels), None, w=64, c=channels, buffers={"v": items, "o": items}).counts
    lanes = lanes_of(counts, intels)
    assert (lanes.width, lanes.groups) == (channels, groups)
    assert launch_times(counts, intels).total_us > 1e-3 * groups * intels.rates.group_overhead_ns


def test_a_stride_that_only_the_launch_tells_decides_no_dimension(intels: Device, count: Count) -> None:
    text = """kernel void k(global float *v, const int w, const int step) {
        v[get_global_id(0) * step + get_global_id(1) * w + get_global_id(2)] = 1; }"""
    counts = count(text, (64, 64, 4), None, w=64 * 64, step=1, buffers={"v": 1 << 20}).counts
    assert lanes_of(counts, intels).global_size == (4, 64, 64)


def test_other_runtimes_take_the_first_dimension(pocl: Device, count: Count) -> None:
    assert not takes_the_second(pocl, count, "size_t")


def test_groups_are_to_be_long_where_the_vectors_are(intels: Device) -> None:
    assert product_us(intels, 1, "local=(64, 4)") > 1.5 * product_us(intels, 1, "local=(4, 64)")
    assert product_us(intels, 0, "local=(4, 64)") > 1.5 * product_us(intels, 0, "local=(64, 4)")


def test_the_next_work_item_is_in_the_next_row_of_groups_one_wide(pocl: Device, count: Count) -> None:
    text = """kernel void k(global float *o, int w) { o[get_global_id(1) * w + get_global_id(0)] = 1; }"""
    narrow = count(text, (SIZE, SIZE), (1, 256), w=SIZE, buffers={"o": SIZE * SIZE}).counts
    (access,) = lanes_of(narrow, pocl).accesses
    assert (access.stride_bytes, lanes_of(narrow, pocl).width) == (4 * SIZE, 1)


@pytest.mark.parametrize(
    ("index", "hidden"), [
        ("x", 1), ("c * x + y", 3), ("i", 1), ("j", 2), ("i + c * j", 0), ("j + c * i", 0), ("a", 0), ("k", 4),
        ("k + c * i", 0),
    ],
)  # fmt: skip
def test_what_hides_neighbours_is_known_by_dimension(count: Count, index: str, hidden: int) -> None:
    text = f"""kernel void k(global float *z, int c) {{
        uint x = get_global_id(0), y = get_global_id(1); int i = x, j = y; size_t a = get_global_id(1);
        int k = get_global_id(2);
        z[{index}] = 1; }}"""
    counted = count(text, (64, 64), (8, 8), c=64, buffers={"z": 1 << 20})
    (access,) = (a for part in counted.work.outline.parts for a in part.accesses)
    assert access.hidden == hidden
