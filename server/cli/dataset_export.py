"""`kernelcast dataset export`: what a collection has found as Parquet files."""

from __future__ import annotations

import argparse

from profiler.corpus.collection.folder import work_folder
from profiler.corpus.dataset.export import export
from profiler.corpus.facts.devices import FILE_NAME, add_calibrated
from server.cli.status import ANSWERED


def run(arguments: argparse.Namespace) -> int:
    """Export the store; a collection may go on meanwhile."""
    works = [work_folder(work) for work in arguments.works or [None]]
    summary = export(works, arguments.data, machine=arguments.machine, adds=arguments.adds)
    print(summary)
    for name, size in summary.file_bytes:
        print(f"  {name:<18} {size / 1e6:7.2f} MB")
    for name in add_calibrated(arguments.data):
        print(f"the profile of {name} is new in {FILE_NAME}")
    return ANSWERED
