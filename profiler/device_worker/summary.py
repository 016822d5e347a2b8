"""From what was timed to the measurement that is reported and kept."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from statistics import median

import pyopencl as cl

from profiler.batches import (
    Load,
    is_disturbed,
    is_enough,
    is_on_shared_host,
    others_meanwhile,
    others_share,
    repeat_interval,
    runs_of,
)
from profiler.device_worker.timing import Timing
from profiler.measurement import Measurement, MeasureRequest
from profiler.statistics import drift_percent, outliers, quantile, spread_percent
from profiler.warnings import Circumstances, remarks


@dataclass(frozen=True, slots=True)
class Before:
    """What was known before the launch was timed; `loads` are of launches before it in this process."""

    load_average: float
    checked: str
    loads: tuple[Load, ...] = ()


def summary(
    request: MeasureRequest, device: cl.Device, timing: Timing, before: Before, seen: Circumstances
) -> Measurement:
    """Return the figures, and in `notes` what a user should know about them."""
    batches, runs = timing.batches, runs_of(timing.batches)
    medians = [batch.median_us for batch in batches]
    loads = [batch.load for batch in timing.seen if batch.load is not None]
    others, meanwhile = others_share(loads), others_meanwhile(batches, before.loads)
    measured = Measurement(
        kernel=request.kernel.name,
        kernel_fingerprint=request.kernel.fingerprint,
        launch_key=request.launch.key,
        launch=request.launch.describe(),
        device_id=request.device_id,
        device_name=device.name.strip(),
        driver=device.driver_version.strip(),
        median_us=median(runs),
        p10_us=quantile(runs, 0.1),
        p90_us=quantile(runs, 0.9),
        ci95_us=repeat_interval(batches, on_shared_host=is_on_shared_host(loads)),
        repeats=len(runs),
        batches=len(batches),
        batch_spread_percent=spread_percent(medians),
        local_size=request.launch.local_size,
        load_average=before.load_average,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        wall_us=_median(wall for batch in batches for wall in batch.walls_us),
        launch_overhead_us=_median(over for batch in batches for over in batch.overheads_us),
        options=shlex.join(request.launch.options.arguments()),
        checked=before.checked,
        settled=is_enough(batches),
        disturbed_batches=timing.judged.thrown_away,
        outliers=outliers(runs),
        drift_percent=drift_percent(medians),
        other_load_percent=_percent(others),
        programs_percent=_percent(meanwhile.programs),
        guests_percent=_percent(meanwhile.guests),
        is_disturbed=is_disturbed(batches, meanwhile),
        kernelcast_version=version("kernelcast"),
    )
    return replace(measured, notes=remarks(measured, replace(seen, longest_us=max(runs))))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return median(found) if found else None
