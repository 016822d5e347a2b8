"""Accesses of private arrays on calibrated CPUs, without the operations around them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device
from tests.model.test_costs_of_cpus import predict, with_calibration

PRIVATE = """// kernelcast: global=65536 local=64 x=65536 n=64
__kernel void k(__global int *restrict x, int n) { size_t i = get_global_id(0); int row[64]; int at = x[i];
    for (int j = 0; j < n; ++j) row[INDEX & 63] = j; for (int j = 0; j < n; ++j) at += row[INDEX & 63]; x[i] = at; }"""


@pytest.mark.parametrize("library", ["", "Intel(R) OpenCL"])
def test_operations_around_a_private_access_are_not_paid_twice(cpu: Device, library: str) -> None:
    """The calibration's time includes them in scalar code, and a gather in vector code."""
    device = with_calibration(replace(cpu, platform=library or cpu.platform))
    slow = replace(device, rates=replace(device.rates, private_bandwidth_gb_s=2.0))

    def private_us(index: str) -> float:
        found = predict(slow, PRIVATE.replace("INDEX", index)).analytic_times
        assert found is not None
        return next(time_us for name, _, time_us in found.resources if name == "private memory")

    spent = [private_us("j"), private_us("at + j")]
    accesses_us = 65536 * 128 * 4 / (1e3 * 2.0)
    if library:
        assert spent[1] == pytest.approx(accesses_us, rel=0.1)
        assert spent[0] < 0.5 * spent[1]
    else:
        assert spent[0] == pytest.approx(spent[1], rel=0.1)
        assert 0.2 * accesses_us <= spent[0] < 0.95 * accesses_us
