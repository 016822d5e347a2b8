"""Whether our own kernels stay in their buffers: `.venv/bin/python -m tests.profiler.guarded_kernels` proves it.

Every launch of every kernel in tests/kernels and tests/oracles/kernels, on each CPU device; a sample is a test.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.engine import Engine
from profiler.devices import discover, find_device
from profiler.measure import measure_all
from profiler.measurement import Measurement, MeasureRequest

TESTS = Path(__file__).resolve().parent.parent
FOLDERS = (TESTS / "kernels", TESTS / "oracles" / "kernels")
BUDGET_S, REPEATS = 0.01, 1  # the times do not matter


def proved(files: Iterable[Path], device_id: str) -> Iterator[tuple[MeasureRequest, str]]:
    """Each launch, with what proved it, or the failure that it ended in."""
    device = find_device(discover(), device_id)
    requests = [
        MeasureRequest(source, str(file), one.kernel, one.launch, device.id, BUDGET_S, REPEATS)
        for file in files
        for source in [file.read_text("utf-8")]
        for one in Engine().forecast(source, file, device).forecasts
        if one.launch is not None
    ]
    for request, outcome in zip(requests, measure_all(requests), strict=True):
        yield request, outcome.checked if isinstance(outcome, Measurement) else f"{outcome.code}: {outcome.message}"


def main() -> int:
    bad = 0
    for device_id in sys.argv[1:] or ["pocl", "intel-cpu"]:
        for file in (file for folder in FOLDERS for file in sorted(folder.glob("*.cl"))):
            for request, word in proved([file], device_id):
                bad += word != "guard pages"
                print(f"{device_id} {request.kernel.name} {request.launch.describe()}: {word}", flush=True)
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
