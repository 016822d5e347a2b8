"""What work-items cost that are out of bounds: a turn of the loop over them each, where no vector takes several."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.analytic.cpu import cpu_times
from model.analytic.cpu_lanes import lanes_of
from model.costs import Costs, costs_of
from model.device import Device
from tests.model.conftest import Count
from tests.model.test_costs_of_cpus import costs

ITEMS, TURN_NS = 1_000_000, 0.5
BOUNDED = """kernel void k(global float *v, int n) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    float s = v[i];
    while (s < 1.0f) s = s * 1.5f + 0.1f;
    v[i] = s; }"""


def turns_us(device: Device, count: Count, n: int, **changed: float) -> float:
    """Return what the turns of the loop over work-items add."""
    counts = count(BOUNDED, (ITEMS,), (64,), n=n, buffers={"v": n}).counts
    found = []
    for turn_ns in (TURN_NS, 0.0):
        known = replace(device, rates=replace(device.rates, costs=costs(**changed), item_overhead_ns=turn_ns))
        priced = costs_of(known)
        assert isinstance(priced, Costs)
        found.append(cpu_times(counts, lanes_of(counts, known), known, priced).near)
    return found[0] - found[1]


def test_lone_work_items_take_a_turn_each(cpu: Device, count: Count) -> None:
    added = turns_us(cpu, count, 64, data__fp=0.4, counted__fp=0.4)
    assert added == pytest.approx(1e-3 * ITEMS * TURN_NS, rel=0.01)


def test_vectors_take_them_together(cpu: Device, count: Count) -> None:
    assert turns_us(cpu, count, 64) == 0


def test_what_the_others_have_to_do_hides_the_turn(cpu: Device, count: Count) -> None:
    assert turns_us(cpu, count, ITEMS, data__fp=0.4, counted__fp=0.4) == 0
