"""How far a text may reach: which files its directives, annotations and configuration can have read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from model.opencl.installed_headers import is_installed
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
    return reach is None or reach.holds(path) or is_installed(str(path))
