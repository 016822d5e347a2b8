"""The two jobs in real device processes: what is built once is found again, and a failure costs its own kernel."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any

import pytest

from model.launch.launch import Fill, Launch
from model.opencl.options import BuildOptions
from profiler.corpus.collection.jobs import run_tasks
from profiler.corpus.collection_jobs import (
    BUILD_JOB,
    TIME_JOB,
    BuildOrder,
    BuildTask,
    BuiltKernel,
    JobLimits,
    TimedRow,
    TimeOrder,
    TimeTask,
)
from profiler.corpus.kernel import GENERATOR, CorpusDevice, CorpusKernel, CorpusLaunch
from profiler.measurement import BuildFailed, DeviceGone, KernelCrashed, MeasureError, TimedOut
from profiler.process.messages import AtStake, Outcome
from profiler.process.worker import run_job

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]
SCALE = """__kernel void scale(__global float* y, __global const float* x, const int n, __local float* tile) {
    int i = get_global_id(0);
    tile[get_local_id(0)] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) y[i] = FACTOR * tile[get_local_id(0)];
}
"""
# Doubles what it finds; -1 and more are told apart by what it has become.
IN_PLACE = """__kernel void spin(__global int* steps, __global int* seen) {
    if (steps[0] != 3) while (1) seen[0] += 1;
    steps[0] = 4;
    seen[0] = 1;
}
"""
FOR_EVER = "__kernel void stuck(__global int* x) { while (1) x[0] += 1; }"
POCL = CorpusDevice("pocl", "pocl")


def _kernel(source: str, name: str, *launches: Launch, **more: Any) -> CorpusKernel:
    return CorpusKernel(
        source[:8] + name, GENERATOR, "tests", "tests", name, name, source,
        launches=tuple(CorpusLaunch(launch) for launch in launches), **more,
    )  # fmt: skip


def _scaled(items: int, local: int | None, n: int) -> Launch:
    return Launch(
        (items,), local and (local,), (("n", n),), (("y", n), ("x", n)), local_bytes=(("tile", 4 * (local or items)),)
    )


def _scale(*launches: Launch) -> CorpusKernel:
    return _kernel(SCALE, "scale", *launches, options=BuildOptions(defines=(("FACTOR", "2.0f"),)))


def _outcomes(target: str, order: Any) -> dict[int, Any]:
    """Of a job, with those that its process took with it as it ended."""
    at_stake: tuple[int, ...] = ()
    found: dict[int, Any] = {}

    def hear(message: AtStake | Outcome) -> None:
        nonlocal at_stake
        if isinstance(message, AtStake):
            at_stake = message.tasks
        else:
            found[message.task] = message.value

    try:
        run_job(target, (order,), returns=NoneType, on_task=hear)
    except MeasureError as error:
        if not at_stake:
            raise
        found.update((number, error) for number in at_stake if number not in found)
    return found


def _time(folder: Path, kernels: list[CorpusKernel], **more: Any) -> dict[int, Any]:
    tasks = [TimeTask(n, k, launch) for n, (k, launch) in enumerate((k, each) for k in kernels for each in k.launches)]
    order = TimeOrder(more.pop("device", POCL), more.pop("processors", ()), str(folder), tuple(tasks), **more)
    return _outcomes(TIME_JOB, order)


def test_what_was_built_is_timed_without_compiling_again(tmp_path: Path) -> None:
    small, other, again = _scaled(128, 32, 100), _scaled(256, 64, 256), _scaled(64, 32, 60)
    large = _scaled(1 << 16, 32, 1000)
    kernel = _scale(small, other, again, large)
    wrong = _kernel("__kernel void wrong() { int x = ; }", "wrong", Launch((1,)))
    tasks = (BuildTask(0, kernel), BuildTask(1, wrong), BuildTask(2, _kernel(IN_PLACE, "missing", small)))
    built = _outcomes(BUILD_JOB, BuildOrder("pocl", str(tmp_path), tasks))
    assert isinstance(built[1], BuildFailed)
    assert isinstance(built[2], MeasureError)
    assert isinstance(built[0], BuiltKernel)
    assert sorted(variant.launches for variant in built[0].variants) == [(0, 2), (1,), (3,)]
    assert {v.facts.local_size for v in built[0].variants} == {(32,), (64,)}
    assert all(variant.facts.mix for variant in built[0].variants)
    assert built[0].refused == ()

    processor = min(os.sched_getaffinity(0))
    one = CorpusDevice("pocl-1core", "pocl", 1)
    more = replace(kernel, launches=(*kernel.launches, CorpusLaunch(_scaled(128, 16, 100))))  # its size was not built
    for rows in (_time(tmp_path, [more]), _time(tmp_path, [kernel], device=one, processors=(processor,))):
        assert len(rows) >= 4
        assert all(row.was_built for row in rows.values())
        for timing in (row.timing for row in rows.values()):
            assert 0 < timing.p10_us <= timing.median_us <= timing.p90_us
            assert timing.wall_us > 0


def test_launches_are_proved_where_that_is_asked_for(tmp_path: Path) -> None:
    inside, outside = _scaled(128, 32, 100), replace(_scaled(128, 32, 100), buffers=(("y", 90), ("x", 100)))
    known = CorpusLaunch(_scaled(256, 32, 250), checked="guard pages elsewhere")
    kernel = _scale(inside, outside)
    kernel = replace(kernel, launches=(*kernel.launches, known))
    built = _outcomes(BUILD_JOB, BuildOrder("pocl", str(tmp_path), (BuildTask(7, kernel, proves=True),)))[7]
    assert built.checked == ("guard pages", "", "guard pages elsewhere")
    assert [(each.launch, each.code) for each in built.refused] == [(1, "out_of_bounds")]
    assert "`y`" in built.refused[0].message


def test_launches_that_take_no_turns_are_told_one_by_one(tmp_path: Path) -> None:
    kernel = _scale(_scaled(128, 32, 100), _scaled(256, 32, 200))
    tasks = tuple(TimeTask(number, kernel, launch) for number, launch in enumerate(kernel.launches))
    heard: list[AtStake | Outcome] = []
    run_job(TIME_JOB, (TimeOrder(POCL, (), str(tmp_path), tasks, in_turn=1),), returns=NoneType, on_task=heard.append)
    first, told = next((at, message) for at, message in enumerate(heard) if isinstance(message, Outcome))
    assert isinstance(told.value, TimedRow)
    assert AtStake((1,)) not in heard[:first]  # a kill before the second begins would have cost nothing
    assert AtStake((1,)) in heard[first:]


def test_what_a_run_changes_in_place_is_put_back(tmp_path: Path) -> None:
    launch = Launch((1,), (1,), (), (("steps", 1), ("seen", 1)), fills=(("steps", Fill("const", (3,))),))
    rows = _time(tmp_path, [_kernel(IN_PLACE, "spin", launch, in_place=("steps",))])
    assert isinstance(rows[0], TimedRow)


def _all_rows(folder: Path, kernels: list[CorpusKernel], limits: JobLimits) -> list[object]:
    """In as many processes as it takes."""
    tasks = [TimeTask(number, kernel, kernel.launches[0]) for number, kernel in enumerate(kernels)]
    found: dict[int, object] = {}
    run_tasks(
        TIME_JOB,
        lambda waiting: TimeOrder(POCL, (), str(folder), waiting, limits),
        tasks,
        lambda task, outcome: found.__setitem__(task.number, outcome),
        limits=limits,
    )
    return [found[task.number] for task in tasks]


def test_a_kernel_that_never_ends_or_crashes_costs_itself_alone(tmp_path: Path) -> None:
    stuck = _kernel(FOR_EVER, "stuck", Launch((1,), (1,), (), (("x", 4),)))
    far = "__kernel void far(__global int* x, long at) { x[at] = 1; }"
    crash = _kernel(far, "far", Launch((1,), (1,), (("at", 1 << 40),), (("x", 4),)))
    fine = _scale(_scaled(128, 32, 100))
    rows = _all_rows(tmp_path, [fine, stuck, fine, crash], JobLimits(first_run_s=8.0))
    assert [type(row) for row in rows] == [TimedRow, TimedOut, TimedRow, KernelCrashed]


def test_launches_take_turns_and_each_keeps_its_own_arguments(tmp_path: Path) -> None:
    """Those of one kernel share its program; more than can be prepared beside each other come one group later."""
    kernel = _scale(*(_scaled(1 << (7 + n % 8), 32, 100 + n) for n in range(40)))
    rows = _time(tmp_path, [kernel])
    assert sorted(rows) == list(range(40))
    timings = [row.timing for row in rows.values()]
    assert all(len(timing.batches_us) == len(timing.paces_us) >= 2 for timing in timings)
    assert all(pace > 0 for timing in timings for pace in timing.paces_us)


def test_processors_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceGone, match="processors 4095"):
        _time(tmp_path, [_scale(_scaled(128, 32, 100))], processors=(4095,))
