"""From a kernel of the corpus and its launch to what the rest of the profiler understands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model.errors import KernelcastError
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.measurement import MeasureError, MeasureRequest


class Asking:
    """Owns what was read of the last kernel: its launches follow one another."""

    def __init__(self, device_id: str) -> None:
        self._device_id = device_id
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
            path = Path(kernel.path) if kernel.path else None
            try:
                self._last = key, read_program(kernel.source, path, options).kernel(kernel.name)
            except KernelcastError as error:
                raise MeasureError(error.message) from error
        return self._last[1]
