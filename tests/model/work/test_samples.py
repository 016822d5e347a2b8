"""Counts by what running some work-items told: ratios multiply along the tree, what the launch proves stays exact."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from model.assumptions import assumptions_of
from model.launch.launch import Fill, Launch
from model.observing import observe
from model.opencl.program import read_program
from model.sampling.sample import AccessCounts, RawSample, SiteCounts
from model.work.analyse import analyse
from model.work.counts import OpKind
from model.work.memory.growth import Growth
from model.work.regions.region import Access, Branch, Loop
from model.work.sampled import leaves_open, sampled
from model.work.walk.sample import numbered
from model.work.work import Work
from model.work.work_counts import WorkCounts

HEAD = "kernel void k(global const float *x, global float *out, global const int *col, int n, int m) {\n"
BUFFERS = (("x", 4096), ("out", 4096), ("col", 4096))


def analysed(body: str) -> Work:
    program = read_program(HEAD + body)
    return analyse(program, program.kernels[0])


def launched(n: int = 1024, m: int = 8, **fills: Fill) -> Launch:
    return Launch((1024,), (64,), (("n", n), ("m", m)), BUFFERS, fills=tuple(fills.items()))


def counted(
    work: Work, launch: Launch, sites: Mapping[int, tuple[float, float, float]], rests_on: tuple[str, ...] = ()
) -> WorkCounts:
    """With (begun, taken, completed) of the loop or branch on each line, from 0."""
    seen = {
        inner.site: SiteCounts(*sites[inner.line], lane_slots=2 * sites[inner.line][1])
        for _, inner in numbered(work.root)
        if not isinstance(inner, Access) and inner.site is not None and inner.line in sites
    }
    raw = RawSample(100, seen, {}, 1.5, complete=True, rests_on=rests_on, notes=(), stopped=None)
    work.remember(launch, sampled(work, work.walk(launch), raw))
    return work.count(launch)


def flops(counts: WorkCounts) -> float:
    return sum(o.count for o in counts.ops if o.kind in (OpKind.ADD, OpKind.FMA))


WALKED = """int i = get_global_id(0); float s = 0; int p = i;
while (x[p] > 0) {
s += x[p]; p = p + 1; }
out[i] = s; }"""


def test_a_loop_that_data_end_runs_as_often_as_was_seen() -> None:
    work, launch = analysed(WALKED), launched()
    assert leaves_open(work, work.walk(launch))
    assert flops(counted(work, launch, {2: (100, 2340, 100)})) == pytest.approx(1024 * 23.4)


def test_what_was_seen_takes_the_place_of_what_was_assumed() -> None:
    work, launch = analysed(WALKED), launched()
    counts = counted(work, launch, {2: (100, 2340, 100)}, rests_on=("x",))
    told = [a.text.replace("{line}", str((a.line or 0) + 1)) for a in assumptions_of(work, counts, launch)]
    assert "the loop on line 3 runs 23.4 times on average: found by running 100 of the work-items" in told
    assert any(
        "what `x` holds decides how often the loop on line 3 runs" in t and "fill.x=uniform:0:1" in t for t in told
    )
    assert not any(": assumed for" in t for t in told)


def test_what_stops_the_sample_is_said_beside_what_is_assumed() -> None:
    work, launch = analysed(WALKED), launched()
    raw = RawSample(0, {}, {}, 1.0, complete=False, rests_on=(), notes=(), stopped="`foo` is not known")
    work.remember(launch, sampled(work, work.walk(launch), raw))
    told = [a.text for a in assumptions_of(work, work.count(launch), launch)]
    assert any("assumed to run 16 times" in t for t in told)
    assert any("`foo` is not known" in t for t in told)


def test_a_guard_stays_exact_and_the_data_beside_it_are_as_seen() -> None:
    body = "int i = get_global_id(0);\nif (i < n && x[i] > 0.5f) {\nfor (int k = 0; k < m; k++) out[i] += x[k]; } }"
    work, launch = analysed(body), launched(n=512)
    # Half of the work-items pass the guard, and of these a fifth is above: a tenth of all.
    assert flops(counted(work, launch, {2: (1000, 100, 1000)})) == pytest.approx(1024 * 0.1 * 8)


def test_branches_and_loops_inside_multiply_to_what_was_counted() -> None:
    body = "int i = get_global_id(0);\nif (x[i] > 0.5f) {\nfor (int k = 0; k < i; k++)\nout[i] += x[k]; } }"
    # Those with the larger ids enter: the loop runs 900 times for them, and not half of 1,024 times.
    work, launch = analysed(body), launched()
    assert flops(counted(work, launch, {2: (1000, 250, 1000), 3: (250, 225_000, 250)})) == pytest.approx(1024 * 225)


def test_a_loop_that_the_launch_decides_stays_exact_beside_a_sample() -> None:
    loop = "int i = get_global_id(0);\nfor (int k = 0; k < m; k++)\nout[i] += x[k];\n"
    body = loop + "if (x[i] > 0.5f) out[i] = sin(x[i]); }"
    work, launch = analysed(body), launched()
    assert flops(counted(work, launch, {2: (1000, 7000, 1000), 4: (1000, 100, 1000)})) == 1024 * 8


def test_who_leaves_early_takes_no_part_in_what_follows() -> None:
    body = "int i = get_global_id(0);\nif (n > 3) {\nif (x[i] > 0.5f) return; out[i] = 1; }\nout[i] = x[i] + 2.0f; }"
    work, launch = analysed(body), launched()
    assert flops(counted(work, launch, {2: (1000, 1000, 100), 3: (1000, 900, 100)})) == pytest.approx(102.4)


def test_lanes_that_agree_within_their_warps_part_less_than_chance_would_have_it() -> None:
    work, launch = analysed("int i = get_global_id(0);\nif (x[i] > 0.5f) out[i] = sin(x[i]); }"), launched()
    raw = {}
    for _, inner in numbered(work.root):
        if isinstance(inner, Branch) and inner.site is not None:
            raw[inner.site] = SiteCounts(1024, 512, 1024, lane_slots=512)
    together = RawSample(1024, raw, {}, 1.0, complete=True, rests_on=(), notes=(), stopped=None)
    assert work.count(launch, sampled(work, work.walk(launch), together)).facts.divergence == 0
    assert work.count(launch).facts.divergence > 0.9


def test_a_gather_touches_what_was_seen() -> None:
    work, launch = analysed("int i = get_global_id(0);\nout[i] = x[col[i]]; }"), launched()
    (gather,) = (i for _, i in numbered(work.root) if isinstance(i, Access) and i.buffer == "x")
    assert gather.site is not None
    grown = Growth(512, (32, 32, 32, 32, 32))
    seen = {gather.site: AccessCounts(512, lines_per_subgroup=2.0, places=grown, lines=Growth(512, (2,) * 5))}
    raw = RawSample(512, {}, seen, 1.0, complete=True, rests_on=(), notes=(), stopped=None)
    counts = work.count(launch, sampled(work, work.walk(launch), raw))
    (found,) = (a for a in counts.accesses if a.buffer == "x")
    assert found.footprint_bytes == pytest.approx(128, rel=0.01)
    assert counts.facts.transaction_factor == pytest.approx(1.0)


def test_another_launch_goes_by_the_last_ones_sample_rather_than_by_a_guess() -> None:
    work, launch = analysed(WALKED), launched()
    counted(work, launch, {2: (100, 2340, 100)})
    other = launched(m=9)
    counts = work.count(other)
    assert flops(counts) == pytest.approx(1024 * 23.4)
    assert any("of another launch" in a.text for a in assumptions_of(work, counts, other))


def test_what_nothing_was_assumed_of_needs_no_sample() -> None:
    body = "int i = get_global_id(0);\nif (i < n) for (int k = 0; k < m; k++) out[i] += x[k]; }"
    work, launch = analysed(body), launched()
    assert not leaves_open(work, work.walk(launch))


def test_places_are_the_same_whoever_analysed() -> None:
    one, other = analysed(WALKED), analysed("\n\n" + WALKED)
    kinds = [[type(inner) for _, inner in numbered(work.root)] for work in (one, other)]
    assert kinds[0] == kinds[1]
    assert Loop in kinds[0]


def test_a_share_that_a_fill_settles_is_not_called_assumed() -> None:
    body = "int i = get_global_id(0);\nif (x[i] > 0.9f) out[i] = sin(x[i]); }"
    work, launch = analysed(body), launched(x=Fill("uniform", (0, 1)))
    assert not any(": assumed for" in a.text for a in assumptions_of(work, work.count(launch), launch))


def test_collatz_is_run_and_counted() -> None:
    body = "int v = get_global_id(0) + 1, c = 0;\nwhile (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; c++; }\nout[0] = c; }"
    program = read_program(HEAD + body)
    launch = launched()
    sample = observe(program, program.kernels[0], launch)
    work = analyse(program, program.kernels[0])
    steps = 0
    for first in range(1, 1025):
        v = first
        while v != 1:
            v, steps = (3 * v + 1 if v & 1 else v // 2), steps + 1
    loop = next(inner for _, inner in numbered(work.root) if isinstance(inner, Loop))
    walk = work.walk(launch, sample)
    assert walk.runs[id(loop.body)] == pytest.approx(steps, rel=0.01)
