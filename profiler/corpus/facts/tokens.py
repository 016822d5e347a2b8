"""The tokens of the dataset's kernels, for the baseline that reads text; kept in a file, as reading takes minutes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from model.errors import KernelcastError
from model.opencl.normalise import normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.reading import options_from, read_dataset
from profiler.corpus.facts.counting import LIMIT_S
from profiler.corpus.facts.pool import parallel_map
from profiler.corpus.facts.sources import SOURCE_COLUMNS, Seed, place_of, text_at
from profiler.corpus.kernel import GENERATOR
from profiler.corpus.origins.launching import time_limit
from profiler.corpus.origins.restore import restored_sources

Tokens = dict[str, tuple[str, ...]]  # by kernel id


def kernel_tokens(data: Path, sources: Path, kept: Path, *, processes: int, say: Callable[[str], None]) -> Tokens:
    """Of all kernels of the dataset in `data` whose source is there; `kept` is read first, and added to.

    `sources` is the folder where `kernelcast dataset facts --folder` left those of packages. Raises DatasetError.
    """
    found, restored = _read(kept), restored_sources(sources)
    kernels = read_dataset(data).kernels.select(SOURCE_COLUMNS).to_pylist()
    real = {each["id"] for each in kernels if each["origin"] != GENERATOR}
    if real and real.isdisjoint(restored.keys() | found.keys()):
        raise DatasetError(
            f"{sources} holds no source of this dataset's packages: "
            f"`kernelcast dataset facts {data} --folder {sources}` puts them there"
        )
    jobs = [
        _Job(each["id"], each["name"], options_from(each["options"]), place)
        for each in kernels
        if each["id"] not in found and (place := place_of(each, restored)) is not None
    ]
    new = {key: tokens for key, tokens in parallel_map(_tokens, jobs, processes, say, "read") if tokens} if jobs else {}
    if new:
        found = dict(sorted((found | new).items()))
        _write(kept, found)
    lost = sum(each["id"] not in found for each in kernels)
    say(f"{len(kernels) - lost} of {len(kernels)} kernels are read; {lost} whose source is not there are left out")
    return found


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    name: str
    options: BuildOptions
    source: str | Seed


def _tokens(job: _Job) -> tuple[str, tuple[str, ...]]:
    """None of a kernel whose source is another by now, or cannot be read."""
    text = text_at(job.source)
    if text is None:
        return job.id, ()
    try:
        with time_limit(LIMIT_S):
            return job.id, tuple(normalised_tokens(read_program(text, None, job.options), job.name))
    except (KernelcastError, RecursionError):
        return job.id, ()


def _read(path: Path) -> Tokens:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as lines:
        return {entry["id"]: tuple(entry["tokens"]) for entry in map(json.loads, lines)}


def _write(path: Path, tokens: Tokens) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f"{path.name}.{os.getpid()}")  # processes that train together all write the same
    with written.open("w", encoding="utf-8") as lines:
        for key, some in tokens.items():
            lines.write(json.dumps({"id": key, "tokens": some}) + "\n")
    written.replace(path)
