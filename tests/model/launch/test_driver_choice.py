"""The local size that drivers choose: it divides the launch, fits the device, and is the one that was seen."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import Device
from model.device_catalog import find_builtin
from model.launch.driver_choice import chosen_local_size, on_device
from model.launch.launch import Launch


def a_cpu(platform: str, *, most: int, units: int = 4) -> Device:
    some = find_builtin("generic-cpu")
    assert some is not None
    return replace(
        some, platform=platform, max_work_group_size=most, max_work_item_sizes=(most, most, most), compute_units=units
    )


POCL = a_cpu("Portable Computing Language", most=4096)
INTEL = a_cpu("Intel(R) OpenCL", most=8192)
sizes = st.lists(st.integers(1, 5000), min_size=1, max_size=3).map(tuple) | st.integers(1, 1 << 24).map(lambda n: (n,))


@pytest.mark.parametrize(
    ("global_size", "seen"),
    [
        ((1048576,), (4096,)), ((15425864,), (2344,)), ((1000,), (1000,)), ((4099,), (1,)), ((512,), (128,)),
        ((1024, 1024), (512, 8)), ((1920, 1080), (120, 1)), ((64, 64, 64), (64, 8, 8)), ((17, 19, 23), (17, 19, 1)),
        ((6000,), (3000,)), ((1, 4096), (1, 1024)), ((3, 1, 100000), (3, 1, 1000)),
    ],
)  # fmt: skip
def test_pocl_chooses_as_it_was_seen_to(global_size: tuple[int, ...], seen: tuple[int, ...]) -> None:
    assert chosen_local_size(global_size, POCL) == seen


@pytest.mark.parametrize(
    ("global_size", "seen"),
    [((1048576,), (2048,)), ((15425864,), (6581,)), ((512,), (32,)), ((12288,), (192,)), ((1920, 1080), (1920, 1))],
)
def test_intel_chooses_as_it_was_seen_to(global_size: tuple[int, ...], seen: tuple[int, ...]) -> None:
    assert chosen_local_size(global_size, INTEL) == seen


@given(sizes, st.sampled_from([POCL, INTEL]))
def test_what_is_chosen_divides_the_launch_and_fits_the_device(global_size: tuple[int, ...], device: Device) -> None:
    local = chosen_local_size(global_size, device)
    assert len(local) == len(global_size)
    assert all(whole % own == 0 for whole, own in zip(global_size, local, strict=True))
    assert math.prod(local) <= device.max_work_group_size


def test_a_size_that_somebody_gave_stays() -> None:
    assert on_device(Launch((1024,), (16,)), POCL) == Launch((1024,), (16,))
