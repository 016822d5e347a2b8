"""What an editor asks of a search or of a whole program, and hears of it. Plain data, light enough for the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.device import Device
from model.launch.launch import Launch
from model.opencl.kernel import SourceRange
from model.opencl.options import BuildOptions
from profiler.measurement import Measurement

BUDGET_S = 2.0  # of timed turns for each version, at most


@dataclass(frozen=True, slots=True)
class Replacement:
    """Characters `start` to `end` of a file's text become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TuneOrder:
    """The `number`th launch of the kernel that stands at `kernel_range` of `text`, as the editor has it."""

    text: str
    path: Path
    kernel: str
    kernel_range: SourceRange
    number: int
    device: Device
    options: BuildOptions
    budget_s: float  # of timed turns, for each candidate
    time_limit_s: float  # of one run


@dataclass(frozen=True, slots=True)
class TuneOutcome:
    """`answer` as `kernelcast tune --format json` gives it. The winner is written by `replacements` in `file`.

    `file_text` is what that holds; `problem` says why there are none although something is faster.
    """

    answer: dict[str, Any]
    sentence: str
    is_faster: bool
    baseline: Measurement | None
    measurements: tuple[tuple[Measurement, Launch, bytes, float | None], ...] = ()
    file: Path | None = None
    file_text: str = ""
    replacements: tuple[Replacement, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ProgramOrder:
    """The newest recording of the project that `folder` is in, with kernels as `texts` and the project's files are now.

    `texts` are open documents, saved or not. `devices` are known to the editor; the first one is its own.
    """

    folder: Path
    texts: Mapping[Path, str]
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class ProgramPage:
    """A page that needs nothing beside it."""

    title: str
    html: str
