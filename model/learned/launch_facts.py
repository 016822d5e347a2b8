"""A launch in numbers, whatever the device: what each work-item executes and touches, and how the launch is cut."""

from __future__ import annotations

import math

from model.launch.launch import Launch
from model.work.counts import WorkCounts
from model.work.work import Work

LAUNCH_FACT_NAMES = ("work_items", "work_groups", "flops", "load_bytes", "store_bytes", "footprint_bytes")


def launch_facts(_work: Work, counts: WorkCounts, launch: Launch) -> tuple[float, ...]:
    """In the order of LAUNCH_FACT_NAMES: logarithms of base 2."""
    found = (
        launch.work_items,
        counts.work_groups,
        counts.flops,
        counts.global_load_bytes,
        counts.global_store_bytes,
        counts.global_footprint_bytes,
    )
    return tuple(math.log2(each + 1) for each in found)
