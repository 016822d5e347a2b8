"""`kernelcast dataset export`, `facts`, `split`, `stats` and `paces`: a dataset's files, written and checked."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from model.errors import UnknownDevice
from profiler.corpus.collection.folder import work_folder
from profiler.corpus.dataset.export import export
from profiler.corpus.dataset.printed import print_statistics
from profiler.corpus.dataset.splits import split
from profiler.corpus.dataset.stats import review
from profiler.corpus.facts.devices import FILE_NAME, add_calibrated, read_devices, read_paces, write_paces
from profiler.corpus.facts.make import make_facts
from profiler.corpus.facts.slowdown import FEWEST, measure_pace
from server.cli.output import ANSWERED, SOME_FAILED, warn
from server.cli.terminal import out


def run_export(arguments: argparse.Namespace) -> int:
    """Export the store; a collection may go on meanwhile."""
    works = [work_folder(work) for work in arguments.works or [None]]
    summary = export(works, arguments.data, machine=arguments.machine, adds=arguments.adds)
    print(summary)
    for name, size in summary.file_bytes:
        print(f"  {name:<18} {size / 1e6:7.2f} MB")
    for name in add_calibrated(arguments.data):
        print(f"the profile of {name} is new in {FILE_NAME}")
    return ANSWERED


def run_facts(arguments: argparse.Namespace) -> int:
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


def run_split(arguments: argparse.Namespace) -> int:
    print(split(arguments.data))
    return ANSWERED


def run_stats(arguments: argparse.Namespace) -> int:
    """Show figures of a dataset; fails if a quality gate is not met."""
    found = review(arguments.data, arguments.pictures, arguments.card)
    if arguments.json:
        print(json.dumps(found.as_plain(), indent=2))
    else:
        print_statistics(found.statistics, found.promises, out())
    return ANSWERED if found.keeps_all else SOME_FAILED


def run_paces(arguments: argparse.Namespace) -> int:
    """Measure one device after the other; what is known is kept if the rest is stopped."""
    profiles, paces = read_devices(arguments.data), read_paces(arguments.data)
    names = arguments.devices or sorted(paces or profiles)  # others were measured where their profile was calibrated
    if unknown := [name for name in names if name not in profiles]:
        raise UnknownDevice(f"no rows of `{unknown[0]}`: the dataset's devices are {', '.join(sorted(profiles))}")
    status = ANSWERED
    for name in names:
        pace = measure_pace(arguments.data, name, profiles[name], 60 * arguments.minutes / len(names), warn)
        if pace is None:
            warn(f"{name}: fewer than {FEWEST} launches could be measured; its pace stays as it was")
            status = SOME_FAILED
            continue
        paces[name] = pace
        write_paces(arguments.data, paces)
        low, high = pace.quartiles
        warn(f"{name}: rows took {pace.times:.2f} times as long (quartiles {low:.2f}, {high:.2f}; n = {pace.launches})")
    return status
