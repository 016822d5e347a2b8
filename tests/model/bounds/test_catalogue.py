"""What every device of the catalogue promises of every kernel: nothing beats the hardware, and more work takes longer.

No device and no kernel is left out of a property; where one speaks of GPUs alone, its name says so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analytic.bounds import floor_us
from model.device import BandwidthPoint, Device, DeviceType
from model.prediction import Prediction, Quantiles
from tests.model.bounds.kernels import KERNELS, OF_ANY_SIDE, STRIDED, analysed, devices, predict

GPUS = tuple(device for device in devices() if device.type is DeviceType.GPU)
QUANTILES = ("p10", "p50", "p90")
EQUAL = 1 + 1e-9
# Beyond this many times the last cache nothing of a stream is found again.
GONE_AT = 1.5
STRIDES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 32, 33, 64, 100, 1000)


@cache
def predicted(name: str, device: Device) -> tuple[Prediction, ...]:
    kernel = KERNELS[name]
    return tuple(predict(kernel.at(n), device) for n in kernel.sizes)


def _not_faster(slower: Prediction, faster: Prediction) -> bool:
    return all(getattr(slower.runtime_us, q) * EQUAL >= getattr(faster.runtime_us, q) for q in QUANTILES)


@pytest.mark.parametrize("name", KERNELS)
def test_no_quantile_exceeds_the_peaks_of_the_device(name: str) -> None:
    beaten = []
    for device in devices():
        rates = device.rates
        peak_gb_s = rates.peak_bandwidth_gb_s or rates.bandwidth[-1].read_gb_s / 0.6
        for n, found in zip(KERNELS[name].sizes, predicted(name, device), strict=True):
            work, runtime = found.work, found.runtime_us
            assert runtime.p10 <= runtime.p50 <= runtime.p90
            gflop_s = 1e-3 * work.flops / runtime.p10
            # Each element once, but those that are loaded and stored: these pass twice.
            twice = {"saxpy": 0.5, "scan": 1.0}.get(name, 0.0)
            gb_s = 1e-3 * work.global_footprint_bytes * (1 + twice) / runtime.p10
            is_far = work.global_footprint_bytes > GONE_AT * max(device.cache_bytes, _seen_as_memory(device))
            if gflop_s > EQUAL * rates.fp32_gflop_s or (is_far and gb_s > EQUAL * peak_gb_s):
                beaten.append((device.id, n, gflop_s, gb_s))
    assert beaten == []


def _held_bytes(device: Device) -> int:
    """The largest footprint of the profile's curve that is faster than memory."""
    points = device.rates.bandwidth
    return max((p.footprint_bytes for p in points if p.read_gb_s > 1.3 * points[-1].read_gb_s), default=0)


def _seen_as_memory(device: Device) -> int:
    """The least footprint of the profile's curve that is no faster than memory: caches end before it."""
    points = device.rates.bandwidth
    return min((p.footprint_bytes for p in points if p.read_gb_s <= 1.3 * points[-1].read_gb_s), default=0)


@pytest.mark.parametrize("name", KERNELS)
def test_more_work_is_never_faster(name: str) -> None:
    faster = [
        (device.id, n)
        for device in devices()
        for n, less, more in zip(
            KERNELS[name].sizes, predicted(name, device), predicted(name, device)[1:], strict=False
        )
        if not _not_faster(more, less)
    ]
    assert faster == []


@pytest.mark.parametrize("name", OF_ANY_SIDE)
def test_no_gpu_is_faster_for_rows_that_happen_to_begin_on_lines(name: str) -> None:
    """A product of 512 x 512 took half of what one of 500 x 500 did: whose rows began on lines was all that counted."""
    kernel = OF_ANY_SIDE[name]
    found = {device.id: [predict(kernel.at(n), device) for n in kernel.sizes] for device in GPUS}
    faster = [
        (device_id, n)
        for device_id, each in found.items()
        for n, less, more in zip(kernel.sizes[1:], each, each[1:], strict=False)
        if not _not_faster(more, less)
    ]
    assert faster == []


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["copy", "saxpy", "gather", "reduction", "scan", "naive", "tiled", "stencil", "transposed"]),
    st.floats(0, 1),
    st.floats(1.01, 2),
)
def test_more_work_is_never_faster_at_any_size(name: str, place: float, factor: float) -> None:
    kernel = KERNELS[name]
    step = 256 if kernel.sizes[0] >= 4096 else 16
    least, most = kernel.sizes[0], kernel.sizes[-3]
    n = max(1, round(least * (most / least) ** place / step)) * step
    m = max(n + step, round(n * factor / step) * step)
    less, more = kernel.at(n), kernel.at(m)
    assert [d.id for d in devices() if not _not_faster(predict(more, d), predict(less, d))] == []


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["copy", "naive", "gather", "stencil"]), st.floats(0, 1))
def test_a_gpu_takes_a_little_longer_for_a_little_more(name: str, place: float) -> None:
    """A tenth more of each side or length: however near the end of a cache, time grows by less than twice the work."""
    kernel = KERNELS[name]
    step, power = (256, 1) if name in ("copy", "gather") else (16, 3 if name == "naive" else 2)
    least, most = kernel.sizes[1], kernel.sizes[-3]
    n = max(10, round(least * (most / least) ** place / step)) * step
    m = n + n // 10 // step * step
    less, more = kernel.at(n), kernel.at(m)
    cliffs = [
        (d.id, n, m)
        for d in GPUS
        if predict(more, d).runtime_us.p50 > 1.5 * (m / n) ** power * predict(less, d).runtime_us.p50
    ]
    assert cliffs == []


def test_a_cpu_takes_less_than_twice_as_long_for_a_tenth_more_than_its_cache_holds() -> None:
    """Its memory may be twenty times slower than its last cache."""
    copy, cliffs = KERNELS["copy"], []
    for device in (device for device in devices() if device.type is DeviceType.CPU):
        cache_bytes = max(device.cache_bytes, _held_bytes(device))
        ends = [round(cache_bytes / 8 * 1.1**step / 256) * 256 for step in range(-1, 6)]
        times = [predict(copy.at(n), device).runtime_us.p50 for n in ends]
        cliffs += [(device.id, n) for n, less, more in zip(ends, times, times[1:], strict=False) if more > 2 * less]
    assert cliffs == []


@pytest.mark.parametrize("n", [1 << 12, 1 << 16, 1 << 20, 1 << 22])
def test_a_strided_access_is_never_faster_than_one_of_neighbours(n: int) -> None:
    made = [analysed(STRIDED, f"global={n} local=64 step={s} a={n * s} b={n * s}") for s in STRIDES]
    faster = []
    for device in devices():
        unit, *strided = (predict(each, device) for each in made)
        faster += [(device.id, s) for s, each in zip(STRIDES[1:], strided, strict=True) if not _not_faster(each, unit)]
    assert faster == []


@pytest.mark.parametrize(
    ("slower", "faster"),
    [
        pytest.param("transposed", "straight", id="an uncoalesced copy than a coalesced one"),
        pytest.param("across", "naive", id="an uncoalesced matrix product than a coalesced one"),
        pytest.param("naive", "tiled", id="a plain matrix product than one in tiles"),
    ],
)
def test_no_gpu_is_faster_with(slower: str, faster: str) -> None:
    assert KERNELS[slower].sizes == KERNELS[faster].sizes
    wrong = [
        (device.id, n)
        for device in GPUS
        for n, slow, fast in zip(
            KERNELS[slower].sizes, predicted(slower, device), predicted(faster, device), strict=True
        )
        if not _not_faster(slow, fast)
    ]
    assert wrong == []


def test_intels_gpus_place_groups_on_cores_of_several_units() -> None:
    cores = {device.id: device.core_count for device in GPUS if device.cores}
    assert cores["intel-arc-a770-graphics"] == 32
    assert cores["intel-uhd-graphics-620"] == 3
    assert cores["intel-iris-xe-graphics"] == 6
    for device in GPUS:
        small, large = (predicted("bodies", device)[at].runtime_us.p50 for at in (2, 3))
        assert large > 3 * small, device.id


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1e9), min_size=3, max_size=3), st.sampled_from(sorted(KERNELS)), st.integers(0, 10_000))
def test_whoever_answers_stays_above_the_floor(times: list[float], name: str, at: int) -> None:
    device = devices()[at % len(devices())]
    work, launch = KERNELS[name].at(KERNELS[name].sizes[0])
    least_us = floor_us(work.count(launch), device)
    found = Quantiles(*sorted(times)).at_least(least_us)
    assert least_us <= found.p10 <= found.p50 <= found.p90
    again = found.at_least(least_us)
    assert again == found


def test_the_floor_of_a_calibrated_device_lies_above_what_it_was_seen_to_do() -> None:
    """What a calibration saw is sustained: a kernel may come nearer to the peak than its probes did."""
    for device in devices():
        calibrated = replace(device, source=type(device.source)("calibrated"))
        for name in ("copy", "chain"):
            work, launch = KERNELS[name].at(KERNELS[name].sizes[-1])
            counts = work.count(launch)
            assert floor_us(counts, calibrated) <= floor_us(counts, device)


def test_a_launch_is_bound_by_the_memory_that_was_measured_at_its_size() -> None:
    """Intel's runtime names the second of three caches: what the third holds passes at that one's rate."""
    mib = 1 << 20
    points = ((mib, 180.0), (16 * mib, 145.0), (64 * mib, 30.0), (256 * mib, 25.0))
    (cpu, *_) = (device for device in devices() if device.type is DeviceType.CPU)
    bandwidth = tuple(BandwidthPoint(footprint, gb_s, gb_s, gb_s) for footprint, gb_s in points)
    rates = replace(cpu.rates, bandwidth=bandwidth, memory_levels=(), peak_bandwidth_gb_s=0.0)
    device = replace(cpu, rates=rates, cache_bytes=mib)
    for n, fastest_gb_s in ((mib, 155.0), (2 * mib, 145.0), (16 * mib, 30.0), (64 * mib, 25.0)):
        work, launch = KERNELS["copy"].at(n)
        counts = work.count(launch)
        seen_us = 1e-3 * counts.global_footprint_bytes / fastest_gb_s
        assert 0.4 * seen_us < floor_us(counts, device) < seen_us


def test_a_median_below_the_floor_takes_its_upper_end_along() -> None:
    assert Quantiles(1.0, 2.0, 4.0).at_least(6.0) == Quantiles(6.0, 6.0, 12.0)
    assert Quantiles(1.0, 2.0, 4.0).at_least(1.5) == Quantiles(1.5, 2.0, 4.0)
