"""What passes between a device process and its parent. Plain data, importable without pyopencl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.errors import KernelcastError

FOLDER_VARIABLE = "KERNELCAST_JOB_FOLDER"  # names the job's own folder in the child's environment


@dataclass(frozen=True, slots=True)
class Job:
    """To the child: call `package.module:function`."""

    target: str
    arguments: tuple[Any, ...]
    memory_bytes: int  # 0: no limit
    niceness: int = 0  # by how much its priority is lower than its parent's


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a job with its own time limit, and what to tell the user if it does not end well."""

    subject: str  # of "... ran longer than 5 s and was stopped", "... crashed (SIGSEGV)"
    limit_s: float
    on_timeout: str = ""
    on_crash: str = ""
    is_compiling: bool = False  # and runs no kernel, which signals might tell of


@dataclass(frozen=True, slots=True)
class Progress:
    """From the child, while it works; with `phase` a new phase begins, and its clock with it."""

    fraction: float
    text: str
    phase: Phase | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """From the child: what the function returned."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """From the child: a named failure."""

    error: KernelcastError


@dataclass(frozen=True, slots=True)
class AtStake:
    """From the child of a job with many tasks: those, by number, that are lost if it ends now."""

    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """From the child of a job with many tasks: what became of one. A named failure stands in place of a value."""

    task: int
    value: Any


Message = Progress | AtStake | Outcome | Done | Failed
