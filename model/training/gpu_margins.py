"""The intervals of GPU predictions, from rows measured on many GPUs, and what they cover of kernels and GPUs left out.

Kernels and devices count alike, however many rows they have: a campaign of thousands of configurations is one kernel.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from model.gpu_intervals import LEAST, OTHER_VENDORS, UNKNOWN, Margins, bound_of, mixed
from model.training.public_rows import FOLDS, Floats, Mask, Measured, Words

LOW, HIGH = 0.1, 0.9
POWERS = tuple(np.arange(0.3, 2.0, 0.05).tolist())
LEAST_FAMILIES, LEAST_DEVICES = 2, 3  # of a class that has margins of its own
OWN_CLASSES = ("nvidia", "amd")  # others share what little was measured on them


@dataclass(frozen=True, slots=True)
class ClassMargins:
    """One line of the table that ships."""

    vendor: str
    bound: str
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
    """For each class that has rows enough, by vendor and by what launches are short of.

    Each class has its own quantiles first. Then all are drawn in or out by one power, until margins that are mixed by
    what a launch is short of hold as many of the rows as they should.
    """
    vendor, bound, weight = vendors(rows), bounds(rows), _weights(rows)
    found = []
    for name in (*OWN_CLASSES, OTHER_VENDORS):
        for what in ("memory", "cores"):
            own = (vendor == name) & (bound == what)
            families, devices = (len(np.unique(each[own])) for each in (rows.kernel, rows.device))
            if families >= LEAST_FAMILIES and devices >= LEAST_DEVICES:
                margins = _quantiles(_log_ratio(rows)[own], weight[own])
                found.append(ClassMargins(name, what, margins, families, devices, int(own.sum())))
    known = {(each.vendor, each.bound): each.margins for each in found}
    power = next(
        (p for p in POWERS if weight[_inside(rows, known, p)].sum() >= (HIGH - LOW) * weight.sum()), POWERS[-1]
    )
    return tuple(replace(each, margins=_drawn(each.margins, power)) for each in found)


def coverage(rows: Measured) -> tuple[Coverage, ...]:
    """What margins say of rows whose kernel family and device they were not taken from."""
    inside, width = np.zeros(len(rows), bool), np.zeros(len(rows))
    family, fold = rows.kernel, rows.fold
    for left_out in np.unique(family):
        for part in range(FOLDS):
            asked = (family == left_out) & (fold == part)
            if not asked.any():
                continue
            seen = class_margins(rows.where((family != left_out) & (fold != part)))
            known = {(each.vendor, each.bound): each.margins for each in seen}
            own = rows.where(asked)
            inside[asked] = _inside(own, known)
            below, above = _bounds(own, known)
            width[asked] = np.exp(above - below)
    return tuple(_coverage(rows, name, inside, width) for name in np.unique(family))


def write_margins(table: tuple[ClassMargins, ...], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("vendor", "bound", "below", "above", "families", "devices", "rows"))
        for each in table:
            factors = (f"{each.margins.below:.2f}", f"{each.margins.above:.2f}")
            writer.writerow((each.vendor, each.bound, *factors, each.families, each.devices, each.rows))


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


def bounds(rows: Measured) -> Words:
    return np.array([bound_of(share) for share in memory_shares(rows)])


def memory_shares(rows: Measured) -> Floats:
    return np.asarray(np.exp2(rows.fact("gpu.memory_us")) / rows.laws_us)


def _quantiles(log_ratio: Floats, weight: Floats) -> Margins:
    order = np.argsort(log_ratio)
    reached = np.cumsum(weight[order]) / weight.sum()
    low, high = (np.exp(log_ratio[order][np.searchsorted(reached, q)]) for q in (LOW, HIGH))
    return Margins(float(min(low, 1 / LEAST)), float(max(high, LEAST)))


def _drawn(margins: Margins, power: float) -> Margins:
    return Margins(min(margins.below**power, 1 / LEAST), max(margins.above**power, LEAST))


def _inside(rows: Measured, known: Mapping[tuple[str, str], Margins], power: float = 1.0) -> Mask:
    below, above = _bounds(rows, {key: _drawn(each, power) for key, each in known.items()})
    ratio = _log_ratio(rows)
    return np.asarray((below <= ratio) & (ratio <= above))


def _bounds(rows: Measured, known: Mapping[tuple[str, str], Margins]) -> tuple[Floats, Floats]:
    """Logarithms of the factors to p10 and p90, row by row."""
    unknown = Margins(1 / UNKNOWN, UNKNOWN)
    found = [
        mixed(known.get((vendor, "memory"), unknown), known.get((vendor, "cores"), unknown), share)
        for vendor, share in zip(vendors(rows), memory_shares(rows), strict=True)
    ]
    return np.log([each.below for each in found]), np.log([each.above for each in found])


def _log_ratio(rows: Measured) -> Floats:
    return np.asarray(np.log(rows.runtime_us / rows.laws_us))


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
