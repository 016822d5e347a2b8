"""`kernelcast dataset generate`, `fetch` and `revisit`: kernels into the store, each step as often as one likes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from profiler.corpus.collection.folder import work_folder
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.facts.revisit import revisited
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import kernels
from profiler.corpus.kernel import CorpusKernel
from profiler.corpus.origins.catalogue import real_kernels
from profiler.corpus.origins.origin import Origin, read_origins
from profiler.corpus.origins.prepare import prepare
from server.cli.output import ANSWERED, WrongCallError, warn
from server.cli.terminal import OnProgress, progress_bar


def run_generate(arguments: argparse.Namespace) -> int:
    """Generate kernels; those that the store knows are not added again, so the same call can be repeated."""
    for name in arguments.families:
        if name not in FAMILIES:
            near = get_close_matches(name, FAMILIES, 4)
            raise WrongCallError(
                f"there is no family `{name}`; {'alike are' if near else 'there are'}: "
                f"{', '.join(near or sorted(FAMILIES))}"
            )
    folder = work_folder(arguments.workdir)
    store = CorpusStore(folder)
    try:
        with progress_bar("Generating") as on_progress:
            made = islice(kernels(arguments.families, processes=os.cpu_count() or 1), arguments.count)
            added = store.add_kernels(_told(made, arguments.count, on_progress))
    finally:
        store.close()
    warn(f"{added} kernels are new in {folder}")
    return ANSWERED


def _told(made: Iterator[CorpusKernel], count: int, on_progress: OnProgress) -> Iterator[CorpusKernel]:
    for at, kernel in enumerate(made):
        on_progress(at / count, f"{at} kernels")
        yield kernel


def run_fetch(arguments: argparse.Namespace) -> int:
    """Prepare what is missing: nothing is downloaded or built twice, so the same call can be repeated."""
    origins = _chosen(arguments.origins)
    work = work_folder(arguments.workdir)
    folder: Path = (arguments.folder or work / "sources").absolute()
    if not arguments.offline:
        prepare(folder, origins, mirrors=arguments.mirrors, processes=arguments.processes, on_progress=warn)
    store = CorpusStore(work)
    try:
        added = store.add_kernels(real_kernels(folder, origins))
    finally:
        store.close()
    warn(f"{added} kernels are new in {work}")
    return ANSWERED


def _chosen(names: list[str]) -> tuple[Origin, ...]:
    known = {origin.name: origin for origin in read_origins()}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 4)
            raise WrongCallError(f"there is no origin `{name}`; {'alike are' if near else 'there are'}: "
                                 f"{', '.join(near or sorted(known))}")  # fmt: skip
    return tuple(known[name] for name in names) if names else tuple(known.values())


def run_revisit(arguments: argparse.Namespace) -> int:
    """Add further launches of known kernels; the call can be repeated, as sources are looked for once."""
    work = work_folder(arguments.workdir)
    folder: Path = (arguments.folder or work / "sources").absolute()
    store = CorpusStore(work)
    try:
        added = store.add_kernels(
            revisited(
                arguments.data,
                folder,
                arguments.origins,
                mirrors=arguments.mirrors,
                processes=arguments.processes,
                say=warn,
            )
        )
    finally:
        store.close()
    warn(f"{added} kernels are new in {work}")
    return ANSWERED
