"""What far accesses cost on CPUs depends on who else finds the same lines: lanes, neighbours, other rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.analytic.cpu import far_us
from model.costs import Costs, costs_of
from model.device import Device
from tests.model.conftest import Count, Counted
from tests.model.test_costs_of_cpus import costs

COLUMN = """kernel void k(global const float *v, global float *o, int w, int n) {
    size_t me = get_global_id(0); float s = 0;
    for (int i = 0; i < n; i++) s += v[(size_t)i * w + me * STRIDE];
    o[me] = s; }"""
ROWS = """kernel void k(global const uchar *v, global uchar *o, int w, int c) {
    int x = get_global_id(0), y = get_global_id(1);
    o[y * w + x] = v[INDEX]; }"""


def far(device: Device, counted: Counted, **changed: float) -> float:
    """Return the microseconds that bytes from far take, on a runtime that vectorises all but what is `changed`."""
    device = replace(device, rates=replace(device.rates, costs=costs(**changed)))
    known = costs_of(device)
    assert isinstance(known, Costs)
    return far_us(counted.counts, device, known)


def column(count: Count, stride: int, width: int) -> Counted:
    text = COLUMN.replace("STRIDE", str(stride))
    return count(text, (16384,), (64,), w=width, n=1024, buffers={"v": width * 1024, "o": 16384})


def test_the_lanes_of_a_vector_share_the_lines_of_a_column(cpu: Device, count: Count) -> None:
    neighbours = column(count, 1, 16384)
    alone = far(cpu, neighbours, counted__fp=0.4, data__fp=0.4, kept__fp=0.4, reduced__fp=0.4)
    assert alone > 5 * far(cpu, neighbours) > 0


def test_lanes_that_are_lines_apart_share_none(cpu: Device, count: Count) -> None:
    apart = column(count, 16, 16384 * 16)
    alone = far(cpu, apart, counted__fp=0.4, data__fp=0.4, kept__fp=0.4, reduced__fp=0.4)
    assert alone == pytest.approx(far(cpu, apart), rel=0.1)


def test_work_items_that_do_nothing_leave_columns_as_long(count: Count) -> None:
    text = COLUMN.replace("float s = 0;", "if (me >= 64) return; float s = 0;").replace("STRIDE", "1")
    counted = count(text, (16384,), (64,), w=16384, n=1024, buffers={"v": 16384 * 1024, "o": 16384})
    assert counted.access("v").trips == 1024


NARROW = """kernel void k(global const float *v, global float *o, int w) {
    size_t x = get_global_id(0), y = get_global_id(1);
    o[y * w + x] = v[y * w + x]; }"""


def narrow(device: Device, count: Count, local: tuple[int, int], width: int = 4096, height: int = 2048) -> float:
    size = width * height
    return far(device, count(NARROW, (width, height), local, w=width, buffers={"v": size, "o": size}))


def test_groups_that_are_narrow_and_high_find_no_stream_in_large_arrays(cpu: Device, count: Count) -> None:
    assert narrow(cpu, count, (16, 16)) > 1.3 * narrow(cpu, count, (256, 1))
    assert narrow(cpu, count, (256, 4)) == pytest.approx(narrow(cpu, count, (256, 1)), rel=0.05)


def test_rows_that_follow_each_other_are_a_stream(cpu: Device, count: Count) -> None:
    assert narrow(cpu, count, (16, 16), 16, 524288) == pytest.approx(narrow(cpu, count, (256, 1)), rel=0.05)


def test_small_arrays_have_no_rows_far_apart(cpu: Device, count: Count) -> None:
    assert narrow(cpu, count, (16, 16), 128, 128) == 0


def test_nested_loops_go_round_together(count: Count) -> None:
    text = """kernel void k(global float *v, int n, int m) {
        for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) v[get_global_id(0) + 512 * (j * m + i)] = 1; }"""
    assert count(text, (512,), (64,), n=24, m=40, buffers={"v": 512 * 960}).access("v").trips == 960


def test_records_that_nobody_shares_come_from_far_each(cpu: Device, count: Count) -> None:
    """One byte of each record, 512 bytes apart; a transposed image has as many accesses, and uses whole lines."""
    own = count(ROWS.replace("INDEX", "(y * w + x) * c"), (512, 512), (64, 1), w=512, c=512,
                buffers={"v": 512 * 512 * 512, "o": 512 * 512})  # fmt: skip
    shared = count(ROWS.replace("INDEX", "x * c + y"), (512, 512), (64, 1), w=512, c=512,
                   buffers={"v": 512 * 512, "o": 512 * 512})  # fmt: skip
    assert far(cpu, own) > 20 * far(cpu, shared)


def test_the_fields_of_a_record_come_from_far_together(cpu: Device, count: Count) -> None:
    def fields(number: int, then: str = "") -> float:
        total = " + ".join(f"v[i * 16 + {n}]" for n in range(number))
        text = f"kernel void k(global float *v, global float *o) {{ int i = get_global_id(0); o[i] = {total}; {then} }}"
        return far(cpu, count(text, (1 << 20,), (64,), buffers={"v": 16 << 20, "o": 1 << 20}))

    assert fields(8) == pytest.approx(fields(1), rel=0.1)
    assert fields(1, "v[i * 16] = i;") == pytest.approx(fields(1), rel=0.1)
    assert fields(1, "v[i * 16 + 1] = i;") < 1.2 * fields(1)


def test_the_rows_of_a_group_find_the_lines_of_a_transposed_image(cpu: Device, count: Count) -> None:
    text = "kernel void k(global float *o, int w) { o[get_global_id(0) * w + get_global_id(1)] = 1; }"

    def written_us(*local: int) -> float:
        return far(cpu, count(text, (1024, 1024), local, w=1040, buffers={"o": 1040 * 1024}))

    assert written_us(4, 64) < written_us(256, 1) / 5
