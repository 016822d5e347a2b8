"""`kernelcast dataset revisit`: kernels of a dataset into the store, to be measured on this machine as well."""

from __future__ import annotations

import argparse
from pathlib import Path

from profiler.corpus.collection.folder import work_folder
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.facts.revisit import revisited
from server.cli.status import ANSWERED
from server.cli.streams import warn


def run(arguments: argparse.Namespace) -> int:
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
