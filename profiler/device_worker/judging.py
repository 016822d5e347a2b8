"""How good the learned model is on a device: in a process of its own, since the weights take memory and a second."""

from __future__ import annotations

from model.learned.device_accuracy import DeviceAccuracy, accuracy_from
from model.learned.learned import UnusableModel
from model.learned.lessons import Lessons
from profiler.device_worker.main import Reporter


def run(lessons: Lessons, _reporter: Reporter) -> tuple[DeviceAccuracy, ...]:
    """Return the accuracy, or nothing without lessons or a usable model, which is reported elsewhere."""
    try:
        found = accuracy_from(lessons)
    except UnusableModel:
        return ()
    return (found,) if found is not None else ()
