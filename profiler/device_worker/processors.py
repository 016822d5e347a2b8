"""The machine's processors.

How many of them this process may use, by its mask and by its container's quota, and which microarchitecture they are
of.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from model.throughput.processors import microarchitecture_of
from profiler.device_worker.control_groups import groups_of


def allowed_processors() -> frozenset[int]:
    """Those that this process may use; empty where the system cannot tell (macOS, Windows)."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def processor_quota() -> float | None:
    """Of how many processors a container may use the time (`docker run --cpus 2`); None: of all.

    A process that uses more is halted for the rest of each period, 100 ms as a rule. Source: Linux,
    Documentation/admin-guide/cgroup-v2 (cpu.max), and Documentation/scheduler/sched-bwc for version 1.
    """
    quotas = [quota for group in groups_of("cpu") if (quota := _quota(group)) is not None]
    return min(quotas, default=None)


def _quota(group: Path) -> float | None:
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text("ascii").split()
        else:
            quota = (group / "cpu.cfs_quota_us").read_text("ascii").strip()
            period = (group / "cpu.cfs_period_us").read_text("ascii").strip()
        return int(quota) / int(period) if quota not in ("max", "-1") else None
    except (OSError, ValueError, ZeroDivisionError):  # no such controller here
        return None


@cache
def this_microarchitecture() -> str | None:
    """Return a name of `model.throughput`; None where the system does not describe its processors as Linux does."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return None
    first = text.partition("\n\n")[0]
    described = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    if "flags" not in described:
        return None  # another kind of processor
    family = described.get("cpu family", "")
    return microarchitecture_of(
        described.get("vendor_id", ""), int(family) if family.isdigit() else 0, described["flags"].split()
    )
