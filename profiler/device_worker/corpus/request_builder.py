"""From a kernel of the corpus and its launch to what the rest of the profiler understands."""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

from model.errors import KernelcastError
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.measurement import MeasureError, MeasureRequest


class Asking:
    """Owns what was read of the last kernel: its launches follow one another.

    What was read lies in `folder`, too, for other processes: to read a source takes as long as to time a short launch.
    """

    def __init__(self, device_id: str, folder: Path) -> None:
        self._device_id = device_id
        self._folder = folder / "kernels"
        self._last: tuple[tuple[object, ...], Kernel] | None = None

    def request(self, kernel: CorpusKernel, launch: CorpusLaunch) -> MeasureRequest:
        """As `kernelcast measure` would be asked, with all build options in the launch. Raises MeasureError."""
        options = kernel.options.merged(launch.launch.options)
        read = self._read(kernel, options)
        whole = replace(launch.launch, options=options)
        return MeasureRequest(kernel.source, kernel.path, read, whole, self._device_id, proved=launch.checked)

    def _read(self, kernel: CorpusKernel, options: BuildOptions) -> Kernel:
        key = (kernel.source, kernel.path, kernel.name, options)
        if self._last is None or self._last[0] != key:
            kept = self._folder / hashlib.sha256(repr(key).encode()).hexdigest()
            self._last = key, _unpickled(kept) or _pickled(kept, _kernel(kernel, options))
        return self._last[1]


def _kernel(kernel: CorpusKernel, options: BuildOptions) -> Kernel:
    path = Path(kernel.path) if kernel.path else None
    try:
        return read_program(kernel.source, path, options).kernel(kernel.name)
    except KernelcastError as error:
        raise MeasureError(error.message) from error


def _unpickled(kept: Path) -> Kernel | None:
    """Only what processes of the same collection wrote lies there."""
    if not kept.exists():
        return None
    found = pickle.loads(kept.read_bytes())
    return found if isinstance(found, Kernel) else None


def _pickled(kept: Path, kernel: Kernel) -> Kernel:
    kept.parent.mkdir(parents=True, exist_ok=True)
    number, part = tempfile.mkstemp(dir=kept.parent)
    with os.fdopen(number, "wb") as file:
        pickle.dump(kernel, file)
    Path(part).rename(kept)  # whole or not at all, whoever reads it meanwhile
    return kernel
