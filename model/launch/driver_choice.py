"""The local size that a driver picks where the launch leaves it open: decides how many groups there are to start.

PoCL and Intel's runtime for CPUs were seen to choose as below: PoCL 3.0 always, Intel 2026.22 for most sizes, for the
others within a factor of two (global sizes of one to three dimensions from 1 to 1.6e7). Of other drivers no more is
known than that the size divides the global size.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from model.device import Device, DeviceType
from model.launch.launch import Launch
from model.opencl.kernel import Kernel

DRIVER_TARGET = 64  # drivers aim at a few dozen to a few hundred work-items; counts depend on it little


def effective_local_size(launch: Launch, kernel: Kernel) -> tuple[int, ...]:
    """Return one size per dimension of the NDRange; what a driver would choose where the launch leaves it open.

    `reqd_work_group_size` binds the driver (OpenCL C 3.0, section 6.7.1). Otherwise it must divide the global
    size evenly: `chosen_local_size` of the launch, where its device is known, else the largest divisor of the first
    dimension up to 64.
    """
    if launch.local_size is not None:
        return tuple(max(1, s) for s in launch.local_size)
    required = kernel.attributes.reqd_work_group_size
    if required is not None:
        return required[: len(launch.global_size)]
    if launch.chosen_local_size is not None:
        return launch.chosen_local_size
    return (driver_divisor(launch.global_size[0]), *(1 for _ in launch.global_size[1:]))


def driver_divisor(size: int) -> int:
    return next((s for s in range(min(DRIVER_TARGET, size), 0, -1) if size % s == 0), 1)


_LEAST_GROUP = 4  # times the preferred multiple: PoCL splits no further to give each processor a group
_POCLS_MULTIPLE = 8  # of every kernel, whatever the vectors' width
_ROOTS = 2.0  # Intel's groups are the divisor next to so many times the square root of the work-items


def chosen_local_size(global_size: tuple[int, ...], device: Device, along: int = 0) -> tuple[int, ...]:
    """Return one size per dimension of `global_size`.

    Intel's runtime puts all work-items of a group along one dimension, the one of its vectors (see
    `model.analytic.cpu_lanes`).
    """
    x, y, z = (*global_size, 1, 1)[:3]
    platform = device.platform.lower()
    chosen: tuple[int, ...]
    if device.type is DeviceType.CPU and "portable computing" in platform:
        most = (device.max_work_item_sizes, device.max_work_group_size)
        chosen = _pocls((x, y, z), *most, _POCLS_MULTIPLE, device.compute_units)
    elif device.is_intels_cpu:
        first = _intels((x, y, z)[along], x * y * z, device.max_work_group_size)
        chosen = (*(1,) * along, first, *(1,) * (2 - along))
    else:
        chosen = (driver_divisor(x), 1, 1)
    return chosen[: len(global_size)]


def on_device(launch: Launch, device: Device) -> Launch:
    """Return the launch with the local size that the driver of `device` chooses if none is given."""
    if launch.local_size is not None:
        return launch
    return replace(launch, chosen_local_size=chosen_local_size(launch.global_size, device))


@lru_cache(maxsize=4096)
def _intels(first: int, items: int, most: int) -> int:
    wanted = _ROOTS * math.sqrt(items)
    return min((d for d in _divisors(first) if d <= most), key=lambda d: (abs(d - wanted), d), default=1)


@lru_cache(maxsize=4096)
def _pocls(
    sizes: tuple[int, int, int], most_each: tuple[int, int, int], most: int, multiple: int, units: int
) -> tuple[int, int, int]:
    """As large as fits, in steps that keep vectors whole; then smaller until each compute unit has a group."""
    multiple = max(1, multiple)
    grains = [math.gcd(multiple, size) for size in sizes]
    local = [
        max(d for d in _divisors(size // grain) if d <= max(1, min(limit, size) // grain)) * grain
        for size, grain, limit in zip(sizes, grains, most_each, strict=True)
    ]
    while math.prod(local) > most and _shrunk(local, grains, sizes):
        pass
    least = min(_LEAST_GROUP * multiple, most)
    while (splits := units // math.prod(s // one for s, one in zip(sizes, local, strict=True))) > 1:
        if math.prod(local) < splits * least or not _split(local, grains, sizes, splits, least):
            break
    first, second, third = local
    return first, second, third


def _shrunk(local: list[int], grains: list[int], sizes: tuple[int, int, int]) -> bool:
    """Half of the last dimension that can be halved; where none can, no more than 1 of the least regular one."""
    for d in (2, 1, 0):
        if local[d] % 2 == 0 and _fits(local[d] // 2, grains[d], sizes[d]):
            local[d] //= 2
            return True
    for d in (2, 1, 0):
        if local[d] > 1 and grains[d] == min(grains):
            local[d] = 1
            return True
    for d in (2, 1, 0):
        if local[d] > 1:
            local[d] = 1
            return True
    return False


def _split(local: list[int], grains: list[int], sizes: tuple[int, int, int], splits: int, least: int) -> bool:
    for parts in range(splits, 1, -1):
        for d in (2, 1, 0):
            if local[d] % parts == 0 and _fits(local[d] // parts, grains[d], sizes[d]):
                local[d] //= parts
                return True
    for d in (2, 1, 0):
        others = math.prod(local) // local[d]
        if 1 < local[d] == min(local) and others >= least:
            local[d] = 1
            return True
    return False


def _fits(size: int, grain: int, whole: int) -> bool:
    return size > 0 and size % grain == 0 and whole % size == 0


@lru_cache(maxsize=4096)
def _divisors(number: int) -> tuple[int, ...]:
    """Ascending."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return tuple(dict.fromkeys((*small, *(number // d for d in reversed(small)))))
