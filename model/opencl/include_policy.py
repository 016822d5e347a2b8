"""How far a text may reach: which files its directives, annotations and configuration can have read.

Headers that PyOpenCL brings along, such as `<pyopencl-complex.h>`, may be included by each program that it builds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from model.safe_read import can_be_opened

OUT_OF_REACH = "lies outside of this workspace, of which the editor has not said that it is trusted, and is not read"


@dataclass(frozen=True, slots=True)
class Reach:
    """These folders and all below them, as they are written and as they are."""

    folders: tuple[str, ...]

    @staticmethod
    def of(folders: Iterable[Path]) -> Reach:
        every = (each for folder in folders for each in (os.path.abspath(folder), os.path.realpath(folder)))
        return Reach(tuple(dict.fromkeys(os.path.normcase(each) for each in every)))

    def holds(self, path: str | Path) -> bool:
        r"""Return whether both the path and what it leads to are inside.

        The path is looked at first: where it points elsewhere the disk is not asked, for the question alone can tell
        another machine who we are (`\\host\share`, /net/host).
        """
        return can_be_opened(str(path)) and self._holds(os.path.abspath(path)) and self._holds(os.path.realpath(path))

    def _holds(self, path: str) -> bool:
        path = os.path.normcase(path)
        return any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep) for folder in self.folders)


def can_be_read(path: str | Path, reach: Reach | None) -> bool:
    """Return whether an include may be opened: within reach, or a header that PyOpenCL brings. No reach is no limit."""
    return reach is None or reach.holds(path) or _is_installed(str(path))


@lru_cache(1)
def headers_folder() -> str | None:
    """Return PyOpenCL's include folder, which it names to every driver; None where PyOpenCL is not installed."""
    found = find_spec("pyopencl")
    for place in (found.submodule_search_locations or ()) if found is not None else ():
        folder = os.path.join(place, "cl")
        if os.path.isdir(folder):
            return folder
    return None


def _is_installed(path: str) -> bool:
    """Return whether a path, as it is written and as it is, lies in that folder."""
    folder = headers_folder()
    if folder is None:
        return False
    roots = folder + os.sep, os.path.realpath(folder) + os.sep
    return os.path.abspath(path).startswith(roots[0]) and os.path.realpath(path).startswith(roots[1])
