"""What PoCL has compiled in this process, in a cache of the process's own.

Where things lie is that of PoCL 3.0, `lib/CL/pocl_cache.c`: `XX/REST-OF-HASH/program.bc` and
`XX/REST-OF-HASH/KERNEL/VARIANT/KERNEL.so`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

VARIANTS = "*/*/*/*/"
ANY_SIZE = "0-0-0"
LIBRARIES = "*.so"
OBJECTS = "*.so.o"
KNOWN_VERSIONS = ("3.0",)


class OwnCache:
    """Owns the folder. To be made before PoCL is loaded, which looks for it once."""

    def __init__(self) -> None:
        # Below the job's own folder, which is removed with it.
        self._folder = Path(tempfile.mkdtemp(prefix="cache-"))
        self._known: frozenset[Path] = frozenset()
        os.environ.update(POCL_CACHE_DIR=str(self._folder), POCL_KERNEL_CACHE="1")

    def new_variants(self) -> list[Path]:
        """Folders of code that was compiled since this was asked last, each of one kernel and local size."""
        found = frozenset(path for path in self._folder.glob(VARIANTS) if any(path.glob(LIBRARIES)))
        new = sorted(found - self._known)
        self._known = found
        return new

    def drop_any_size(self) -> None:
        """After a binary was loaded: with its bitcode at hand, PoCL compiles for local sizes that it does not hold."""
        for stand_in in self._folder.glob(f"*/*/*/{ANY_SIZE}"):
            shutil.rmtree(stand_in)


def object_file(variant: Path) -> Path | None:
    """Of the code in that folder, where PoCL was told to leave it."""
    return next(variant.glob(OBJECTS), None)


def spare_any_size(variant: Path) -> None:
    """Let PoCL write a binary of what it has compiled without compiling the kernel once more, for any local size.

    It looks whether that code is there, and takes what it finds: here a copy of the code in the folder `variant`, which
    must not run for other local sizes. See `OwnCache.drop_any_size`.
    """
    kernel = variant.parent
    for library in variant.glob(LIBRARIES):
        stand_in = kernel / ANY_SIZE / library.name
        if not stand_in.exists():
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library, stand_in)
