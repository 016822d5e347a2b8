"""Launches as a recording has them, for tests of all packages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from model.launch.expression import constant
from model.launch.fill import parse_fill
from model.launch.launch import Number, Origin
from model.launch.recorded import RecordedLaunch
from model.launch.spec import LaunchSpec
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.recordings import Recording, save
from profiler.store import Store

DEVICE = "generic-cpu"


def recorded(
    kernel: str,
    sizes: tuple[int, ...] | int,
    local: tuple[int, ...] | int | None = None,
    *,
    count: int = 1,
    event_us: float | None = None,
    fingerprint: str = "",
    defines: dict[str, str] | None = None,
    fills: dict[str, str] | None = None,
    values: dict[str, Number] | None = None,
    **changes: Any,
) -> RecordedLaunch:
    """A launch that a program made `count` times; `values` are its arguments and lengths."""
    global_size = (sizes,) if isinstance(sizes, int) else sizes
    local_size = (local,) if isinstance(local, int) else local
    spec = LaunchSpec(
        global_size=tuple(map(constant, global_size)),
        local_size=tuple(map(constant, local_size)) if local_size else None,
        driver_chooses_local=local_size is None,
        values=tuple((name, (constant(value),)) for name, value in (values or {}).items()),
        fills=tuple((name, parse_fill(word)) for name, word in (fills or {}).items()),
        options=BuildOptions(tuple((defines or {}).items())),
        origin=Origin.RECORDED,
    )
    total_us = None if event_us is None else count * event_us
    plain = RecordedLaunch(
        kernel, spec, count, event_us, total_us, fingerprint, DEVICE, "A CPU", 1_790_000_000.0, "python app.py"
    )
    return replace(plain, **changes)


def keep_scale(project: Path, text: str, *launches: tuple[int, int, float | None], device_id: str = DEVICE) -> None:
    """Put a recording of the kernel `scale(x, n, factor)` into the store: sizes, counts and times of its launches."""
    (kernel,) = read_program(text).kernels
    made = tuple(
        RecordedEntry(
            "scale",
            (size,),
            (64,),
            args=(("n", size), ("factor", 2.5)),
            buffers=(("x", size),),
            count=count,
            event_us=event_us,
            total_us=event_us * count if event_us is not None else None,
            fingerprint=kernel.fingerprint,
            device_id=device_id,
            device_name="A CPU",
        )
        for size, count, event_us in launches
    )
    run = Recording(project, ("python", "app.py"), str(project), 1_790_000_000.0, 0, made)
    save(Store.open(), run)
