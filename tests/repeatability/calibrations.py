"""How far two calibrations of one device differ, and what one thread keeps of the throughput.

`python -m tests.repeatability.calibrations [--device ID] [--quick] [--one-thread]`
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import fields
from statistics import median

from model.device import Device, Rates
from model.errors import KernelcastError
from profiler.calibrate import calibrate
from profiler.device_worker.machine_load import LoadWatch
from profiler.statistics import quantile

WANTED_PERCENT = 5.0  # median difference over all rates
_KEYS = ("name", "footprint_bytes", "stride_elements", "group_items", "array_bytes", "work_groups", "ways", "chains",
         "type", "operation", "dimensions", "access")  # fmt: skip
_TOLD = ("memory_levels", "vectorised", "noise", "groups_to_fill")  # from rates that count already
# Rates that every further thread adds to.
THROUGHPUTS = ("fp32_gflop_s", "fp64_gflop_s", "int32_gop_s", "divide_gop_s", "special_gop_s", "scalar_fp32_gflop_s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="pocl", metavar="ID")
    parser.add_argument("--quick", action="store_true", help="calibrate quickly")
    parser.add_argument("--one-thread", action="store_true", help="a third calibration, of PoCL with one thread")
    arguments = parser.parse_args()
    try:
        first, second = (_calibrated(arguments) for _ in range(2))
        print_differences(first, second)
        if arguments.one_thread:
            os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
            print_shares(second, _calibrated(arguments))
    except KernelcastError as error:
        print(error.message, file=sys.stderr)
        return 1
    return 0


def _calibrated(arguments: argparse.Namespace) -> Device:
    watch = LoadWatch()
    device = calibrate(arguments.device, quick=arguments.quick)
    load = watch.end()
    made = device.calibration
    assert made is not None
    print(
        f"{device.id}: {made.duration_s:.0f} s, load average {made.load_average}, others used "
        f"{made.other_load_percent} % of the machine while it timed, a hypervisor took {load.stolen_s:.0f} of "
        f"{load.available_s:.0f} s, {made.repeats} repeats, noise {device.noise_percent} %, "
        f"{len(made.failures)} failures",
        flush=True,
    )
    return device


def print_differences(first: Device, second: Device) -> None:
    """Over all rates, and the ten that differ most."""
    ours, theirs = dict(all_rates(first.rates)), dict(all_rates(second.rates))
    found = sorted(
        ((difference_percent(ours[name], theirs[name]), name) for name in ours.keys() & theirs.keys()), reverse=True
    )
    differences = [difference for difference, _ in found]
    within = sum(difference <= WANTED_PERCENT for difference in differences) / len(differences)
    print(
        f"{len(found)} rates differ by {median(differences):.2f} % in the median, {quantile(differences, 0.9):.1f} % "
        f"in nine of ten, {differences[0]:.0f} % at most; {within:.0%} of them by at most {WANTED_PERCENT:g} %"
    )
    for difference, name in found[:10]:
        print(f"  {difference:6.1f} %  {name}: {ours[name]:.4g}, {theirs[name]:.4g}")


def print_shares(all_threads: Device, one_thread: Device) -> None:
    """What one thread keeps of throughputs."""
    shares = []
    for name in THROUGHPUTS:
        of_all = getattr(all_threads.rates, name)
        if of_all:
            shares.append(getattr(one_thread.rates, name) / of_all)
            print(f"  {name}: {getattr(one_thread.rates, name):.4g} of {of_all:.4g}: {shares[-1]:.3f}")
    print(f"one thread of {all_threads.compute_units} keeps {median(shares):.3f} of the throughput in the median")


def all_rates(rates: Rates) -> Iterator[tuple[str, float]]:
    """Every figure that was measured, under a name of its own."""
    for field in fields(rates):
        value = getattr(rates, field.name)
        if field.name in _TOLD:
            continue
        if not isinstance(value, tuple):
            if value:
                yield field.name, float(value)
            continue
        for point in value:
            known = {each.name: getattr(point, each.name) for each in fields(point)}
            place = " ".join(str(known[key]) for key in _KEYS if key in known)
            for key, measured in known.items():
                if key not in _KEYS and key != "noise_percent" and measured:
                    yield f"{field.name} {place} {key}", float(measured)


def difference_percent(one: float, other: float) -> float:
    """Between two figures, of their mean."""
    return 200 * abs(one - other) / (one + other)


if __name__ == "__main__":
    sys.exit(main())
