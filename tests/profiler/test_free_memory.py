"""What a container has free: what its files' contents take is free, too, since the system drops them first."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.device_worker import control_groups
from profiler.device_worker.memory import free_memory
from profiler.device_worker.memory.free_memory import LEAST_BYTES, free_memory_bytes

GB = 10**9


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A container in a group of the second version, on a machine with plenty of memory."""
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {100 * GB // 1024} kB\n")
    (tmp_path / "cgroup").write_text("0::/outer/inner\n")
    (tmp_path / "fs" / "outer" / "inner").mkdir(parents=True)
    monkeypatch.setattr(free_memory, "_MACHINE", tmp_path / "meminfo")
    monkeypatch.setattr(control_groups, "OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(control_groups, "GROUPS", tmp_path / "fs")
    return tmp_path / "fs" / "outer"


def limit(group: Path, most: str, used: int, cached: int) -> None:
    (group / "memory.max").write_text(f"{most}\n")
    (group / "memory.current").write_text(f"{used}\n")
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {cached}\n")


def test_the_tightest_of_the_groups_counts_without_cached_files(groups: Path) -> None:
    limit(groups, str(8 * GB), 6 * GB, 0)
    limit(groups / "inner", str(4 * GB), 4 * GB, 3 * GB)
    assert free_memory_bytes() == 2 * GB
    limit(groups / "inner", str(4 * GB), 4 * GB, 1 * GB)
    assert free_memory_bytes() == 1 * GB


def test_groups_without_a_limit_leave_it_to_the_machine(groups: Path) -> None:
    limit(groups / "inner", "max", 4 * GB, 0)
    assert free_memory_bytes() == 100 * GB // 1024 * 1024


def test_never_less_than_drivers_take_for_themselves(groups: Path) -> None:
    limit(groups, str(GB), GB, 0)
    assert free_memory_bytes() == LEAST_BYTES


def test_the_first_version_of_control_groups_is_read_too(groups: Path, tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text("9:memory:/outer\n3:cpu:/elsewhere\n")
    (tmp_path / "fs" / "memory" / "outer").mkdir(parents=True)
    group = tmp_path / "fs" / "memory" / "outer"
    (group / "memory.limit_in_bytes").write_text(f"{4 * GB}")
    (group / "memory.usage_in_bytes").write_text(f"{4 * GB}")
    (group / "memory.stat").write_text(f"cache 7\ntotal_inactive_file {3 * GB}\n")
    assert free_memory_bytes() == 3 * GB
