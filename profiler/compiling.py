"""Compile kernels for a device without running them, and tell what its compiler made of them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.compiled import (
    CompiledFacts,
    FactsKey,
    UnreadableFacts,
    facts_from_json,
    facts_to_json,
    is_small_grid,
    key_of,
    moved_to,
)
from model.launch.launch import Launch
from model.launch.local_size import effective_local_size
from model.opencl.kernel import Kernel
from profiler.kernels_alone import with_only
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, MeasureError, TimedOut
from profiler.process.messages import Phase
from profiler.process.worker import CancelToken, Limits, OnProgress, run_job
from profiler.store import Store, StoreError


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
    """How long each part may take, and how much memory all of it (0: no limit)."""

    open_s: float = 30.0
    build_s: float = 120.0  # of all kernels of a group
    memory_bytes: int = 0


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
    """What goes into one process: PoCL compiles every kernel for every local size that it is told."""
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
        "profiler.child.compiling:run",
        (tuple(requests), terms.limits, with_lines),
        returns=tuple,
        limits=Limits(opening, terms.limits.memory_bytes),
        on_progress=terms.on_progress,
        cancel=terms.cancel,
    )


def collect_facts(
    store: Store | None, requests: Sequence[CompileRequest], driver: str, cancel: CancelToken
) -> dict[FactsKey, CompiledFacts]:
    """What the store knows of these kernels, of one source and its options; the others are compiled, and kept.

    Those that cannot be compiled are left out. Raises Cancelled.
    """
    found: dict[FactsKey, CompiledFacts] = {}
    missing = []
    for request in requests:
        known = _known(store, request, driver)
        if known is None:
            missing.append(request)
        else:
            found[key_of(request.kernel, request.launch, request.device_id)] = known
    for request, outcome in zip(missing, compile_program(missing, cancel=cancel) if missing else (), strict=True):
        if isinstance(outcome, CompiledFacts):
            found[key_of(request.kernel, request.launch, request.device_id)] = outcome
            if store is not None:
                with contextlib.suppress(StoreError):  # told all the same, and compiled again another day
                    keep_facts(store, request, outcome)
    return found


def _known(store: Store | None, request: CompileRequest, driver: str) -> CompiledFacts | None:
    if store is None:
        return None
    try:
        return known_facts(store, request.kernel, request.launch, request.device_id, driver)
    except StoreError:
        return None


def known_facts(store: Store, kernel: Kernel, launch: Launch, device_id: str, driver: str) -> CompiledFacts | None:
    """What was kept of exactly this kernel, its options and local size on this device and driver. Raises StoreError."""
    text = store.compiled(*key_of(kernel, launch, device_id), device_id, driver)
    try:
        return moved_to(facts_from_json(text), kernel) if text is not None else None
    except UnreadableFacts:
        return None  # of another version: it is compiled again


def keep_facts(store: Store, request: CompileRequest, facts: CompiledFacts) -> None:
    """Raises StoreError."""
    key = key_of(request.kernel, request.launch, request.device_id)
    store.keep_compiled(*key, request.device_id, facts.driver, facts_to_json(facts))
