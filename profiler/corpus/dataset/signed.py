"""Signatures of kernels whose sources are at hand, kept beside the collection: reading sources takes long."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

from model.opencl.normalise import normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.signatures import signature
from profiler.corpus.kernel import CorpusKernel

KEPT = "signatures.json"


class Signer:
    """Owns the file of signatures that were worked out before; saves it at the end."""

    def __init__(self, work: Path) -> None:
        self._path = work / KEPT
        self._known: dict[str, tuple[int, str]] = {}
        self._is_changed = False

    def __enter__(self) -> Self:
        try:
            self._known = {name: (int(n), str(s)) for name, (n, s) in json.loads(self._path.read_text("ascii")).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self._known = {}  # none yet, or cut short: they are worked out again
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_changed:
            self._path.write_text(json.dumps(self._known), "ascii")

    def sign(self, kernel: CorpusKernel) -> tuple[int, bytes]:
        """Return how many tokens the kernel has, and its signature. Raises DatasetError."""
        if kernel.id not in self._known:
            program = _read(kernel.source, kernel.path, kernel.options)
            if kernel.name not in program.meanings:
                where = f"{kernel.reference} ({kernel.origin})"
                raise DatasetError(f"the kernel `{kernel.name}` of {where} is not in its source any more")
            tokens = normalised_tokens(program, kernel.name)
            self._known[kernel.id] = len(tokens), signature(tokens).hex()
            self._is_changed = True
        count, made = self._known[kernel.id]
        return count, bytes.fromhex(made)


@lru_cache(4)  # the kernels of one file come after one another
def _read(source: str, path: str | None, options: BuildOptions) -> Program:
    return read_program(source, Path(path) if path else None, options)
