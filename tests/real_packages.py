"""OpenCL C as it is out there: the sources of four packages, taken from PyPI and Debian when a test first wants them.

Nothing of theirs is part of this project: they lie in the virtual environment, beside all else that set-up downloads.
"""

from __future__ import annotations

import sys
from pathlib import Path

from profiler.corpus.origins.origin import OriginKind, read_origins
from profiler.corpus.origins.sources import Unreachable, sources

__all__ = ["CACHE", "DEBIAN", "PYPI", "Unreachable", "unpacked"]

CACHE = Path(sys.prefix) / "real-packages"
_PACKAGES = {
    f"{origin.place}{'==' if origin.kind is OriginKind.PYPI else '='}{origin.version}": origin
    for origin in read_origins()
    if origin.kind in (OriginKind.PYPI, OriginKind.DEBIAN)
}
PYPI = tuple(requirement for requirement in sorted(_PACKAGES) if "==" in requirement)
DEBIAN = tuple(requirement for requirement in sorted(_PACKAGES) if "==" not in requirement)


def unpacked(requirement: str) -> Path:
    """The folder with the OpenCL C of a package, downloaded when first asked for.

    `requirement` is one of `PYPI` or `DEBIAN`. Raises Unreachable.
    """
    return sources(_PACKAGES[requirement], CACHE)
