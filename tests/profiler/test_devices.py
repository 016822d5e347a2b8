"""Devices have ids that people can type and that stay the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device, DeviceType, ProfileSource
from model.device_catalog import builtin_devices, find_builtin
from model.device_rates import DriverFacts
from model.errors import UnknownDevice
from profiler.devices import assign_ids, device_of, discover, distinct_devices, find_device, with_calibrations
from profiler.measurement import DeviceGone


def facts(name: str, platform: str, vendor: str = "", kind: DeviceType = DeviceType.GPU) -> DriverFacts:
    return DriverFacts(
        name=name,
        platform=platform,
        vendor=vendor,
        type=kind,
        driver="1.0",
        compute_units=16,
        clock_mhz=1500,
        global_mem_bytes=8 * 10**9,
        max_alloc_bytes=2 * 10**9,
        local_mem_bytes=49152,
        cache_bytes=0,
        max_work_group_size=1024,
        max_work_item_sizes=(1024, 1024, 64),
        preferred_multiple=32,
        has_fp64=True,
        has_fp16=False,
        has_images=True,
    )


POCL = facts("cpu-haswell-Intel(R) Xeon(R)", "Portable Computing Language", "GenuineIntel", DeviceType.CPU)
INTEL_CPU = facts("Intel(R) Xeon(R)", "Intel(R) OpenCL", "Intel(R) Corporation", DeviceType.CPU)
INTEL_GPU = facts("Intel(R) UHD Graphics 770", "Intel(R) OpenCL Graphics", "Intel(R) Corporation")
H200 = facts("NVIDIA H200", "NVIDIA CUDA", "NVIDIA Corporation")
WHOLE_H200 = replace(H200, compute_units=132, clock_mhz=1980)
T4 = facts("Tesla T4", "NVIDIA CUDA", "NVIDIA Corporation")
AMD = facts("gfx90a:sramecc+:xnack-", "AMD Accelerated Parallel Processing", "Advanced Micro Devices, Inc.")
ODD = facts("Board 9", "Some SDK", kind=DeviceType.ACCELERATOR)


def test_ids_are_short_and_say_who_made_the_device() -> None:
    assert assign_ids((POCL, INTEL_CPU, INTEL_GPU, H200, T4, AMD, ODD)) == (
        "pocl",
        "intel-cpu",
        "intel-uhd-graphics-770",
        "nvidia-h200",
        "nvidia-tesla-t4",
        "amd-gfx90a-sramecc-xnack",
        "some-sdk-board-9",
    )


def test_alike_devices_are_numbered_in_the_drivers_order() -> None:
    assert assign_ids((H200, POCL, H200, POCL)) == ("nvidia-h200-1", "pocl-1", "nvidia-h200-2", "pocl-2")


def test_a_chip_of_the_catalog_gets_its_datasheet_rates_and_others_scaled_ones() -> None:
    known, unknown = device_of("nvidia-h200", WHOLE_H200), device_of("some-sdk-board-9", ODD)
    builtin = find_builtin("nvidia-h200")
    assert builtin is not None
    assert known.rates == builtin.rates
    assert "calibrate" in unknown.note
    assert unknown.rates.fp32_gflop_s > 0
    assert known.architecture == builtin.architecture == "hopper"
    assert device_of("amd-gfx1036", replace(AMD, name="gfx1036")).architecture == "rdna2"
    assert device_of("pocl", POCL).architecture == ""
    assert not known.calibrated


def test_calibrated_rates_count_for_the_same_driver_only() -> None:
    device = device_of("nvidia-h200", H200)
    rates = replace(device.rates, launch_floor_us=3.25)
    profile = replace(device, rates=rates, source=ProfileSource.CALIBRATED, measured_at="2026-01-01T00:00:00+00:00")
    (same,) = with_calibrations([device], [profile])
    (other,) = with_calibrations([replace(device, driver="2.0")], [profile])
    assert same.calibrated
    assert same.rates.launch_floor_us == 3.25
    assert not other.calibrated


def test_a_chip_of_this_machine_stands_for_its_datasheet_and_alike_chips_stay_apart() -> None:
    sheet = find_builtin("nvidia-h200")
    assert sheet is not None
    one, two = replace(sheet, id="nvidia-h200-1"), replace(sheet, id="nvidia-h200-2")
    again = replace(one, driver="older")
    assert distinct_devices((one, two, again), (sheet,)) == (one, two)
    assert distinct_devices((), (sheet,)) == (sheet,)


@pytest.fixture(scope="module")
def fleet() -> tuple[Device, ...]:
    every = (POCL, INTEL_CPU, H200, T4)
    return tuple(map(device_of, assign_ids(every), every))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("pocl", "pocl"),
        ("H200", "nvidia-h200"),
        ("Tesla-T4", "nvidia-tesla-t4"),
        ("teslaT4", "nvidia-tesla-t4"),
        ("portable", "pocl"),
        ("tesla", "nvidia-tesla-t4"),
    ],
)
def test_a_device_answers_to_its_id_or_to_any_part_that_no_other_has(
    fleet: tuple[Device, ...], wanted: str, found: str
) -> None:
    assert find_device(fleet, wanted).id == found


def test_a_name_that_fits_several_or_none_lists_the_choice(fleet: tuple[Device, ...]) -> None:
    with pytest.raises(UnknownDevice, match="`nvidia` could be any of: nvidia-h200, nvidia-tesla-t4"):
        find_device(fleet, "nvidia")
    with pytest.raises(UnknownDevice, match=r"no device answers to `rx580`; there are: pocl, intel-cpu, nvidia"):
        find_device(fleet, "rx580")
    with pytest.raises(UnknownDevice, match="there are: none"):
        find_device((), "")


@pytest.mark.device
@pytest.mark.usefixtures("nothing_left_behind")
def test_this_machines_devices_are_found_and_stay_the_same() -> None:
    once, twice = discover(), discover()
    assert [device.id for device in once] == [device.id for device in twice]
    assert len({device.id for device in once}) == len(once)
    assert all(device.compute_units > 0 and device.max_alloc_bytes > 0 for device in once)


@pytest.mark.device
@pytest.mark.usefixtures("nothing_left_behind")
def test_no_platform_at_all_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nonexistent.icd")
    with pytest.raises(DeviceGone, match=r"pip install 'kernelcast\[pocl\]'"):
        discover()


def test_ids_never_depend_on_what_the_catalog_holds() -> None:
    assert all(find_device(builtin_devices(), device.id) == device for device in builtin_devices())


@pytest.mark.parametrize(
    ("name", "units", "cores"),
    [
        ("Intel(R) Arc(TM) A770 Graphics", 512, 32),
        ("Intel(R) Arc(TM) A310 Graphics", 96, 6),
        ("Intel(R) Arc(TM) B580 Graphics", 160, 20),
        ("Intel(R) Iris(R) Xe Graphics", 80, 5),
        ("Intel(R) UHD Graphics 770", 32, 2),
        ("Intel(R) UHD Graphics 630", 23, 3),
        ("Intel(R) HD Graphics 4600", 20, 2),
        ("Intel(R) Iris(R) Plus Graphics", 64, 8),
    ],
)
def test_an_intel_gpu_has_as_many_cores_as_sub_slices_hold_its_execution_units(
    name: str, units: int, cores: int
) -> None:
    found = device_of("intel", replace(facts(name, "Intel(R) OpenCL Graphics", "Intel"), compute_units=units))
    assert (found.compute_units, found.core_count) == (units, cores)
    assert found.rates.groups_to_fill <= 8 * cores


def test_compute_units_of_other_makers_and_of_processors_hold_groups_themselves() -> None:
    for each in (facts("NVIDIA GeForce RTX 4090", "NVIDIA CUDA", "NVIDIA"), POCL, INTEL_CPU):
        found = device_of("here", replace(each, compute_units=128))
        assert (found.cores, found.core_count) == (0, 128)
