"""Loops that end by what an atomic operation gives back: work queues, and additions made of exchanges."""

from __future__ import annotations

import pytest

from model.device import Device
from model.engine import Engine
from model.observing import Observer
from model.prediction import Prediction

JOBS, ITEMS = 100_000, 262_144
QUEUE = f"// kernelcast: global={ITEMS} local=64 x={JOBS} next=1 fill.next=zeros n={JOBS}\n" + (
    "__kernel void k(__global float *x, volatile __global uint *next, uint n) { LOOP }"
)
WORK = "x[job] = sqrt(x[job]);"
WAYS = {
    "in the header of a for": f"for (uint job = atomic_inc(next); job < n; job = atomic_inc(next)) {WORK}",
    "by a break": f"while (1) {{ uint job = atomic_inc(next); if (job >= n) break; {WORK} }}",
    "in a condition": f"uint job; while ((job = atomic_add(next, 1)) < n) {WORK}",
    "for a whole group": "__local uint job; while (1) { if (get_local_id(0) == 0) job = atomic_add(next, 64);"
    " barrier(CLK_LOCAL_MEM_FENCE); uint own = job + get_local_id(0); if (job >= n) break;"
    " if (own < n) x[own] = sqrt(x[own]); barrier(CLK_LOCAL_MEM_FENCE); }",
}
ADD = "float old = 1.0f; while ((old = atomic_xchg(s, atomic_xchg(s, 0.0f) + old)) != 0.0f);"


def predicted(text: str, device: Device) -> Prediction:
    (forecast,) = Engine(observer=Observer(runs=True)).forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction


@pytest.mark.parametrize("way", WAYS)
def test_a_queue_is_worked_off_once_by_all_work_items_together(cpu: Device, way: str) -> None:
    """However few of them are run: each draws for those that are not."""
    counts = predicted(QUEUE.replace("LOOP", WAYS[way]), cpu).work
    roots = sum(op.count for op in counts.ops if op.function == "sqrt")
    assert roots == pytest.approx(JOBS, rel=0.3)


@pytest.mark.parametrize("way", WAYS)
def test_a_queue_that_takes_too_long_to_run_is_followed_to_its_end(cpu: Device, way: str) -> None:
    """The tickets that were drawn say how many are left: how long the loop goes on is no guess."""
    work = "for (uint s = 0; s < 500; s++) x[JOB] = sqrt(x[JOB]);"
    loop = (
        WAYS[way]
        .replace(WORK, work.replace("JOB", "job"))
        .replace("x[own] = sqrt(x[own]);", work.replace("JOB", "own"))
    )
    found = predicted(QUEUE.replace(str(ITEMS), "256").replace("LOOP", loop), cpu)
    roots = sum(op.count for op in found.work.ops if op.function == "sqrt")
    assert roots == pytest.approx(500 * JOBS, rel=0.1)
    assert any("ended while a loop still ran" in each.text for each in found.assumptions)
    assert not any(each.is_guess for each in found.assumptions)


def test_a_queue_that_may_be_left_early_stays_a_guess(cpu: Device) -> None:
    loop = WAYS["by a break"].replace(WORK, f"for (uint s = 0; s < 500; s++) {WORK} if (x[job] < 0) return;")
    found = predicted(QUEUE.replace(str(ITEMS), "256").replace("LOOP", loop), cpu)
    assert any(each.is_guess for each in found.assumptions)


def test_places_in_a_list_are_handed_out_side_by_side(cpu: Device) -> None:
    body = "uint at = atomic_inc(next); if (x[at] < n) x[at] = 1.0f;"
    text = QUEUE.replace(f"={JOBS}", f"={2 * ITEMS}").replace("LOOP", body)
    (stored,) = [a for a in predicted(text, cpu).work.accesses if a.buffer == "x" and a.is_store]
    assert stored.footprint_bytes == pytest.approx(4 * ITEMS, rel=0.1)


def test_an_addition_made_of_exchanges_is_through_at_the_first_try(cpu: Device) -> None:
    """Work-items that run one after the other do not meet at the place."""
    text = f"// kernelcast: global={ITEMS} local=64 s=1\n__kernel void k(volatile __global float *s) {{ {ADD} }}"
    assert predicted(text, cpu).work.atomics == pytest.approx(2 * ITEMS, rel=0.1)


def test_an_addition_made_of_a_comparison_is_asked_for_once_where_it_holds_at_once(cpu: Device) -> None:
    add = "int o, w; do { o = s[0]; w = as_int(as_float(o) + 1.0f); } while (atomic_cmpxchg(s, o, w) != o);"
    text = f"// kernelcast: global={ITEMS} local=64 s=1\n__kernel void k(volatile __global int *s) {{ {add} }}"
    assert predicted(text, cpu).work.atomics == pytest.approx(ITEMS, rel=0.1)
