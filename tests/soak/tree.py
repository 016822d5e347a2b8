"""The processes of one server: which there are, and what each is there for."""

from __future__ import annotations

import psutil

from tests.faults.watching import processes

SERVER, PREDICTOR, DEVICE, WATCHER = "server", "predictor", "device process", "watcher"


def tree(mark: str, server: int) -> dict[str, list[psutil.Process]]:
    """By role; whatever drivers start goes by its own name."""
    found: dict[str, list[psutil.Process]] = {}
    for process in processes(mark):
        try:
            if process.status() != psutil.STATUS_ZOMBIE:
                found.setdefault(_role(process, server), []).append(process)
        except psutil.Error:  # it has just gone
            continue
    return found


def _role(process: psutil.Process, server: int) -> str:
    if process.pid == server:
        return SERVER
    command = " ".join(process.cmdline())
    if "server.predictor.child" in command:
        return PREDICTOR
    if "profiler.device_worker.main" in command:
        return DEVICE if process.ppid() == server else WATCHER
    return process.name()
