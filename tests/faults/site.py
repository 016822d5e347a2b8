"""Where faults are injected: one server with an editor attached, drivers of ours beside PoCL, a store with a past."""

from __future__ import annotations

import random
import subprocess
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pyopencl

from model.device import ProfileSource
from model.device_catalog import builtin_devices
from profiler.measurement import Measurement
from profiler.process.framing import packed
from profiler.process.messages import Progress
from profiler.store import FILE_NAME, Store
from tests.e2e.editor import Editor, started
from tests.faults.disk import small_disk
from tests.faults.watching import environment_of

HERE = Path(__file__).parent
CALM = """// kernelcast: global=64 local=64 n=64
__kernel void calm(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""
SETTINGS = {"device": "pocl", "measure": {"budgetS": 0.05, "timeLimitS": 60}}
PAST = Measurement(
    kernel="calm", kernel_fingerprint="long ago", launch_key="l", launch="64 / 64", device_id="pocl", device_name="CPU",
    driver="0", median_us=10.0, p10_us=9.0, p90_us=12.0, ci95_us=(9.5, 10.5), repeats=20, batches=6,
    batch_spread_percent=1.5, local_size=(64,), load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
)  # fmt: skip


@dataclass
class Site:
    """What a scenario plays with."""

    editor: Editor
    home: Path
    mark: str
    dice: random.Random

    @property
    def server(self) -> int:
        return self.editor.server.pid

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def temporary(self) -> Path:
        return self.home / "tmp"

    @property
    def vendors(self) -> Path:
        return self.home / "vendors"

    def set_fault(self, fault: str) -> None:
        """What the driver of ours does in the next device process."""
        (self.home / "fault").write_text(fault)

    def device_process(self) -> psutil.Process | None:
        """The newest child of the server."""
        children = psutil.Process(self.server).children()
        return max(children, key=lambda each: each.create_time()) if children else None

    async def measure(self, name: str, text: str, kernel: str) -> Any:
        """Open it, measure it and close it; the answer."""
        self.editor.open(name, text)
        try:
            return await self.editor.measure(name, kernel)
        finally:
            self.editor.close(name)

    async def measure_calm(self) -> Any:
        return await self.editor.measure("calm.cl", "calm")


@asynccontextmanager
async def site(
    kernelcast: str, home: Path, seed: int, *, fault: str = "", settings: dict[str, Any] | None = None
) -> AsyncIterator[Site]:
    """A fresh server below `home`; its store holds a measurement and a profile already."""
    mark = uuid.uuid4().hex
    environment = {**environment_of(home, mark), **_drivers(home)}
    (home / "fault").write_text(fault)
    chosen = {**SETTINGS, **(settings or {})}
    with small_disk(home / "data"):
        fill(home / "data" / FILE_NAME)
        async with started(kernelcast, home, settings=chosen, environment=environment) as editor:
            editor.open("calm.cl", CALM)
            yield Site(editor, home, mark, random.Random(seed))


def _drivers(home: Path) -> dict[str, str]:
    """PoCL once more than PyOpenCL finds it by itself, so that one can go; and one that misbehaves as it is told."""
    vendors = home / "vendors"
    vendors.mkdir(exist_ok=True)
    driver = home / "driver.so"
    if not driver.exists():
        subprocess.run(["cc", "-shared", "-fPIC", "-o", driver, HERE / "driver.c"], check=True)
    (vendors / "faulty.icd").write_text(f"{driver}\n")
    put_pocl(vendors)
    (home / "message").write_bytes(packed(Progress(0.5, "again and again")))
    return {
        "OCL_ICD_VENDORS": str(vendors),
        "FAULT": str(home / "fault"),
        "FAULT_MESSAGE": str(home / "message"),
    }


def put_pocl(vendors: Path) -> None:
    """Install it, as a package would."""
    libraries = Path(pyopencl.__file__).parent / ".libs"
    (pocl,) = libraries.glob("libpocl-*.so")
    (vendors / "pocl.icd").write_text(f"{pocl}\n")


def fill(path: Path) -> None:
    store = Store.open(path)
    if not store.profiles():
        store.add_measurement(PAST, 12.0, path="/past/calm.cl")
        profile = replace(
            builtin_devices()[0], source=ProfileSource.CALIBRATED, measured_at="2026-01-01T00:00:00+00:00"
        )
        store.save_profile(profile)
