"""Proves launches of other people's kernels on a device, with longer buffers where guessed lengths were too short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profiler.buffer_retry import MAX_TRIES, enlarged
from profiler.corpus.origins.jobs import PROVE_JOB, RUN_S, ProofTry, Proved, outcomes
from profiler.measurement import MeasureError, MeasureRequest, OutOfBounds


def proved(tries: Sequence[ProofTry], device_id: str) -> list[tuple[ProofTry, Proved | MeasureError]]:
    """Return each try as it was made in the end, with what became of it."""
    made = list(tries)
    found: dict[int, Proved | MeasureError] = {}
    for _ in range(MAX_TRIES + 1):
        waiting = [number for number in range(len(made)) if number not in found]
        if not waiting:
            break
        for number, outcome in zip(
            waiting, outcomes(PROVE_JOB, device_id, [made[n] for n in waiting], RUN_S, Proved), strict=True
        ):
            longer = _longer(made[number], outcome, device_id) if isinstance(outcome, OutOfBounds) else None
            if longer is None:
                found[number] = outcome
            else:
                made[number] = longer
    late = MeasureError("no length is enough for a buffer of this launch")
    return [(one, found.get(number, late)) for number, one in enumerate(made)]


def _longer(one: ProofTry, error: OutOfBounds, device_id: str) -> ProofTry | None:
    again = enlarged(MeasureRequest(one.text, None, one.kernel, one.launch, device_id), error)
    return replace(one, launch=again.launch) if again is not None else None
