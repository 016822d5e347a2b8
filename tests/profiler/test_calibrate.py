"""A calibration measures every rate, keeps it, and can be stopped."""

from __future__ import annotations

import threading
from dataclasses import astuple
from pathlib import Path

import pytest

from profiler.calibrate import calibrate
from profiler.devices import discover
from profiler.measurement import Cancelled, DeviceGone
from profiler.store import Store

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]


def test_a_calibrated_device_has_every_rate_and_is_found_again(tmp_path: Path) -> None:
    heard: list[float] = []
    device = calibrate("pocl", quick=True, on_progress=lambda fraction, _: heard.append(fraction))
    store = Store.open(tmp_path / "store.sqlite3")
    store.save_profile(device)

    assert device.calibrated
    assert device.measured_at
    assert device.noise_percent is not None
    assert heard == sorted(heard)
    assert 0 <= heard[0] <= heard[-1] < 1
    unsupported = {"fp16_gflop_s"} if not device.has_fp16 else set()
    rates = device.rates
    assert all(
        getattr(rates, name) > 0
        for name in rates.__slots__
        if name.endswith(("_s", "_us", "_ns")) and name not in unsupported
    )
    for curve in (rates.bandwidth, rates.gather, rates.strided):
        assert len(curve) >= 3
        assert all(value > 0 for point in curve for value in astuple(point))
    assert [point.read_gb_s for point in rates.bandwidth] == sorted(
        (p.read_gb_s for p in rates.bandwidth), reverse=True
    )

    again = next(d for d in discover(store) if d.id == "pocl")
    assert again.rates == rates
    assert again.calibrated


def test_calibrating_can_be_cancelled() -> None:
    cancel = threading.Event()
    with pytest.raises(Cancelled):
        calibrate("pocl", quick=True, cancel=cancel, on_progress=lambda *_: cancel.set())


def test_a_device_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(DeviceGone, match=r"`nvidia-h9000` is not there .* pocl"):
        calibrate("nvidia-h9000")
