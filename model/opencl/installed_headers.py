"""Headers that PyOpenCL brings along: each program that it builds may include them, as `<pyopencl-complex.h>`."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec


@lru_cache(1)
def headers_folder() -> str | None:
    """Return PyOpenCL's include folder, which it names to every driver; None where PyOpenCL is not installed."""
    found = find_spec("pyopencl")
    for place in (found.submodule_search_locations or ()) if found is not None else ():
        folder = os.path.join(place, "cl")
        if os.path.isdir(folder):
            return folder
    return None


def is_installed(path: str) -> bool:
    """Return whether a path, as it is written and as it is, lies in that folder."""
    folder = headers_folder()
    if folder is None:
        return False
    roots = folder + os.sep, os.path.realpath(folder) + os.sep
    return os.path.abspath(path).startswith(roots[0]) and os.path.realpath(path).startswith(roots[1])
