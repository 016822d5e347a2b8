"""The control groups that this process is in: how a container's share of the machine is limited (Linux)."""

from __future__ import annotations

from pathlib import Path

OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def groups_of(controller: str) -> list[Path]:
    """Our group and those that it lies in, wherever they are mounted; of version 2, and of version 1's `controller`.

    A container sees its own group as the root. Source: Linux, Documentation/admin-guide/cgroup-v2 and cgroup-v1.
    """
    try:
        lines = OWN_GROUPS.read_text("utf-8").splitlines()
    except OSError:
        return []
    found = [GROUPS, GROUPS / controller]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "" or controller in controllers.split(","):
            own = GROUPS / controllers / path.lstrip("/")
            found += [own, *(parent for parent in own.parents if GROUPS in parent.parents)]
    return list(dict.fromkeys(found))
