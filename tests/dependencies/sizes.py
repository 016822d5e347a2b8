"""What an installation takes on the disk: the default one, and each extra. Run `python -m tests.dependencies.sizes`.

Sizes are those of the files that the installed packages list, in the environment that runs this, without the bytecode
that pip adds and uv does not.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.dependencies.tools import REPOSITORY

PROJECT = "kernelcast"
DOCUMENTED = ("pocl", "intel", "offline", "parquet", "picture", "corpus", "cluster", "train")  # for users, not for us
_PACKAGES = ("server", "model", "profiler")
_NOT_SHIPPED = {".md", ".png", ".parquet", ".pyc"}


def closure(*extras: str) -> set[str]:
    """Return the names of all packages of an installation, this project's left out.

    Raises `metadata.PackageNotFoundError` where one of them is not installed here.
    """
    found: set[str] = set()
    left = [Requirement(f"{PROJECT}[{','.join(extras)}]" if extras else PROJECT)]
    while left:
        wanted = left.pop()
        for text in metadata.distribution(wanted.name).requires or ():
            needed = Requirement(text)
            applies = [not needed.marker or needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)]
            name = canonicalize_name(needed.name)
            if any(applies) and (name not in found or needed.extras):
                found.add(name)
                left.append(needed)
    return found


def size_mb(names: set[str]) -> float:
    """Return what these packages take [MB, 1e6 bytes]."""
    files = [file for name in names for file in metadata.files(name) or ()]
    paths = {Path(str(file.locate())) for file in files if file.suffix != ".pyc"}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def own_size_mb() -> float:
    """Return what this project's own files take [MB], as they ship."""
    files = (file for package in _PACKAGES for file in (REPOSITORY / package).rglob("*"))
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix not in _NOT_SHIPPED) / 1e6


def sizes() -> dict[str, float | None]:
    """Return MB of the default installation under "", and what each extra adds; None for those not installed here."""
    default = closure()
    found: dict[str, float | None] = {"": own_size_mb() + size_mb(default)}
    for extra in DOCUMENTED:
        try:
            found[extra] = size_mb(closure(extra) - default)
        except metadata.PackageNotFoundError:
            found[extra] = None
    return found


def main() -> int:
    for extra, size in sizes().items():
        print(f"{extra or 'default':10} {'not installed' if size is None else f'{size:8.0f} MB'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
