"""Let the tests' own programs use PoCL on a processor that its compiler does not know, as Kernelcast's processes do.

On PYTHONPATH on such machines alone; nothing is loaded until a program imports PyOpenCL.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder


class _BeforePyOpenCL(MetaPathFinder):
    """Name the processor, then leave the import to the others."""

    def __init__(self) -> None:
        self._is_named = False

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pyopencl" and not self._is_named:
            self._is_named = True  # first, for what follows looks for PyOpenCL, too
            from profiler.device_worker.unknown_processor import name_processor

            name_processor()


sys.meta_path.insert(0, _BeforePyOpenCL())
