"""The intervals of GPU predictions, from rows measured on many GPUs, and what they cover of kernels and GPUs left out.

Kernels and devices count alike, however many rows they have: a campaign of thousands of configurations is one kernel.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.gpu_intervals import LEAST, OTHER_VENDORS, UNKNOWN, Margins
from model.training.public_rows import FOLDS, Floats, Mask, Measured, Words

# Of the rows seen more lie inside than 80 %, so that of kernels and devices not seen about 80 % do.
LOW, HIGH = 0.08, 0.92
LEAST_FAMILIES, LEAST_DEVICES = 2, 3  # of a class that has margins of its own
OWN_CLASSES = ("nvidia", "amd")  # others share what little was measured on them


@dataclass(frozen=True, slots=True)
class ClassMargins:
    """One line of the table that ships."""

    vendor: str
    margins: Margins
    families: int
    devices: int
    rows: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of one kernel family that margins had not seen, nor the devices: devices count alike."""

    family: str
    devices: int
    rows: int
    covered_percent: float
    p90_over_p10: float  # the median over rows


def class_margins(rows: Measured) -> tuple[ClassMargins, ...]:
    """For each vendor that has rows enough, and for all others together."""
    vendor, found = vendors(rows), []
    for name in (*OWN_CLASSES, OTHER_VENDORS):
        own = rows.where(vendor == name)
        families, devices = len(np.unique(own.kernel)), len(np.unique(own.device))
        if families >= LEAST_FAMILIES and devices >= LEAST_DEVICES:
            found.append(ClassMargins(name, _margins(own), families, devices, len(own)))
    return tuple(found)


def coverage(rows: Measured) -> tuple[Coverage, ...]:
    """Return what margins say of rows whose kernel family and device they were not taken from."""
    inside, width = np.zeros(len(rows), bool), np.zeros(len(rows))
    family, fold, vendor = rows.kernel, rows.fold, vendors(rows)
    ratio = rows.runtime_us / rows.analytic_us
    for left_out in np.unique(family):
        for part in range(FOLDS):
            asked = (family == left_out) & (fold == part)
            if not asked.any():
                continue
            seen = class_margins(rows.where((family != left_out) & (fold != part)))
            known = {each.vendor: each.margins for each in seen}
            for index in np.flatnonzero(asked):
                own = known.get(vendor[index], Margins(1 / UNKNOWN, UNKNOWN))
                inside[index] = own.below <= ratio[index] <= own.above
                width[index] = own.above / own.below
    return tuple(_coverage(rows, name, inside, width) for name in np.unique(family))


def write_margins(table: tuple[ClassMargins, ...], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("vendor", "below", "above", "families", "devices", "rows"))
        for each in table:
            factors = (f"{each.margins.below:.2f}", f"{each.margins.above:.2f}")
            writer.writerow((each.vendor, *factors, each.families, each.devices, each.rows))


def lines(found: tuple[Coverage, ...]) -> Iterator[str]:
    """Markdown, with the mean over the families last."""
    yield "| Kernel, left out | devices | n | inside 80 % | p90 / p10 |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for each in found:
        figures = f"{each.covered_percent:.0f} % | {each.p90_over_p10:.1f}"
        yield f"| {each.family} | {each.devices} | {each.rows} | {figures} |"
    covered, width = (
        float(np.mean([each.covered_percent for each in found])), float(np.median([e.p90_over_p10 for e in found])),
    )  # fmt: skip
    yield f"| all | | {sum(each.rows for each in found)} | {covered:.0f} % | {width:.1f} |"


def vendors(rows: Measured) -> Words:
    makers = {"nvidia": "nvidia", "amd": "amd"}
    names = np.char.lower(rows.maker)
    return np.array([next((v for word, v in makers.items() if word in name), OTHER_VENDORS) for name in names])


def _margins(rows: Measured) -> Margins:
    """No narrower than LEAST on either side, and no wider than where nothing is known."""
    ratio, weight = rows.runtime_us / rows.analytic_us, _weights(rows)
    order = np.argsort(ratio)
    reached = np.cumsum(weight[order]) / weight.sum()
    low, high = (float(ratio[order][np.searchsorted(reached, q)]) for q in (LOW, HIGH))
    return Margins(min(max(low, 1 / UNKNOWN), 1 / LEAST), max(min(high, UNKNOWN), LEAST))


def _weights(rows: Measured) -> Floats:
    """Families count alike, in each its devices, of each its rows."""
    family = rows.kernel
    found = np.zeros(len(rows))
    for name in np.unique(family):
        devices = np.unique(rows.device[family == name])
        for device in devices:
            own = (family == name) & (rows.device == device)
            found[own] = 1 / (own.sum() * len(devices))
    return found


def _coverage(rows: Measured, family: str, inside: Mask, width: Floats) -> Coverage:
    own = rows.kernel == family
    devices = np.unique(rows.device[own])
    covered = np.mean([inside[own & (rows.device == device)].mean() for device in devices])
    return Coverage(family, len(devices), int(own.sum()), float(100 * covered), float(np.median(width[own])))
