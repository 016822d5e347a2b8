"""Exact fixes change no result: on a device, for kernels of the corpus that compute in integers."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.device import Device
from model.launch.annotation import write_annotation
from model.opencl.program import read_program
from profiler.corpus.generate import FAMILIES, corpus_kernel
from profiler.devices import discover, find_device
from profiler.measurement import BuildFailed, KernelCrashed, MeasureRequest, OutOfBounds
from profiler.side_by_side import measure_side_by_side
from profiler.turns import Stopping
from server.analysis.fix_gains import FileContext, FixPredictor

pytestmark = pytest.mark.device

INTEGERS = sorted(
    name for name, family in FAMILIES.items() if family.group in ("bits", "integers", "hashing", "dynamic_programming")
)
SLOWEST_US = 20_000.0  # predicted


@pytest.fixture(scope="module")
def device() -> Device:
    return find_device(discover(), "pocl")


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(family=st.sampled_from(INTEGERS), seed=st.integers(0, 50))
def test_exact_fixes_leave_every_output_as_it_was(device: Device, family: str, seed: int) -> None:
    kernel = corpus_kernel(FAMILIES[family], seed)
    declared = read_program(kernel.source, options=kernel.options).by_name[kernel.name]
    launch = kernel.launches[0].launch
    lines = kernel.source.split("\n")
    at = declared.range.start_line
    text = "\n".join([*lines[:at], write_annotation(launch, declared), *lines[at:]])
    found = FixPredictor().all_fixes(FileContext(text, None, device), kernel.name, launch)
    exact = [each for each in found if each.fix.is_exact][:8]
    if not exact or found[0].before_us > SLOWEST_US:
        return
    versions = [(text, exact[0].before), *((each.text, each.after) for each in exact)]
    requests = [MeasureRequest(t, None, f.kernel, f.launch, device.id) for t, f in versions if f.launch is not None]
    side = measure_side_by_side(requests, budget_s=1.0, stopping=Stopping(drops_slower=False))
    if side.versions[0].error is not None or not side.is_repeatable:
        return  # atomics, whose order is nobody's promise
    # A busy machine may leave some of them without a turn.
    for each, version in zip(exact, side.versions[1:], strict=True):
        broken = isinstance(version.error, BuildFailed | KernelCrashed | OutOfBounds)
        assert not broken, f"{kernel.reference}: {each.fix.title}: {version.error}"
        assert version.equal is not False, f"{kernel.reference}: {each.fix.title}: {version.difference}"
