"""Which of the project's own kernels are measured, and with which launches."""

from __future__ import annotations

from pathlib import Path

from model.device import Device
from model.engine import Engine
from profiler.measurement import MeasureRequest

TESTS = Path(__file__).resolve().parent.parent
FOLDERS = (TESTS / "kernels", TESTS / "oracles" / "kernels")
FOR_A_CLOCK = "measure"  # the name of launches that are large enough to be timed; others there are for counting


def requests(device: Device, wanted: int, budget_s: float) -> list[MeasureRequest]:
    """One launch each of `wanted` kernels, each from a file of its own: at even distances over all files, in order."""
    files = [file for folder in FOLDERS for file in sorted(folder.glob("*.cl"))]
    wanted = min(wanted, len(files))
    chosen = [files[at * len(files) // wanted] for at in range(wanted)]
    return [request for file in chosen if (request := _of(file, device, budget_s)) is not None]


def _of(file: Path, device: Device, budget_s: float) -> MeasureRequest | None:
    source = file.read_text(encoding="utf-8")
    forecasts = [one for one in Engine().forecast(source, file, device).forecasts if one.launch is not None]
    for_a_clock = [one for one in forecasts if one.launch is not None and one.launch.name == FOR_A_CLOCK]
    for one in (for_a_clock or forecasts)[:1]:
        assert one.launch is not None
        return MeasureRequest(source, str(file), one.kernel, one.launch, device.id, budget_s)
    return None
