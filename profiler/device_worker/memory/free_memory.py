"""How much memory a job may take before the system would have to end somebody: of the machine, and of its container."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from profiler.device_worker.control_groups import groups_of

LEAST_BYTES = 512 * 1024 * 1024  # less than drivers take for themselves would be no limit but a refusal
FOR_BUFFERS = 0.75  # of what the process may still take; the rest is for what drivers need beside them
_MACHINE = Path("/proc/meminfo")
_STATUS = Path("/proc/self/status")
_LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))  # versions 2 and 1


def free_memory_bytes() -> int:
    """Return what can be taken without swapping; 0 where the system does not tell."""
    told = [*_of_machine(), *_of_groups()]
    return max(min(told), LEAST_BYTES) if told else 0


def room_for_buffers_bytes() -> int | None:
    """Return what buffers that lie in this process's memory may take under its limit; None without one.

    Asked before anything is allocated: drivers crash, in their own words or none, where memory is refused.
    """
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit_bytes == resource.RLIM_INFINITY:
        return None
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmData:"):
                return max(0, int((limit_bytes - int(line.split()[1]) * 1024) * FOR_BUFFERS))
    return None


def _of_machine() -> Iterator[int]:
    with suppress(OSError):
        for line in _MACHINE.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * 1024


def _of_groups() -> Iterator[int]:
    """Yield what the process's own group may yet take, and each that it lies in."""
    for folder in groups_of("memory"):
        for most, used in _LIMITS:
            with suppress(OSError, ValueError):  # `max`: no limit
                most_bytes, used_bytes = int((folder / most).read_text()), int((folder / used).read_text())
                yield most_bytes - max(0, used_bytes - _cached_bytes(folder))


def _cached_bytes(folder: Path) -> int:
    """Contents of files that count as used memory of a group, though the system drops them where memory runs short."""
    with suppress(OSError):
        for line in (folder / "memory.stat").read_text("ascii").splitlines():
            name, _, size_bytes = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                return int(size_bytes)
    return 0
