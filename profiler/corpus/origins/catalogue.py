"""The catalogue of a working folder: other people's kernels with their launches, one JSON line each, by origin."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from profiler.corpus.kernel import CorpusKernel
from profiler.corpus.origins.origin import Origin, read_origins
from profiler.store.as_json import CONVERTER


@dataclass
class Summary:
    """What became of an origin's programs and kernels; `dropped` counts by reason.

    `complaints` are about its launch table, each with the line.
    """

    origin: str
    version: str
    licence: str
    programs: int = 0
    kernels_built: int = 0
    kernels: int = 0  # in the catalogue
    launches: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class OriginFiles:
    """Where an origin's part of the catalogue lies."""

    kernels: Path
    done: Path  # references of programs that need not be looked at again
    summary: Path


def files_of(origin: Origin, folder: Path) -> OriginFiles:
    at = folder / "catalogue" / origin.folder_name
    return OriginFiles(
        at.with_name(f"{at.name}.jsonl"), at.with_name(f"{at.name}.done"), at.with_name(f"{at.name}.json")
    )


def real_kernels(folder: Path, origins: tuple[Origin, ...] | None = None) -> Iterator[CorpusKernel]:
    """Yield all that is prepared below `folder`, also while more is being prepared.

    Of kernels that are alike, the first origin's.
    """
    known: set[str] = set()
    for origin in read_origins() if origins is None else origins:
        kept = 0
        for kernel in kernels_in(files_of(origin, folder).kernels):
            if kernel.id not in known and kept < origin.most_kernels:
                known.add(kernel.id)
                kept += 1
                yield kernel


def kernels_in(path: Path) -> Iterator[CorpusKernel]:
    """Of one file, without lines that are still being written, or never were to their end.

    The programs of the latter are not noted as done, so their kernels come again.
    """
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                plain = json.loads(line)
            except json.JSONDecodeError:
                continue
            yield CONVERTER.structure(plain, CorpusKernel)


def append(path: Path, lines: list[str]) -> None:
    """In one piece, so that whoever reads meanwhile sees whole lines; a torn line of a killed process is closed."""
    if not lines:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, (("\n" if is_torn else "") + "".join(f"{line}\n" for line in lines)).encode())
    finally:
        os.close(descriptor)


def kernel_line(kernel: CorpusKernel) -> str:
    return json.dumps(CONVERTER.unstructure(kernel))


def write_summary(path: Path, summary: Summary) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps({**vars(summary), "dropped": dict(summary.dropped)}), encoding="utf-8")
    part.replace(path)


def read_summary(origin: Origin, folder: Path) -> Summary:
    path = files_of(origin, folder).summary
    if not path.exists():
        return Summary(origin.name, origin.version, origin.licence)
    values = json.loads(path.read_text(encoding="utf-8"))
    return Summary(**{**values, "dropped": Counter(values["dropped"])})
