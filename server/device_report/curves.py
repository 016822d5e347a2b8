"""The curves of a calibration that deserve a small plot of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model.device import Rates


@dataclass(frozen=True, slots=True)
class Curve:
    """Both axes are logarithmic; all values are above 0."""

    title: str
    x_title: str
    y_title: str
    points: tuple[tuple[float, float], ...]


def curves(rates: Rates) -> Iterator[Curve]:
    """Yield the measured curves, of at least two points each."""
    items, stride = "work-items in the group", "stride in elements"
    every = (
        ("Throughput by work-groups", "work-groups", "Gflop/s", [(p.work_groups, p.gflop_s) for p in rates.scaling]),
        ("Independent accumulators", "accumulators", "Gflop/s", [(p.chains, p.gflop_s) for p in rates.chains]),
        ("Loads by stride", stride, "Gload/s", [(p.stride_elements, p.strided_gaccess_s) for p in rates.strided]),
        ("Random loads", "bytes", "Gload/s", [(p.footprint_bytes, p.gather_gaccess_s) for p in rates.gather]),
        ("Local memory by stride", stride, "GB/s", [(p.stride_elements, p.local_gb_s) for p in rates.local_strided]),
        ("A barrier", items, "ns", [(p.group_items, p.barrier_ns) for p in rates.barriers]),
        ("Ways through a branch", "ways", "times as long", [(p.ways, p.slowdown) for p in rates.divergence]),
        ("Private arrays", "bytes", "GB/s", [(p.array_bytes, p.private_gb_s) for p in rates.private_arrays]),
    )
    for title, x_title, y_title, points in every:
        usable = tuple((float(x), float(y)) for x, y in points if x > 0 and y > 0)
        if len(usable) > 1:
            yield Curve(title, x_title, y_title, usable)
