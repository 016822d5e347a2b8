"""What compilers made of kernels, kept in the store: asked for once for each driver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from model.compiled import (
    FACTS_VERSION,
    CompiledFacts,
    FactsKey,
    UnreadableFacts,
    facts_from_json,
    facts_to_json,
    key_of,
    moved_to,
)
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.compiling import CompileRequest, compile_program
from profiler.measurement import MeasureError
from profiler.process.worker import CancelToken
from profiler.store import Store, StoreError

Outcome = CompiledFacts | MeasureError
Compile = Callable[[Sequence[CompileRequest], CancelToken], Sequence[Outcome]]


def _by_driver(requests: Sequence[CompileRequest], cancel: CancelToken) -> Sequence[Outcome]:
    return compile_program(requests, cancel=cancel)


def collect_facts(
    store: Store | None,
    requests: Sequence[CompileRequest],
    driver: str,
    cancel: CancelToken,
    compile_all: Compile = _by_driver,
) -> dict[FactsKey, Outcome]:
    """Return what the store knows of these kernels, of one source and its options; the others are compiled, and kept.

    For those that cannot be compiled there is the error. Raises Cancelled.
    """
    found: dict[FactsKey, Outcome] = {}
    missing = []
    for request in requests:
        known = _known(store, request, driver)
        if known is None:
            missing.append(request)
        else:
            found[key_of(request.kernel, request.launch, request.device_id)] = known
    for request, outcome in zip(missing, compile_all(missing, cancel) if missing else (), strict=True):
        found[key_of(request.kernel, request.launch, request.device_id)] = outcome
        if isinstance(outcome, CompiledFacts) and store is not None:
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
    """Return the stored facts of exactly this kernel, its options and local size on this device and driver.

    Raises StoreError.
    """
    text = store.compiled(*key_of(kernel, launch, device_id), device_id, driver)
    try:
        facts = facts_from_json(text) if text is not None else None
    except UnreadableFacts:
        return None
    # What an older version read is read again, once: today's sees more.
    return moved_to(facts, kernel) if facts is not None and facts.version == FACTS_VERSION else None


def keep_facts(store: Store, request: CompileRequest, facts: CompiledFacts) -> None:
    """Store compiled facts. Raises StoreError."""
    key = key_of(request.kernel, request.launch, request.device_id)
    store.keep_compiled(*key, request.device_id, facts.driver, facts_to_json(facts))
