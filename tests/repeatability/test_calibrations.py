"""The comparison of two calibrations looks at every figure that was measured, each once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import BandwidthPoint, Cost, Device
from model.device_catalog import find_builtin
from model.device_curves import ArithmeticRate, RateNoise
from tests.repeatability.calibrations import all_rates, difference_percent, print_differences


@pytest.fixture
def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    rates = replace(
        found.rates,
        fp32_gflop_s=100.0,
        bandwidth=(BandwidthPoint(16384, 100.0, 50.0, 60.0, noise_percent=3.0), BandwidthPoint(65536, 10.0, 5.0, 0.0)),
        costs=(Cost("call.sin", 2.0), Cost("call.exp", 3.0)),
        arithmetic=(ArithmeticRate("float", "multiply-add", 100.0), ArithmeticRate("int", "add", 50.0)),
        noise=(RateNoise("fp32_gflop_s", 5.0),),
    )
    return replace(found, rates=rates)


def test_every_figure_of_every_curve_counts_once_and_noise_never(device: Device) -> None:
    names = [name for name, _ in all_rates(device.rates)]
    assert len(names) == len(set(names))
    found = dict(all_rates(device.rates))
    assert found["fp32_gflop_s"] == 100
    assert found["bandwidth 16384 write_gb_s"] == 50
    assert found["costs call.exp ns"] == 3
    assert found["arithmetic int add gop_s"] == 50
    assert "bandwidth 65536 copy_gb_s" not in found  # not measured
    assert not any("noise" in name for name in names)


def test_what_differs_most_is_named(device: Device, capsys: pytest.CaptureFixture[str]) -> None:
    print_differences(device, replace(device, rates=replace(device.rates, fp32_gflop_s=300.0)))
    summary, first, *_ = capsys.readouterr().out.splitlines()
    assert "differ by 0.00 % in the median" in summary
    assert "100.0 %  fp32_gflop_s: 100, 300" in first


def test_a_difference_is_the_same_both_ways() -> None:
    assert difference_percent(90.0, 110.0) == difference_percent(110.0, 90.0) == pytest.approx(20.0)
