"""Opens a device of the collection on the processors that it may use."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyopencl as cl

from profiler.device_worker.probing import open_device
from profiler.measurement import DeviceGone


def open_on(device_id: str, processors: Sequence[int]) -> cl.Device:
    """To be called before any driver is loaded: drivers start their threads once, by what they find then.

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
