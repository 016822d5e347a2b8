"""Proof for devices without guard pages: the same launch elsewhere first, in a process of its own that may be ended.

First on a CPU device of this machine, with guard pages there: its compiler reads the same source, and its runs are
bounded in time. Then under Oclgrind, a simulator that checks each access, for launches small enough for it: a smaller
launch would say nothing about this one. What fails there for reasons of its own (no half floats, an extension that is
missing, too long) proves nothing, and the next is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiler.device_worker.guards.oclgrind import find_oclgrind
from profiler.measurement import MeasureError, MeasureRequest, OutOfBounds
from profiler.process.messages import Phase
from profiler.process.worker import Limits, run_job

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

LIMIT_S = 20.0
SIMULATED_LIMIT_S = 30.0
MOST_SIMULATED_ITEMS = 1 << 16  # Oclgrind runs about a million instructions a second
SLACK_S = 5.0  # for the process to be started and ended


def prove_elsewhere(request: MeasureRequest, reporter: Reporter) -> str:
    """Return the word for `Measurement.checked`; empty where nothing could be proved. Raises OutOfBounds."""
    subject = f"kernel `{request.kernel.name}`"
    items = request.launch.work_items
    places = [("profiler.device_worker.guards.elsewhere_jobs:on_a_cpu", "checking bounds on the processor", LIMIT_S)]
    if find_oclgrind() is not None and items <= MOST_SIMULATED_ITEMS:
        places.append(
            (
                "profiler.device_worker.guards.elsewhere_jobs:under_oclgrind",
                "checking bounds under Oclgrind",
                SIMULATED_LIMIT_S,
            )
        )
    for target, text, limit_s in places:
        reporter.begin(0.05, text, Phase(subject, limit_s + SLACK_S))
        try:
            word = run_job(target, (request,), returns=str, limits=Limits(Phase(subject, limit_s)))
        except OutOfBounds:
            raise
        except MeasureError as error:
            reporter.progress(0.05, f"{text} was not possible: {error.message}")
            word = ""
        if word:
            return word
    return ""
