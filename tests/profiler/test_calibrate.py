"""A calibration measures every rate, keeps it, and can be stopped."""

from __future__ import annotations

import threading
from dataclasses import astuple
from pathlib import Path

import pytest

from model.device import Device
from model.device_catalog import device_from_json, device_to_json
from profiler.calibrate import calibrate
from profiler.devices import discover
from profiler.measurement import Cancelled, DeviceGone
from profiler.store import Store

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

Heard = list[tuple[float, str]]


@pytest.fixture(scope="module")
def calibrated() -> tuple[Device, Heard]:
    """One quick calibration of PoCL for all the promises about it."""
    heard: Heard = []
    made = calibrate("pocl", quick=True, on_progress=lambda fraction, text: heard.append((fraction, text)))
    return made, heard


def test_a_calibrated_device_has_every_rate_and_is_found_again(
    calibrated: tuple[Device, Heard], tmp_path: Path
) -> None:
    device, _ = calibrated
    store = Store.open(tmp_path / "store.sqlite3")
    store.save_profile(device)

    assert device.calibrated
    assert device.measured_at
    assert device.noise_percent is not None
    unsupported = {"fp16_gflop_s"} if not device.has_fp16 else set()
    unsupported.add("peak_bandwidth_gb_s")  # stands in data sheets alone
    rates = device.rates
    assert all(
        getattr(rates, name) > 0
        for name in rates.__slots__
        if name.endswith(("_s", "_us", "_ns")) and name not in unsupported
    )
    for curve in (rates.bandwidth, rates.gather, rates.strided):
        assert len(curve) >= 3
        assert all(value > 0 for point in curve for value in astuple(point)[:-1])  # noise may be none
    assert [point.read_gb_s for point in rates.bandwidth] == sorted(
        (p.read_gb_s for p in rates.bandwidth), reverse=True
    )

    side = rates.host_side
    assert side is not None
    assert {point.kind for point in side.transfers} == {"write", "read", "copy", "map", "first write", "first read"}
    assert {point.is_pinned for point in side.transfers if point.kind == "write"} == {True, False}
    assert all(point.transfer_us > 0 for point in side.transfers)

    again = next(d for d in discover(store) if d.id == "pocl")
    assert again.rates == rates
    assert again.calibration == device.calibration
    assert again.calibrated


def test_a_profile_says_how_sure_each_rate_is_and_under_which_conditions(calibrated: tuple[Device, Heard]) -> None:
    device, _ = calibrated
    rates = device.rates
    single = {noise.rate for noise in rates.noise}
    assert {"launch_floor_us", "fp32_gflop_s", "special_gop_s", "barrier_ns", "atomic_gop_s"} <= single
    assert single <= set(rates.__slots__)
    assert all(noise.percent >= 0 for noise in rates.noise)
    assert any(point.noise_percent > 0 for point in rates.bandwidth)

    calibration = device.calibration
    assert calibration is not None
    assert calibration.is_quick
    assert calibration.duration_s > 0
    assert calibration.failures == ()
    assert device_from_json(device_to_json(device)) == device


def test_caches_and_vectors_are_told_from_what_was_measured(calibrated: tuple[Device, Heard]) -> None:
    rates = calibrated[0].rates
    assert rates.memory_levels[-1].name == "memory"
    assert {"loops of run-time length", "branches that the data decide"} <= {v.surrounding for v in rates.vectorised}


def test_progress_names_each_step_and_never_goes_back(calibrated: tuple[Device, Heard]) -> None:
    fractions = [fraction for fraction, _ in calibrated[1]]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] < 1
    assert len(set(fractions)) > 20
    assert all(text for _, text in calibrated[1])


def test_calibrating_can_be_cancelled() -> None:
    cancel = threading.Event()
    with pytest.raises(Cancelled):
        calibrate("pocl", quick=True, cancel=cancel, on_progress=lambda *_: cancel.set())


def test_a_device_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(DeviceGone, match=r"`nvidia-h9000` is not in this machine.* pocl"):
        calibrate("nvidia-h9000")
