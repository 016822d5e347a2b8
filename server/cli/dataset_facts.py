"""`kernelcast dataset facts`: the launches of a dataset counted, for training."""

from __future__ import annotations

import argparse
from pathlib import Path

from profiler.corpus.collection.folder import work_folder
from profiler.corpus.facts.make import make_facts
from server.cli.status import ANSWERED
from server.cli.streams import warn


def run(arguments: argparse.Namespace) -> int:
    """Compute the dataset's facts; sources that were found before are not downloaded again."""
    folder: Path = (arguments.folder or work_folder(None) / "sources").absolute()
    made = make_facts(
        arguments.data,
        folder,
        mirrors=arguments.mirrors,
        processes=arguments.processes,
        say=warn,
        missing=arguments.missing,
    )
    warn(
        f"{made.launches} launches of {made.kernels} kernels are counted; the sources of {made.lost} were not found, "
        f"and {made.failed} were given up"
    )
    return ANSWERED
