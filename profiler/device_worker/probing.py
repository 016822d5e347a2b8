"""Asks every OpenCL platform what devices it has, and opens one on the processors that a job may use."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyopencl as cl

from model.device import DeviceType
from model.device_rates import DriverFacts
from profiler.device_worker.failures import named_failures
from profiler.device_worker.main import Reporter
from profiler.device_worker.pinning import pinned_drivers
from profiler.device_worker.unknown_processor import name_processor
from profiler.devices import NO_PLATFORM, assign_ids
from profiler.measurement import DeviceGone

PLATFORM_NOT_FOUND = -1001  # cl_khr_icd: CL_PLATFORM_NOT_FOUND_KHR
PREFERRED_CPU_LANES = 4  # where a driver does not report a vector width


def probe(_reporter: Reporter) -> tuple[DriverFacts, ...]:
    """Return all devices of all platforms, in the loader's order. Empty if there is no platform."""
    return tuple(facts_of(device) for device in opencl_devices())


def opencl_devices() -> list[cl.Device]:
    """As `probe`, for work in the same process."""
    with named_failures("listing OpenCL platforms"):
        try:
            with pinned_drivers():  # the drivers are loaded here, and PoCL starts its threads
                name_processor()
                return [device for platform in cl.get_platforms() for device in _of(platform)]
        except cl.Error as error:
            if error.code == PLATFORM_NOT_FOUND:
                return []
            raise


def open_device(device_id: str) -> cl.Device:
    """Return the device of that id. Raises DeviceGone if it is no longer there."""
    devices = opencl_devices()
    ids = assign_ids(tuple(facts_of(device) for device in devices))
    if not ids:
        raise DeviceGone(NO_PLATFORM)
    if device_id not in ids:
        raise DeviceGone(
            f"device `{device_id}` is not in this machine, or no longer; this machine has: {', '.join(ids)}"
        )
    return devices[ids.index(device_id)]


def _of(platform: cl.Platform) -> list[cl.Device]:
    try:
        return platform.get_devices()
    except cl.Error as error:
        if error.code == cl.status_code.DEVICE_NOT_FOUND:  # a platform without devices is no failure
            return []
        raise


def facts_of(device: cl.Device) -> DriverFacts:
    """Return what the driver says of one device."""
    extensions = device.extensions.split()
    sizes = [*device.max_work_item_sizes, 1, 1][:3]
    kind = _type(device)
    return DriverFacts(
        name=device.name.strip(),
        platform=device.platform.name.strip(),
        vendor=device.vendor.strip(),
        type=kind,
        driver=f"{device.driver_version.strip()}",
        compute_units=device.max_compute_units,
        clock_mhz=device.max_clock_frequency,
        global_mem_bytes=device.global_mem_size,
        max_alloc_bytes=device.max_mem_alloc_size,
        local_mem_bytes=device.local_mem_size,
        cache_bytes=device.global_mem_cache_size,
        max_work_group_size=device.max_work_group_size,
        max_work_item_sizes=(sizes[0], sizes[1], sizes[2]),
        preferred_multiple=_preferred_multiple(device, kind),
        has_fp64="cl_khr_fp64" in extensions,
        has_fp16="cl_khr_fp16" in extensions,
        has_images=bool(device.image_support),
        board=_board(device),
    )


def _board(device: cl.Device) -> str:
    """AMD's drivers name the chip (`gfx906`), and only here the card."""
    try:
        return str(device.board_name_amd).strip()
    except (cl.Error, AttributeError):
        return ""  # another vendor's query


def _type(device: cl.Device) -> DeviceType:
    if device.type & cl.device_type.GPU:
        return DeviceType.GPU
    return DeviceType.CPU if device.type & cl.device_type.CPU else DeviceType.ACCELERATOR


def _preferred_multiple(device: cl.Device, kind: DeviceType) -> int:
    """Lanes that run together. The kernel query says it best, but needs a build; these answer at once."""
    if kind is DeviceType.CPU:
        return device.native_vector_width_float or PREFERRED_CPU_LANES
    for attribute in ("warp_size_nv", "wavefront_width_amd"):
        try:
            return int(getattr(device, attribute))
        except (cl.Error, AttributeError):
            continue  # another vendor's query
    return 32


def open_on(device_id: str, processors: Sequence[int]) -> cl.Device:
    """Open a device on some of the processors. Call this first: a driver starts its threads once, when it is loaded.

    `processors` empty: all. Raises DeviceGone, also if the driver does not keep to the processors.
    """
    if processors:
        try:
            os.sched_setaffinity(0, processors)
        except OSError as error:
            raise DeviceGone(f"processors {_listed(processors)} cannot be used: {error.strerror}") from error
    device = open_device(device_id)
    if processors and device.max_compute_units > len(processors):
        raise DeviceGone(
            f"device `{device_id}` uses {device.max_compute_units} processors where it was given {_listed(processors)}"
        )
    return device


def _listed(processors: Sequence[int]) -> str:
    return ", ".join(map(str, processors))
