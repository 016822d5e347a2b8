"""Compile kernels for a device without running them, and tell what its compiler made of them."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from model.compiled import CompiledFacts, UnreadableFacts, facts_from_json, facts_to_json
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.measurement import MeasureError
from profiler.messages import Phase
from profiler.store import Store
from profiler.worker import CancelToken, Limits, OnProgress, run_job

# PoCL writes other code where every global size is below this: no index can overflow then.
SMALL_GRID = 65_535


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Plain data, so that it can be sent to the device process. Of the launch only sizes and options matter."""

    source: str  # the user's whole text, as in the editor
    path: str | None  # for #include "..." next to the file, and for messages
    kernel: Kernel
    launch: Launch
    device_id: str

    @property
    def is_small(self) -> bool:
        return max(self.launch.global_size) < SMALL_GRID


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


def known_facts(store: Store, request: CompileRequest, driver: str) -> CompiledFacts | None:
    """What was kept of exactly this kernel, its options and local size on this device and driver. Raises StoreError."""
    kernel = request.kernel.fingerprint
    text = store.compiled(kernel, _options(request), request.launch.local_size, request.device_id, driver)
    try:
        return facts_from_json(text) if text is not None else None
    except UnreadableFacts:
        return None  # of another version: it is compiled again


def keep_facts(store: Store, request: CompileRequest, facts: CompiledFacts) -> None:
    """Raises StoreError."""
    store.keep_compiled(
        request.kernel.fingerprint,
        _options(request),
        request.launch.local_size,
        request.device_id,
        facts.driver,
        facts_to_json(facts),
    )


def _options(request: CompileRequest) -> str:
    """Build options, and what else decides the code: PoCL writes two versions by the size of the grid."""
    written = shlex.join(request.launch.options.arguments())
    return f"{written} (grid below {SMALL_GRID})" if request.is_small and "pocl" in request.device_id else written
