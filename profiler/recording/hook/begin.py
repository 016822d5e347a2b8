"""Begin recording in a Python program: wait until it imports PyOpenCL, then wrap PyOpenCL's calls."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_WATCHED = "pyopencl"


class _Watch:
    """A finder that leaves the search to the others, and wraps PyOpenCL once it is loaded.

    It stays until then: a program may look for PyOpenCL (`importlib.util.find_spec`) long before it imports it.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != _WATCHED:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                self._wrap_when_loaded(spec.loader)
                return spec
        return None

    def _wrap_when_loaded(self, loader: Any) -> None:
        loaded = getattr(loader, "exec_module", None)
        if loaded is None:  # a namespace package: a folder of that name
            return

        def exec_module(module: ModuleType) -> None:
            loaded(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _wrap(module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            sys.stderr.write("kernelcast: PyOpenCL is loaded in an unknown way, and its launches are not recorded\n")


def begin() -> None:
    """Watch for PyOpenCL."""
    sys.meta_path.insert(0, _Watch())


def _wrap(pyopencl: ModuleType) -> None:
    folder = os.environ.get("KERNELCAST_RECORD_DIR", "")
    if not folder:
        return
    try:
        log = _module("log_files").LogFiles(folder)
        sender = _module("contents_sender").ContentsSender(pyopencl, os.environ, log)
        try:
            arguments = _module("arguments").Arguments(pyopencl)
            counting = _module("launches")
            programs = _module("programs").Programs(pyopencl, log)
            launches = counting.Launches(pyopencl, log, arguments, programs, sender)
            profile = os.environ.get("KERNELCAST_RECORD_PROFILE") == "1"
            _module("calls").install(pyopencl, arguments, launches, counting.sizes_of, log, profile=profile)
            programs.install()
            sender.install()
        except AttributeError as error:
            version = getattr(pyopencl, "VERSION_TEXT", "?")
            log.problem(f"PyOpenCL {version} is not built as expected, and its launches are not recorded: {error}")
    except Exception as error:  # noqa: BLE001 - an error of ours must not keep the program from running
        sys.stderr.write(f"kernelcast: launches of PyOpenCL are not recorded: {error!r}\n")


def _module(name: str) -> Any:
    """Load one of the modules beside this one, under a name that no program uses."""
    spec = importlib.util.spec_from_file_location(f"_kernelcast_hook_{name}", os.path.join(_HERE, f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
