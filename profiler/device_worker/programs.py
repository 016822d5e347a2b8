"""Programs of one device, each built once, and a launch of a built kernel that is ready but for its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyopencl as cl

from profiler.arguments import Argument
from profiler.device_worker.building import ON_COMPILER_CRASH, build, kernel_named
from profiler.device_worker.failures import named_failures
from profiler.measurement import BuildFailed, MeasureError, MeasureRequest
from profiler.process.messages import Phase

if TYPE_CHECKING:
    from model.opencl.options import BuildOptions
    from profiler.device_worker.main import Reporter

BuildKey = tuple[str, str | None, "BuildOptions"]


def build_key(request: MeasureRequest) -> BuildKey:
    """Return the same for requests that one build serves."""
    return request.source, request.path, request.launch.options


class Programs:
    """Owns a context, its queue and what was built for it, failures included."""

    def __init__(self, device: cl.Device, limit_s: float, reporter: Reporter) -> None:
        self.device = device
        self._limit_s = limit_s
        self._reporter = reporter
        self._programs: dict[BuildKey, cl.Program] = {}
        self._failures: dict[BuildKey, BuildFailed] = {}
        self._open()

    def _open(self) -> None:
        with named_failures(f"opening device `{self.device.name.strip()}`"):
            self.context = cl.Context([self.device])
            self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def program(self, request: MeasureRequest) -> cl.Program:
        """Return the built program. Raises BuildFailed, for the same source and options without a new attempt."""
        key = build_key(request)
        if key in self._failures:
            raise self._failures[key]
        if key not in self._programs:
            phase = Phase(f"building kernel `{request.kernel.name}`", self._limit_s, on_crash=ON_COMPILER_CRASH)
            self._reporter.begin(0.0, "building", phase)
            try:
                self._programs[key] = build(self.context, request.source, request.path, request.launch.options)
            except BuildFailed as error:
                self._failures[key] = error
                raise
        return self._programs[key]

    def has(self, request: MeasureRequest) -> bool:
        return build_key(request) in self._programs or build_key(request) in self._failures

    def forget(self) -> None:
        """Begin anew: after a driver's error nothing that lives in its context can be trusted."""
        self._programs.clear()
        self._open()


def kernel_of(program: cl.Program, request: MeasureRequest) -> cl.Kernel:
    """Return the kernel of a request.

    Raises BuildFailed or MeasureError if the program holds another kernel than was read in the source.
    """
    name = request.kernel.name
    kernel = kernel_named(program, name)
    expected = len(request.kernel.parameters)
    if kernel.num_args != expected:
        raise MeasureError(f"kernel `{name}` takes {kernel.num_args} arguments, but {expected} were read in its source")
    return kernel


@dataclass(frozen=True, slots=True)
class Trial:
    """A built kernel with its queue and context, for a trial run; the caller sets its arguments."""

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
