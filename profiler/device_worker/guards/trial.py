"""One launch of a built kernel, ready but for its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyopencl as cl

from profiler.arguments import Argument
from profiler.measurement import MeasureRequest


@dataclass(frozen=True, slots=True)
class Trial:
    """What a launch is tried out with; whoever tries it sets the kernel's arguments."""

    context: cl.Context
    queue: cl.CommandQueue
    program: cl.Program
    kernel: cl.Kernel
    plan: tuple[Argument, ...]
    request: MeasureRequest

    @property
    def subject(self) -> str:
        return f"kernel `{self.request.kernel.name}`"

    def set_arguments(self, values: Sequence[Any]) -> None:
        for index, value in enumerate(values):
            self.kernel.set_arg(index, value)

    def enqueue(self) -> cl.Event:
        launch = self.request.launch
        return cl.enqueue_nd_range_kernel(self.queue, self.kernel, launch.global_size, launch.local_size)
