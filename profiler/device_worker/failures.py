"""The driver's error codes in the user's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyopencl as cl

from profiler.measurement import DeviceGone, KernelCrashed, MeasureError, OutOfResources

_RESOURCES: dict[int, str] = {
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE: "the device has no memory left for its buffers; choose smaller ones",
    cl.status_code.OUT_OF_RESOURCES: (
        "the device ran out of registers, local memory or time, or the kernel went astray in its memory; "
        "try a smaller work-group, and check its indices"
    ),
    cl.status_code.OUT_OF_HOST_MEMORY: "the machine has no memory left; choose smaller buffers",
    cl.status_code.MAP_FAILURE: "the machine has no memory left to fill the buffers in; choose smaller ones",
    cl.status_code.INVALID_BUFFER_SIZE: "a buffer is larger than the device allows",
    cl.status_code.INVALID_IMAGE_SIZE: "an image is larger than the device allows",
    cl.status_code.INVALID_WORK_GROUP_SIZE: (
        "this local size does not go with this kernel and device: it must divide the global size, and agree with "
        "reqd_work_group_size and the kernel's own limit"
    ),
    cl.status_code.INVALID_WORK_ITEM_SIZE: "one dimension of the local size is larger than the device allows",
    cl.status_code.INVALID_GLOBAL_WORK_SIZE: "the global size is empty or larger than the device allows",
    cl.status_code.INVALID_WORK_DIMENSION: "the device does not allow so many dimensions",
}
_ILLEGAL_ACCESS = -9999  # NVIDIA's own, which no header names
_GONE: set[int] = {cl.status_code.DEVICE_NOT_FOUND, cl.status_code.DEVICE_NOT_AVAILABLE, cl.status_code.INVALID_DEVICE}


@contextmanager
def named_failures(subject: str) -> Iterator[None]:
    """Turn the driver's errors inside into `MeasureError`s that begin with `subject`."""
    try:
        yield
    except cl.Error as error:
        raise _named(error, subject) from error


def _named(error: cl.Error, subject: str) -> MeasureError:
    log = str(error)
    if error.code in _RESOURCES:
        return OutOfResources(f"{subject}: {_RESOURCES[error.code]}", log=log)
    if error.code == _ILLEGAL_ACCESS:
        return KernelCrashed(f"{subject} reads or writes where it must not: check its indices", log=log)
    if error.code in _GONE:
        return DeviceGone(f"{subject}: the device is not available", log=log)
    # PyOpenCL's first line reads "clEnqueueNDRangeKernel failed: INVALID_KERNEL_ARGS".
    return MeasureError(f"{subject}: {log.splitlines()[0] if log else 'the driver gave no reason'}", log=log)
