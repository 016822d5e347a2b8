"""Whether our own kernels stay in their buffers: `.venv/bin/python tests/profiler/guarded_kernels.py` proves it of all.

Every launch of every kernel in tests/kernels and tests/oracles/kernels, on each CPU device; a sample is a test.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.engine import Engine
from profiler.devices import discover, find_device
from profiler.measure import measure_all
from profiler.measurement import MeasureError, Measurement, MeasureRequest

TESTS = Path(__file__).resolve().parent.parent
FOLDERS = (TESTS / "kernels", TESTS / "oracles" / "kernels")
BUDGET_S = 0.01  # the times do not matter


def proved(files: Iterable[Path], device_id: str) -> Iterator[tuple[Path, MeasureRequest, Measurement | MeasureError]]:
    """Each launch with what came of it."""
    device = find_device(discover(), device_id)
    for file in files:
        source = file.read_text("utf-8")
        forecasts = Engine().forecast(source, file, device).forecasts
        requests = [
            MeasureRequest(source, str(file), one.kernel, one.launch, device.id, BUDGET_S)
            for one in forecasts
            if one.launch is not None
        ]
        for request, outcome in zip(requests, measure_all(requests), strict=True):
            yield file, request, outcome


def main() -> int:
    bad = 0
    for device_id in sys.argv[1:] or ["pocl", "intel-cpu"]:
        files = [file for folder in FOLDERS for file in sorted(folder.glob("*.cl"))]
        for file, request, outcome in proved(files, device_id):
            word = outcome.checked if isinstance(outcome, Measurement) else f"{outcome.code}: {outcome.message}"
            bad += word != "guard pages"
            print(f"{device_id} {file.name} {request.kernel.name} {request.launch.describe()}: {word}", flush=True)
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
