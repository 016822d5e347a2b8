"""Runs `kernelcast` without what Windows lacks of the standard library: `python without_posix.py COMMAND ...`.

The system stays what it is, so this finds what is missing, not how paths or drivers behave there.
"""

from __future__ import annotations

# Loaded first: these ask which system it is, and are right about it.
import asyncio  # noqa: F401
import ctypes  # noqa: F401
import multiprocessing  # noqa: F401
import os
import select
import signal
import subprocess
import sys
import sysconfig
import tempfile  # noqa: F401
from importlib.abc import MetaPathFinder

import platformdirs
import rich.console  # noqa: F401

MODULES = frozenset({"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty"})
OF_OS = (
    "fork",
    "killpg",
    "getuid",
    "geteuid",
    "getpgid",
    "setsid",
    "sched_getaffinity",
    "getloadavg",
    "fchdir",
    "pread",
)
OF_SIGNAL = ("SIGKILL", "SIGHUP", "SIGSTOP", "SIGUSR1", "pthread_sigmask")


class _Missing(MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main() -> int:
    platformdirs.user_data_dir("kernelcast")
    sysconfig.get_config_vars()
    for module in MODULES:
        sys.modules.pop(module, None)
    sys.meta_path.insert(0, _Missing())
    for owner, names in ((os, OF_OS), (signal, OF_SIGNAL), (select, ("poll", "epoll"))):
        for name in names:
            if hasattr(owner, name):
                delattr(owner, name)
    sys.platform = "win32"
    from server.cli import main as kernelcast

    return kernelcast(sys.argv[1:])


if __name__ == "__main__":
    assert subprocess.PIPE
    sys.exit(main())
