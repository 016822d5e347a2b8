"""Snapshots built by hand: what the features answer from, without engine, device or server."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from model.account import Bound, Times
from model.device import Device
from model.device_catalog import find_builtin
from model.forecast import FileForecast, Forecast, Problem
from model.launch.launch import Assumption, Launch, Origin
from model.line_costs import LineCost, LinePart
from model.line_remap import PlacedCounts
from model.opencl.kernel import Kernel, KernelAttributes, SourceRange
from model.prediction import Basis, ModelEstimate, Prediction, Quantiles
from model.work.features.facts import no_facts
from model.work.work_counts import WorkCounts
from profiler.measurement import Measurement
from server.client.settings import Settings
from server.documents import Document
from server.positions import IndexedText
from server.snapshot import Analysis, Snapshot

URI = "file:///work/blur.cl"
SOURCE = "// 😀 a comment\n__kernel void blur(__global float *a) { // 👍\n  a[0] = 1;\n}\n"


@pytest.fixture
def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


@pytest.fixture
def forecast_of(device: Device) -> Callable[..., FileForecast]:
    """Forecasts for every `__kernel void name(...)` of a text; launches and predictions by default alike."""

    def build(
        text: str,
        launches: tuple[Launch, ...] = (Launch((1024,), (64,), origin=Origin.INFERRED),),
        runtime_us: tuple[float, float, float] = (2200.0, 3200.0, 4480.0),
        problem: Problem | None = None,
        **changes: Any,
    ) -> FileForecast:
        kernels = tuple(_kernels(text))
        answer = prediction(device, runtime_us, **changes)
        forecasts = tuple(
            Forecast(kernel, problem=problem) if problem else Forecast(kernel, launch, answer)
            for kernel in kernels
            for launch in launches
        )
        return FileForecast(kernels, forecasts)

    return build


def prediction(device: Device, runtime_us: tuple[float, float, float], **changes: Any) -> Prediction:
    work = WorkCounts(
        work_items=1024, work_groups=16, flops=2.1e9, ops=(), accesses=(), global_load_bytes=4.3e9,
        global_store_bytes=4.2e6, global_footprint_bytes=12.6e6, constant_load_bytes=0, local_load_bytes=0,
        local_store_bytes=0, local_bytes_per_group=0, private_array_bytes=0, atomics=0, barriers=0, image_reads=0,
        image_writes=0, facts=no_facts(),
    )  # fmt: skip
    counted = PlacedCounts(
        changes.pop("work", work),
        changes.pop("assumptions", (Assumption("n", "`n` is taken to be 1024.", 1.5),)),
        changes.pop("line_costs", (LineCost(2, (LinePart("global memory", 1.0, "12.6 MB stored to `a`"),)),)),
    )
    shown, basis = Quantiles(*runtime_us), changes.pop("basis", Basis.ANALYTIC)
    by_lessons, is_corrected = changes.pop("by_lessons", False), changes.pop("is_corrected", False)
    if basis is not Basis.ANALYTIC or is_corrected:
        changes["learned"] = ModelEstimate(shown, basis, changes.pop("novelty", None), by_lessons, is_corrected)
    plain = Prediction(
        shown, counted, device.id, device.name, calibrated=False, candidate_advice=changes.pop("advice", ()),
        analytic_times=Times(
            (("global memory", Bound.MEMORY, 3100.0), ("launch floor", Bound.LAUNCH, 100.0)), 3200.0, 10.0
        ),
    )  # fmt: skip
    return replace(plain, **changes)


def _kernels(text: str) -> list[Kernel]:
    def place(start: int, end: int) -> SourceRange:
        ends = [(text.count("\n", 0, o), len(text[text.rfind("\n", 0, o) + 1 : o].encode())) for o in (start, end)]
        return SourceRange(*ends[0], *ends[1])

    found = []
    for match in re.finditer(r"__kernel void (\w+)\([^)]*\)", text):
        end = text.find("}", match.end()) + 1 or len(text)
        found.append(
            Kernel(
                name=match[1],
                parameters=(),
                attributes=KernelAttributes(),
                name_range=place(match.start(1), match.end(1)),
                signature_range=place(match.start(), match.end()),
                range=place(match.start(), end),
                fingerprint=f"print of {text[match.start() : end]}",
            )
        )
    return found


@pytest.fixture
def snapshot_of(device: Device, forecast_of: Callable[..., FileForecast]) -> Callable[..., Snapshot]:
    """A snapshot of a text that was analysed just now."""

    def build(
        text: str = SOURCE,
        *,
        forecast: FileForecast | None = None,
        encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16,
        settings: Settings | None = None,
        **known: Any,
    ) -> Snapshot:
        document = Document(URI, 1, IndexedText.of(text))
        analysis = Analysis(1, document, forecast or forecast_of(text), device, found=(device,))
        return Snapshot(document, analysis, settings or Settings(), encoding, **known)

    return build


@pytest.fixture
def measurement(device: Device) -> Callable[..., Measurement]:
    def build(snapshot: Snapshot, median_us: float = 3100.0, **changes: Any) -> Measurement:
        forecast = snapshot.analysis.forecast.forecasts[0]
        assert forecast.launch is not None
        plain = Measurement(
            kernel=forecast.kernel.name,
            kernel_fingerprint=forecast.kernel.fingerprint,
            launch_key=forecast.launch.key,
            launch=forecast.launch.describe(),
            device_id=device.id,
            device_name=device.name,
            driver="1.0",
            median_us=median_us,
            p10_us=median_us * 0.97,
            p90_us=median_us * 1.06,
            ci95_us=(median_us * 0.99, median_us * 1.01),
            repeats=40,
            batches=5,
            batch_spread_percent=1.8,
            local_size=(64,),
            load_average=0.1,
            measured_at="2026-01-02T03:04:05+00:00",
        )
        return replace(plain, **changes)

    return build


@pytest.fixture
def run(kernelcast: str, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Starts the console script in a folder and with a store of its own."""

    def start(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [kernelcast, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "KERNELCAST_DATA_DIR": str(tmp_path / "data"), **environment},
        )

    return start


def answers(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """Return the JSON lines of stdout: nothing else may stand there."""
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
