"""What is asked of the simulator, and what it answers: plain data that both sides of the pipe know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from model.launch.launch import Launch
from model.opencl.kernel import Kernel

MARK = "@@oracle"  # begins each line that is ours, among those that Oclgrind prints


class Compiled(StrEnum):
    """How the simulated code is optimised."""

    FOR_SPEED = "O3"  # LLVM's standard -O3: what our counts model
    FOR_SIZE = "Oz"  # LLVM's standard -Oz, which is what Oclgrind chooses
    BY_OCLGRIND = "as-is"  # whatever the command `oclgrind --inst-counts` makes of the source


@dataclass(frozen=True, slots=True)
class Task:
    """One launch to execute. `launch.local_size` is set: the simulator and the analysis must mean the same groups."""

    kernel: Kernel
    launch: Launch
    source: str
    path: Path

    @property
    def title(self) -> str:
        """`blur 1024x1024 / 16x16`; a launch's own name goes before its sizes."""
        return " ".join(filter(None, (self.kernel.name, self.launch.name, self.launch.describe())))


@dataclass(frozen=True, slots=True)
class Executed:
    """What one launch executed, as Oclgrind prints it.

    `instructions` by opcode (`fadd`, `call _Z3sinf()`); `bytes_moved` of `load global`, `store local` and so on.
    """

    instructions: Mapping[str, int]
    bytes_moved: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NotExecuted:
    """A launch that the simulator did not run to its end, and why, in its own words."""

    reason: str
