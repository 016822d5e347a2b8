"""Prepare the recording at the start of each Python interpreter of a recorded program.

The program's own `sitecustomize`, if it has one, runs afterwards, under its own name.
"""

from __future__ import annotations

import os
import sys


def _hand_on(here: str) -> None:
    """Run the next `sitecustomize` on the path in place of this one."""
    from importlib.machinery import PathFinder  # noqa: PLC0415 - loaded at every start anyway
    from importlib.util import module_from_spec  # noqa: PLC0415

    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.abspath(path) != here])
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _load(here: str) -> None:
    """Load the hook by its path and have it watch for PyOpenCL."""
    from importlib.util import module_from_spec, spec_from_file_location  # noqa: PLC0415

    spec = spec_from_file_location("_kernelcast_hook", os.path.join(os.path.dirname(here), "begin.py"))
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        module.begin()


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _here]
if os.environ.get("KERNELCAST_RECORD_DIR"):
    try:
        _load(_here)
    except Exception as error:  # noqa: BLE001 - a mistake of ours must not keep the program from running
        sys.stderr.write(f"kernelcast: this Python program is not recorded: {error!r}\n")
_hand_on(_here)
