"""What runs in the device thread: each function blocks, and hands the real work to a child process of its own."""

from __future__ import annotations

import threading

from model.device import Device
from model.device_catalog import builtin_devices
from profiler.calibrate import calibrate
from profiler.devices import discover, distinct_devices, with_calibrations
from profiler.measure import MeasureLimits, measure
from profiler.measurement import Measurement, MeasureRequest
from profiler.store import Store, StoreError
from server.jobs import OnProgress


class DeviceWork:
    """All that needs a device or the disk."""

    def discover(self, cancel: threading.Event) -> tuple[Device, ...]:
        try:
            store = Store.open()
        except StoreError:  # said by the analysis thread already
            store = None
        return discover(store, cancel=cancel)

    def measure(
        self, request: MeasureRequest, time_limit_s: float, on_progress: OnProgress, cancel: threading.Event
    ) -> Measurement:
        limits = MeasureLimits(first_run_s=time_limit_s)
        return measure(request, limits=limits, on_progress=on_progress, cancel=cancel)

    def keep(self, outcome: Measurement, predicted_us: float | None, path: str | None) -> None:
        Store.open().add_measurement(outcome, predicted_us, path=path)

    def calibrate(self, device: Device, on_progress: OnProgress, cancel: threading.Event) -> Device:
        profile = calibrate(device.id, on_progress=on_progress, cancel=cancel)
        Store.open().save_profile(profile)
        return profile

    def known(self, found: tuple[Device, ...]) -> tuple[Device, ...]:
        """All devices that predictions can be for; this machine's first."""
        try:
            remembered = Store.open().profiles()
        except StoreError:
            remembered = ()
        return distinct_devices((*with_calibrations(found, remembered), *remembered), builtin_devices())

    def shipped(self) -> tuple[Device, ...]:
        return builtin_devices()
