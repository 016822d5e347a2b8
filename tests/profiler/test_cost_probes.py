"""The cost of an operation excludes the start of its work-group, even where a core overlaps the two."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from profiler.device_worker.calibration import cost_kernels
from profiler.device_worker.calibration.bench import Bench
from profiler.device_worker.calibration.costs import GROUP_SIZES, CostBench, CostProbes
from profiler.device_worker.calibration.rounds import Sample, Timed
from tests.made_world import device

GROUP_NS, HIDDEN_NS, OPERATION_NS = 12.0, 4.0, 0.1


class Overlapping:
    """A device on which the first nanoseconds of a work-item's body run beside the start of its group."""

    out = object()

    def holding(self, _: object) -> object:
        return object()

    def kernel(self, source: str, _name: str, _arguments: object) -> str:
        return source

    def sized(self, source: str, lanes: int, **_: Any) -> Timed:
        operations = len(re.findall(r"\* c \+ 0\.25f", source)) * lanes
        item_ns = (GROUP_NS + max(0.0, operations * OPERATION_NS - HIDDEN_NS)) / lanes
        return Timed(lambda: 0.0, items=1000, runs=1, samples=[Sample(item_ns, is_disturbed=False)] * 2)


def test_what_hides_behind_the_start_of_a_group_is_counted() -> None:
    short, long = (cost_kernels.straight("fp", rounds, is_alone=True) for rounds in (8, 24))
    finish = CostBench(cast(Bench, Overlapping())).lengthened("scalar.fp", short, long, lanes=1)
    *_, cost = finish(device("pocl").rates).costs
    assert cost.name == "scalar.fp"
    assert cost.ns == pytest.approx(OPERATION_NS, rel=0.01)


@pytest.mark.parametrize("body", [*cost_kernels.STRAIGHT_BODIES, *cost_kernels.INT_BODIES])
def test_a_longer_body_holds_as_many_more_operations(body: str) -> None:
    (short, few), (long, many) = (cost_kernels.straight(body, rounds, is_alone=True) for rounds in (8, 24))
    assert many == 3 * few
    assert len(long) > 2 * len(short)


def test_groups_of_few_work_items_are_timed_with_two_bodies_each() -> None:
    of_few = [probe for probe in CostProbes(device("pocl"), quick=True).found if len(probe.sources) == 2]
    bodies = [*cost_kernels.STRAIGHT_BODIES, "int", "int_mul", "int_divide"]
    assert len(of_few) == len(bodies) + sum(lanes < cost_kernels.LANES for lanes in GROUP_SIZES)
