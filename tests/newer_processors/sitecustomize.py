"""Let the tests' own programs use PoCL on a processor that its compiler does not know, as Kernelcast's processes do.

On PYTHONPATH on such machines alone. Nothing is loaded until a program imports PyOpenCL: who merely looks for it, as
Kernelcast's server does in several threads, is not to be delayed.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class _BeforePyOpenCL:
    """A finder that finds PyOpenCL as ever, with a loader that names the processor first."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == "pyopencl" else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            from profiler.device_worker.unknown_processor import name_processor

            name_processor()
            load(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(sys.meta_path.index(PathFinder), _BeforePyOpenCL)  # type: ignore[arg-type]  behind a recording's
