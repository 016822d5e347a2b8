"""Compile kernels for a device without running them, and tell what its compiler made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.compiled import CompiledFacts, is_small_grid
from model.launch.driver_choice import effective_local_size
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.extract_kernels import with_only
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, MeasureError, TimedOut
from profiler.process.messages import Phase
from profiler.process.worker import CancelToken, Limits, OnProgress, run_job


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Plain data, so that it can be sent to the device process. Of the launch only sizes and options matter."""

    source: str  # the user's whole text, as in the editor
    path: str | None  # for #include "..." next to the file, and for messages
    kernel: Kernel
    launch: Launch
    device_id: str


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """How long each part may take, how much memory all of it (0: no limit), and at which priority."""

    open_s: float = 30.0
    build_s: float = 120.0  # of all kernels of a group
    memory_bytes: int = 0
    niceness: int = 0


def compile_facts(
    request: CompileRequest,
    *,
    limits: CompileLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> CompiledFacts:
    """Build, ask and read; nothing runs. Blocks until done, safe in any thread.

    Raises a `MeasureError`: BuildFailed (with the user's line), KernelCrashed for a compiler that crashes, TimedOut,
    OutOfResources, DeviceGone or Cancelled.
    """
    (outcome,) = compile_program((request,), limits=limits, on_progress=on_progress, cancel=cancel)
    if isinstance(outcome, MeasureError):
        raise outcome
    return outcome


def compile_program(
    requests: Sequence[CompileRequest],
    *,
    limits: CompileLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[CompiledFacts | MeasureError, ...]:
    """As `compile_facts`, for several kernels or local sizes of one source, its options and one device.

    An outcome for each; raises only Cancelled.
    """
    outcomes: dict[int, CompiledFacts | MeasureError] = {}
    groups = _groups(requests)
    for place, numbers in enumerate(groups):

        def tell(fraction: float, text: str, place: int = place) -> None:
            if on_progress is not None:
                on_progress((place + fraction) / len(groups), text)

        together = [requests[number] for number in numbers]
        found = _outcomes(together, _Terms(limits or CompileLimits(), tell, cancel))
        outcomes.update(zip(numbers, found, strict=True))
    return tuple(outcomes[number] for number in range(len(requests)))


@dataclass(frozen=True, slots=True)
class _Terms:
    limits: CompileLimits
    on_progress: OnProgress
    cancel: CancelToken | None


def _outcomes(requests: Sequence[CompileRequest], terms: _Terms) -> tuple[CompiledFacts | MeasureError, ...]:
    try:
        return _compile(requests, terms)
    except Cancelled:
        raise
    except (KernelCrashed, TimedOut) as error:
        if len(requests) == 1:
            return (error,)
        # One kernel that its compiler cannot cope with must not cost the others.
        return tuple(outcome for request in requests for outcome in _outcomes((request,), terms))
    except MeasureError as error:
        return (error,) * len(requests)


def _groups(requests: Sequence[CompileRequest]) -> list[list[int]]:
    """Return what goes into one process: PoCL compiles every kernel for every local size that it is told."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, request in enumerate(requests):
        variant = (effective_local_size(request.launch, request.kernel), is_small_grid(request.launch))
        groups.setdefault(variant if "pocl" in request.device_id else (), []).append(number)
    return list(groups.values())


def _compile(requests: Sequence[CompileRequest], terms: _Terms) -> tuple[CompiledFacts | MeasureError, ...]:
    first = requests[0]
    names = {request.kernel.name for request in requests}
    alone = with_only(names, first.source, first.path, first.launch.options)
    try:
        return _with_lines([replace(request, source=alone) for request in requests], terms)
    except BuildFailed:
        if alone == first.source:
            raise
        return _with_lines(requests, terms)  # one kernel calls another, most likely


def _with_lines(requests: Sequence[CompileRequest], terms: _Terms) -> tuple[CompiledFacts | MeasureError, ...]:
    try:
        return _run(requests, terms, with_lines=True)
    except KernelCrashed:
        return _run(requests, terms, with_lines=False)  # PoCL 3.0 crashes on the lines of samplers in program scope


def _run(
    requests: Sequence[CompileRequest], terms: _Terms, *, with_lines: bool
) -> tuple[CompiledFacts | MeasureError, ...]:
    opening = Phase(f"opening device `{requests[0].device_id}`", terms.limits.open_s)
    return run_job(
        "profiler.device_worker.compiling:run",
        (tuple(requests), terms.limits, with_lines),
        returns=tuple,
        limits=Limits(opening, terms.limits.memory_bytes, terms.limits.niceness),
        on_progress=terms.on_progress,
        cancel=terms.cancel,
    )
