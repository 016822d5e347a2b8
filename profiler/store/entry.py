"""What is kept of one measurement."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from model.launch.launch import Launch
from profiler.measurement import Measurement


@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """A measurement with what was predicted for it then, and which kernel of which file it was.

    `launch` has all its sizes and arguments; None for those kept before launches were. `question` is what the learned
    model was asked of it, packed; it is kept, and comes back from `Store.lessons` and `Store.versions` alone.
    """

    measurement: Measurement
    predicted_us: float | None
    kernel_id: str
    launch: Launch | None = None
    question: bytes = field(default=b"", compare=False, repr=False)

    @property
    def error_percent(self) -> float | None:
        """How far the prediction was off: positive when it was too slow."""
        if self.predicted_us is None or self.measurement.median_us <= 0:
            return None
        return (self.predicted_us / self.measurement.median_us - 1) * 100


CORPUS = "/kernelcast-corpus/"  # in place of a folder of the user's


def corpus_kernel_id(family: str, kernel_name: str) -> str:
    """As `kernel_id`, for a kernel that the corpus' generator made."""
    return f"{CORPUS}{family}::{kernel_name}"


def corpus_family(kernel_id: str) -> str:
    """Return the family that `corpus_kernel_id` was given; "" for a user's kernel."""
    return kernel_id.removeprefix(CORPUS).partition("::")[0] if kernel_id.startswith(CORPUS) else ""


def kernel_id(path: str | os.PathLike[str] | None, kernel_name: str) -> str:
    """Return the same before and after an edit: file and kernel name. Text that was never saved goes by name alone."""
    file = str(Path(path).resolve()) if path else ""
    # File names may hold bytes that are no text, which SQLite would refuse.
    return f"{file.encode('utf-8', 'surrogateescape').decode('utf-8', 'backslashreplace')}::{kernel_name}"
