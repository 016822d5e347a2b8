"""Parse the value of `measure --sizes`."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace

from model.launch.annotation.items import read_items
from model.launch.launch import Origin
from model.launch.spec import LaunchSpec

ALLOWED_SIZES = (
    "auto; numbers of work-items 65536,256k,1M; multiples of the launch 0.5x,1x,2x; "
    'or whole launches "global=4096 n=4000; global=8192 n=8000"'
)
_COUNT = re.compile(r"(?P<number>\d+)(?P<thousands>[kM]?)")
_MULTIPLE = re.compile(r"(?P<factor>\d+(\.\d+)?|\.\d+)x")
_THOUSANDS = {"": 1, "k": 1 << 10, "M": 1 << 20}  # sizes are powers of two: 64k is 65536
_MOST_ITEMS = 1 << 48


@dataclass(frozen=True, slots=True)
class SizesWanted:
    """Nothing but `launches` is set, or nothing but the other two; none of them: as many as tell something."""

    factors: tuple[float, ...] = ()
    work_items: tuple[int, ...] = ()
    launches: tuple[LaunchSpec, ...] = ()


def sizes_wanted(text: str) -> SizesWanted:
    """Return the value of `--sizes`. Raises `argparse.ArgumentTypeError`."""
    if text.strip() == "auto":
        return SizesWanted()
    if "=" in text:
        return SizesWanted(launches=tuple(_launch(part) for part in text.split(";") if part.strip()))
    factors, work_items = [], []
    for word in (part.strip() for part in text.split(",")):
        if count := _COUNT.fullmatch(word):
            work_items.append(int(count["number"]) * _THOUSANDS[count["thousands"]])
        elif multiple := _MULTIPLE.fullmatch(word):
            factors.append(float(multiple["factor"]))
        else:
            raise argparse.ArgumentTypeError(f"{word!r} is not a size; allowed: {ALLOWED_SIZES}")
    if not all(0 < items <= _MOST_ITEMS for items in work_items) or not all(0 < f <= _MOST_ITEMS for f in factors):
        raise argparse.ArgumentTypeError(f"{text!r}: sizes must be above 0 and no larger than devices take")
    return SizesWanted(tuple(factors), tuple(work_items))


def _launch(part: str) -> LaunchSpec:
    items = read_items(part.strip())
    if items.problems:
        raise argparse.ArgumentTypeError(f"{part.strip()!r}: {items.problems[0].message}")
    return replace(items.spec, origin=Origin.REQUEST)
