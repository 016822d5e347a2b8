"""`kernelcast dataset fetch`: kernels of other people's packages into the store."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from profiler.corpus.collection.folder import work_folder
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.origins.catalogue import real_kernels
from profiler.corpus.origins.origin import Origin, read_origins
from profiler.corpus.origins.prepare import prepare
from server.cli.status import ANSWERED, WrongCallError
from server.cli.streams import warn


def run(arguments: argparse.Namespace) -> int:
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
