"""Compile kernels for a device without running them, and tell what its compiler made of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from model.compiled import CompiledFacts, UnreadableFacts, facts_from_json, facts_to_json, key_of, moved_to
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.measurement import MeasureError
from profiler.messages import Phase
from profiler.store import Store
from profiler.worker import CancelToken, Limits, OnProgress, run_job


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
    build_s: float = 120.0  # of all kernels of a program: drivers compile no single one
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
    """As `compile_facts`, for several kernels or local sizes of one source, its options and one device; one build.

    An outcome for each; raises what concerns them all, such as BuildFailed.
    """
    limits = limits or CompileLimits()
    opening = Phase(f"opening device `{requests[0].device_id}`", limits.open_s)
    # Made and removed here, since the device process may be killed. PoCL's cache goes there, its code with it.
    with tempfile.TemporaryDirectory(prefix="kernelcast-", ignore_cleanup_errors=True) as folder:
        return run_job(
            "profiler.child.compiling:run",
            (tuple(requests), limits, folder),
            returns=tuple,
            limits=Limits(opening, limits.memory_bytes),
            on_progress=on_progress,
            cancel=cancel,
        )


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
