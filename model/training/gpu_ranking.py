"""What predictions are worth to who chooses: among configurations of a kernel, and among devices.

Who measures the few that are ranked first loses what the best of these takes longer than the best of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model.training.public_rows import Floats, Measured

FIRST = 10  # that are measured
TUNED = ("convolution", "dedispersion", "gemm", "pnpoly")  # kernels whose rows are configurations for one task
DIFFERS = 1.2  # factor between the times of two devices that matters


@dataclass(frozen=True, slots=True)
class TopLoss:
    """Of one kernel on one device: what the best of the first few loses against the best of all."""

    family: str
    device: str
    configurations: int
    loss_percent: float


@dataclass(frozen=True, slots=True)
class DeviceOrder:
    """Of one kernel: pairs of devices that ran the same launch in times that differ, and those in the right order."""

    family: str
    pairs: int
    right_percent: float


def top_losses(rows: Measured, predicted_us: Floats) -> tuple[TopLoss, ...]:
    found = []
    kernel = rows.kernel
    for family in TUNED:
        for device in np.unique(rows.device[kernel == family]):
            own = (kernel == family) & (rows.device == device)
            taken = rows.runtime_us[own]
            first = np.argsort(predicted_us[own], kind="stable")[:FIRST]
            found.append(TopLoss(family, device, int(own.sum()), float(100 * (taken[first].min() / taken.min() - 1))))
    return tuple(found)


def device_order(rows: Measured, predicted_us: Floats) -> tuple[DeviceOrder, ...]:
    found = []
    for family in np.unique(rows.family):
        pairs = right = 0
        own = rows.family == family
        _, launch = np.unique(rows.key[own], return_inverse=True)
        taken, said = np.log(rows.runtime_us[own]), np.log(predicted_us[own])
        devices = rows.device[own]
        for number in range(launch.max() + 1):
            at = np.flatnonzero(launch == number)
            first, second = (at[index] for index in np.triu_indices(len(at), 1))
            differ = (np.abs(taken[first] - taken[second]) > np.log(DIFFERS)) & (devices[first] != devices[second])
            pairs += int(differ.sum())
            right += int(((taken[first] > taken[second]) == (said[first] > said[second]))[differ].sum())
        if pairs:
            found.append(DeviceOrder(str(family), pairs, 100 * right / pairs))
    return tuple(found)


def lines(losses: Sequence[TopLoss], orders: Sequence[DeviceOrder]) -> Iterator[str]:
    """Markdown: for each kernel the median loss over its devices, and the order of devices; all at last."""
    yield "| Kernel | devices | loss of the best of ten | pairs of devices | in the right order |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    order = {each.family: each for each in orders}
    for family in sorted({each.family for each in losses} | set(order)):
        own = [each.loss_percent for each in losses if each.family == family]
        loss = f"{np.median(own):.0f} %" if own else "-"
        pairs = f"{order[family].pairs} | {order[family].right_percent:.0f} %" if family in order else "0 | -"
        yield f"| {family} | {len(own) or '-'} | {loss} | {pairs} |"
    all_losses = [each.loss_percent for each in losses]
    loss = f"{np.median(all_losses):.0f} %" if all_losses else "-"
    count = sum(each.pairs for each in orders)
    right = sum(each.pairs * each.right_percent for each in orders) / count if count else 0.0
    mean = float(np.mean([each.right_percent for each in orders])) if orders else 0.0
    yield f"| all | {len(all_losses)} | {loss} | {count} | {right:.0f} % (mean of kernels {mean:.0f} %) |"
