"""The local size a launch runs with, also where the driver chooses it."""

from __future__ import annotations

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
