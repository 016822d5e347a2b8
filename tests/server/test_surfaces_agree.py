"""Whoever is asked, the answer is the same: `predict`, a batch, the editor's analysis, a report and its tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from model.device import Device, DeviceType
from model.device_catalog import find_builtin, well_known_devices
from model.engine import Engine
from model.forecast import FileForecast
from model.launch.expression import constant
from model.launch.spec import LaunchSpec
from model.prediction import Basis, Prediction
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.sources import Sources
from server.analysis.store_cache import StoreCache
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.requests import Request
from server.report.as_json import report_json
from server.report.builder import Subject, gather
from server.report.facts import Report

TEXT = """// kernelcast: global=n local=64 n=1048576 a=n b=n
__kernel void saxpy(__global const float *a, __global float *b, const int n) {
    int i = get_global_id(0);
    if (i < n) b[i] = 2.0f * a[i] + b[i];
}
// kernelcast: global=n,n local=16,16 n=512 a=n*n b=n*n c=n*n
__kernel void product(__global const float *a, __global const float *b, __global float *c, const int n) {
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0;
    for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
"""
DEVICES = ("generic-cpu", "nvidia-geforce-rtx-3080", "intel-arc-a770-graphics")


@dataclass(frozen=True, slots=True)
class World:
    file: Path
    sources: Sources
    forecaster: Forecaster

    def predicted(self, device_id: str, kernel: str) -> Prediction:
        """What `kernelcast predict --device` says."""
        found = self.forecaster.forecast(Request(self.file, kernel, device=device_id))
        (prediction,) = (forecast.prediction for forecast in found.forecasts)
        assert prediction is not None
        return prediction

    def report(self, device_id: str) -> Report:
        found = self.forecaster.forecast(Request(self.file, device=device_id))
        kernels = tuple({f.kernel.name: f.kernel for f in found.forecasts}.values())
        subject = Subject(self.file, "both.cl", FileForecast(kernels, found.forecasts), found.device)
        return gather("both", [subject], (), (), lambda _path, _kernel: (), self.sources)


def _device(device_id: str | None) -> Device:
    found = find_builtin(device_id or "generic-cpu")
    assert found is not None
    return found


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """With a learned model that says twice what the analytical model does."""
    file, weights = tmp_path / "both.cl", tmp_path / "weights"
    file.write_text(TEXT)
    weights.mkdir()
    (weights / "model.json").write_text(
        json.dumps({"kind": "linear", "log2_factor": 1.0, "spread": 1.25, "novelty": 0.5})
    )
    monkeypatch.setenv("KERNELCAST_WEIGHTS", str(weights))
    sources = sources_of(StoreCache(), analytic_only=False, ignore_measurements=True)
    return World(file, sources, Forecaster(_device, sources))


def test_the_reports_table_says_of_each_device_what_predict_says(world: World) -> None:
    for own in DEVICES:
        for kernel in world.report(own).kernels:
            (launch,) = kernel.launches
            assert len(launch.devices) >= len(well_known_devices())
            for row in launch.devices:
                asked = world.predicted(row.device.id, kernel.name)
                assert row.prediction is not None, row.problem
                assert row.prediction.runtime_us == asked.runtime_us, (own, row.device.id)
                assert row.prediction.basis is asked.basis


def test_only_devices_of_a_kind_that_it_was_trained_on_are_by_the_learned_model(world: World) -> None:
    for own in DEVICES:
        for kernel in world.report(own).kernels:
            for row in kernel.launches[0].devices:
                assert row.prediction is not None
                by_the_model = row.device.type is DeviceType.CPU
                assert (row.prediction.basis is Basis.MODEL) == by_the_model
                assert (row.prediction.novelty is not None) == by_the_model


@pytest.mark.parametrize("device_id", DEVICES)
def test_a_report_says_of_each_size_what_predict_says(world: World, device_id: str) -> None:
    for kernel in world.report(device_id).kernels:
        sizes = kernel.launches[0].sizes
        assert sizes is not None
        assert len(sizes.points) > 2
        asked = world.predicted(device_id, kernel.name)
        (current,) = (point for point in sizes.points if point.is_current)
        assert current.runtime_us == asked.runtime_us
        for point in sizes.points:
            n = point.work_items if kernel.name == "saxpy" else round(point.work_items**0.5)
            spec = LaunchSpec(values=(("n", (constant(n),)),))
            found = world.forecaster.forecast(Request(world.file, kernel.name, spec, device=device_id))
            assert found.forecasts[0].prediction is not None
            assert found.forecasts[0].prediction.runtime_us == point.runtime_us


@pytest.mark.parametrize("device_id", DEVICES)
def test_a_batch_and_a_report_in_json_say_the_same(world: World, device_id: str) -> None:
    names = ("saxpy", "product")
    outcomes = world.forecaster.forecast_each([Request(world.file, name, device=device_id) for name in names])
    told = {each["kernel"]: each for each in report_json(world.report(device_id))["kernels"]}
    for name, outcome in zip(names, outcomes, strict=True):
        asked = world.predicted(device_id, name)
        assert not isinstance(outcome, Exception)
        assert outcome.forecasts[0].prediction is not None
        assert outcome.forecasts[0].prediction.runtime_us == asked.runtime_us
        runtime_us = told[name]["launches"][0]["runtime_us"]
        assert runtime_us["p50"] == pytest.approx(asked.runtime_us.p50, rel=1e-3)
        assert runtime_us["p10"] == pytest.approx(asked.runtime_us.p10, rel=1e-3)


@pytest.mark.parametrize("device_id", DEVICES)
def test_the_editors_analysis_says_the_same(world: World, device_id: str) -> None:
    device = _device(device_id)
    found = Engine(asks=True).forecast(TEXT, world.file, device)
    (shown,) = Composer().composed([ForecastGroup(found.forecasts, device)], Sources(world.sources.ask))
    for forecast in shown:
        assert forecast.prediction is not None
        asked = world.predicted(device_id, forecast.kernel.name)
        assert (forecast.prediction.runtime_us, forecast.prediction.basis) == (asked.runtime_us, asked.basis)
