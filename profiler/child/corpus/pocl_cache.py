"""What PoCL compiles in this process: read, and passed on to the folder that all processes share.

Each build process has a cache of its own, so that what a launch has just compiled can be told apart, and so that no
other process ever finds a program that is half there. Where things lie is that of PoCL 3.0, `lib/CL/pocl_cache.c`:
`XX/REST-OF-HASH/program.bc` and `XX/REST-OF-HASH/KERNEL/VARIANT/KERNEL.so`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

VARIANTS = "*/*/*/*/"
PROGRAM = "program.bc"
LIBRARIES = "*.so"
OBJECTS = "*.so.o"


class OwnCache:
    """Owns `folder`, in which PoCL compiles; what is finished goes to `shared`."""

    def __init__(self, folder: Path, shared: Path) -> None:
        self._folder, self._shared = folder, shared
        self._known: frozenset[Path] = frozenset()

    def new_variants(self) -> list[Path]:
        """Folders of code that was compiled since this was asked last, each of one kernel and local size."""
        found = frozenset(path for path in self._folder.glob(VARIANTS) if any(path.glob(LIBRARIES)))
        new = sorted(found - self._known)
        self._known = found
        return new

    def publish(self, variants: list[Path]) -> None:
        """Let other processes find them. What they have already stays as it is."""
        for variant in variants:
            program = variant.parent.parent
            to = self._shared / variant.relative_to(self._folder)
            _copied(program / PROGRAM, to.parent.parent / PROGRAM)
            for library in variant.glob(LIBRARIES):
                _copied(library, to / library.name)


def object_file(variant: Path) -> Path | None:
    """Of the code in that folder, where PoCL was told to leave it."""
    return next(variant.glob(OBJECTS), None)


def _copied(file: Path, to: Path) -> None:
    if to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=to.parent, delete=False) as part, file.open("rb") as whole:
        shutil.copyfileobj(whole, part)
    part_path = Path(part.name)
    part_path.chmod(0o755)
    part_path.rename(to)  # whole or not at all
