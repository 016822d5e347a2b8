"""The shipped profiles are those that the facts yield, and no fact is implausible."""

from __future__ import annotations

import pytest

from model.architectures import architecture_named, architectures
from model.device import Device, DeviceType
from model.device_catalog import builtin_devices, device_to_json
from tests.catalog.profiles import profiles, read_gpus, read_peaks

SHEETS = {row.name: row.figures.dram_bandwidth_gb_s or float("inf") for row in read_gpus()}
BOOST = 1.5  # what cards were seen to run above the clock that their driver reports
MEASURED = [device for device in builtin_devices() if "clpeak" in device.note]


def test_the_profiles_in_the_package_are_made_from_the_facts() -> None:
    made = {device.id: device for device in profiles()}
    assert made.keys() == {device.id for device in builtin_devices()}
    stale = [device.id for device in builtin_devices() if device_to_json(device) != device_to_json(made[device.id])]
    assert stale == [], "run `make catalog`"


def test_most_profiles_rest_on_measurements_and_all_name_their_source() -> None:
    assert len(MEASURED) >= 60
    assert all("Apache-2.0" in device.note and "driver" in device.note for device in MEASURED)
    assert all(device.note for device in builtin_devices())


@pytest.mark.parametrize("row", [row for row in read_gpus() if row.logs], ids=lambda row: row.name)
def test_measurements_and_datasheets_agree(row: object) -> None:
    from tests.catalog.profiles import GpuRow, _peaks_of

    assert isinstance(row, GpuRow)
    peaks = _peaks_of(row.logs, DeviceType.GPU, read_peaks())
    assert peaks is not None
    figures = row.figures
    clock_mhz = max(peaks.clock_mhz or 0, figures.clock_mhz)
    most = figures.compute_units * figures.lanes_per_unit * 2 * clock_mhz / 1000
    assert 0.5 * most < peaks.fp32_gflop_s < BOOST * most
    assert (peaks.fp64_gflop_s or 0) < 1.3 * figures.fp64_ratio * max(most, peaks.fp32_gflop_s) + 1
    if figures.dram_bandwidth_gb_s:
        assert (peaks.bandwidth_gb_s or 0) < figures.dram_bandwidth_gb_s


# A name tells another architecture, or fp32 is counted with what issues two operations at once.
OTHERWISE = {"GeForce GT 630"}
TWO_AT_ONCE = {"AMD Instinct MI250X"}


def test_facts_agree_with_the_table_of_architectures() -> None:
    rows = list(read_gpus())
    assert {row.architecture for row in rows} <= architectures().keys()
    assert [r.name for r in rows if architecture_named(r.name) != r.architecture and r.name not in OTHERWISE] == []
    shares = {row.name: (row.figures.int_ratio, architectures()[row.architecture].int32_share) for row in rows}
    assert {n: s for n, s in shares.items() if n not in TWO_AT_ONCE and s[0] != pytest.approx(s[1])} == {}


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)
def test_one_type_is_never_faster_than_hardware_allows(device: Device) -> None:
    rates = device.rates
    assert rates.fp64_gflop_s <= 1.3 * rates.fp32_gflop_s
    assert rates.fp16_gflop_s <= 4.1 * rates.fp32_gflop_s
    assert device.has_fp64 == (rates.fp64_gflop_s > 0)
    assert device.has_fp16 == (rates.fp16_gflop_s > 0)
    if (peak := SHEETS.get(device.name)) is not None:
        assert rates.bandwidth[-1].read_gb_s < peak
    assert device.max_alloc_bytes < device.global_mem_bytes
