"""Launches as a recording has them, for tests of all packages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.launch.expression import constant
from model.launch.fill import parse_fill
from model.launch.launch import Number, Origin
from model.launch.recorded import RecordedLaunch
from model.launch.spec import LaunchSpec
from model.opencl.options import BuildOptions

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
