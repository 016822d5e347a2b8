"""The analytical model against the public rows, family by family: seconds to minutes, no training.

python -c 'from profiler.corpus.public.quick_check import main; main()'
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from model.analytic.launch_times import launch_times
from model.known_devices import find_builtin_by_name
from profiler.corpus.public.facts import counted_launch
from profiler.corpus.public.hashcat import mode_of
from profiler.corpus.public.kept_facts import FOREIGN_FAMILIES
from profiler.corpus.public.row import PublicRow
from profiler.corpus.public.table import read_rows

MOST = 60  # rows of each family and device
MOST_FOREIGN_MODES = 6  # programs that are not ours: half a minute each to analyse


@dataclass(frozen=True, slots=True)
class Check:
    """One line: the analytical model against the rows of one group. `ratio` is the median of predicted to measured."""

    group: str
    rows: int
    devices: int
    median_ape_percent: float
    within_2x_percent: float
    ratio: float

    def __str__(self) -> str:
        return (
            f"{self.group:32} {self.devices:4} {self.rows:6} {self.median_ape_percent:7.0f} % "
            f"{self.within_2x_percent:6.0f} % {self.ratio:8.2f}"
        )


HEADER = f"{'':32} {'dev.':>4} {'n':>6} {'med. APE':>9} {'in 2x':>8} {'ratio':>8}"


def checks(
    rows: Iterable[PublicRow], group: Callable[[PublicRow], str] = lambda row: row.family, *, most: int = MOST
) -> tuple[Check, ...]:
    """Return one line for each group of rows, ascending; by family, or for example by `lambda row: row.device`.

    At most `most` rows of each family and device are taken, chosen by a hash, and of programs that are not ours those
    of a few modes. Rows of devices without a profile are left out. Raises Unreachable where a program cannot be had.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    devices: dict[str, set[str]] = defaultdict(set)
    for row in sorted(_sampled(rows, most), key=lambda row: (row.family, row.settings, row.choices)):
        device = find_builtin_by_name(row.device)
        assert device is not None
        name = group(row)
        ratios[name].append(launch_times(counted_launch(row).counts, device).bounded_us / row.runtime_us)
        devices[name].add(row.device)
    return tuple(_check(name, len(devices[name]), np.array(ratios[name])) for name in sorted(ratios))


def main(most: int = MOST) -> None:
    """Print one line a family of the rows that ship, and one for all of them."""
    rows = read_rows()
    unknown = sorted({row.device for row in rows if find_builtin_by_name(row.device) is None})
    print(HEADER)
    for line in (*checks(rows, most=most), *checks(rows, lambda _: "all", most=most)):
        print(line)
    print(f"{len(unknown)} devices have no profile")


def _sampled(rows: Iterable[PublicRow], most: int) -> list[PublicRow]:
    of_device: dict[tuple[str, str], list[PublicRow]] = defaultdict(list)
    known = [row for row in rows if find_builtin_by_name(row.device) is not None]
    modes = {(row.family, mode_of(row)) for row in known if row.family in FOREIGN_FAMILIES}
    chosen = {
        each
        for family in FOREIGN_FAMILIES
        for each in sorted((of for of in modes if of[0] == family), key=_order)[:MOST_FOREIGN_MODES]
    }
    for row in known:
        if row.family not in FOREIGN_FAMILIES or (row.family, mode_of(row)) in chosen:
            of_device[row.family, row.device].append(row)
    return [row for own in of_device.values() for row in sorted(own, key=lambda each: _order(each.settings))[:most]]


def _order(what: object) -> bytes:
    return hashlib.sha256(repr(what).encode()).digest()


def _check(group: str, devices: int, ratios: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Check:
    ape = 100 * np.abs(ratios - 1)
    within = 100 * np.mean((ratios > 0.5) & (ratios < 2))
    return Check(group, len(ratios), devices, float(np.median(ape)), float(within), float(np.median(ratios)))
