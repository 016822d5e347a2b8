"""`kernelcast dataset paces`: how much longer a dataset's rows took than they would here and now."""

from __future__ import annotations

import argparse

from model.errors import UnknownDevice
from profiler.corpus.facts.devices import read_devices, read_paces, write_paces
from profiler.corpus.facts.slowdown import FEWEST, measure_pace
from server.cli.status import ANSWERED, SOME_FAILED
from server.cli.streams import warn


def run(arguments: argparse.Namespace) -> int:
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
