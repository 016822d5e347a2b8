"""`kernelcast dataset generate`: kernels of our own generator into the store."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice

from profiler.corpus.collection.folder import work_folder
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import kernels
from profiler.corpus.kernel import CorpusKernel
from server.cli.status import ANSWERED, WrongCallError
from server.cli.streams import warn
from server.cli.terminal import OnProgress, progress_bar


def run(arguments: argparse.Namespace) -> int:
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
