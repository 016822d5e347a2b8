"""What was shown before: that a launch accesses nothing out of bounds need not be proved twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profiler.measurement import MeasureRequest
from profiler.store import Store, StoreError


def with_proofs(requests: Sequence[MeasureRequest], driver: str, store: Store | None) -> list[MeasureRequest]:
    """Return each request with how an earlier measurement of the same kernel, launch, device and driver was checked."""
    return [replace(request, proved=_proof(request, driver, store)) for request in requests]


def _proof(request: MeasureRequest, driver: str, store: Store | None) -> str:
    if store is None:
        return ""
    try:
        found = store.measurements_of(request.kernel.fingerprint, request.device_id, driver)
    except StoreError:  # then it is proved anew
        return ""
    earlier = (each.measurement for each in found if each.measurement.launch_key == request.launch.key)
    return next((m.proof for m in earlier if m.proof), "")
