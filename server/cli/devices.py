"""`kernelcast devices`: the devices of this machine, and on request those known from datasheets."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from model.device import Device, ProfileSource
from model.device_catalog import builtin_devices
from profiler.devices import KNOWN_AS
from profiler.measurement import MeasureError
from server.analysis.devices import pick_device
from server.cli.device_choice import Devices
from server.cli.device_picture import show
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.terminal import out
from server.text.format import format_count, format_mem_bytes, shown_name


def run(arguments: argparse.Namespace) -> int:
    """List them, or show one; without any the status says that something failed, and stderr what."""
    if arguments.show is not None:
        return show(arguments)
    if arguments.format in ("svg", "png") or arguments.output:
        raise WrongCallError("a picture is of one device: say which, with --show DEVICE")
    devices = Devices()
    status = ANSWERED
    here: tuple[Device, ...] = ()
    try:
        here = devices.here
    except MeasureError as error:
        warn(error.message)
        status = SOME_FAILED
    chosen = pick_device((), here, (), ())[0].id if here else ""
    known = {device.id for device in here}
    listed = [*here, *(d for d in builtin_devices() if arguments.all and d.id not in known)]
    if arguments.format == "json":
        answers = [device_json(device) for device in listed]
        for answer in answers:
            answer.update(here=answer["id"] in known, default=answer["id"] == chosen)
        write_json(answers, indent=2)
    elif listed:
        console = out()
        console.print(_table(listed, known, chosen))
        if chosen:
            console.print("* used unless another is named", style="italic")
        if len(listed) > len(here):
            below = "Below the gap: devices" if here else "Devices"
            console.print(f"{below} that are not in this machine, to predict for", style="italic")
        for hint in _outdated(here, devices.remembered):
            out().print(hint)
    return status


def device_json(device: Device) -> dict[str, Any]:
    """Return what scripts want to know of a device."""
    return {
        "id": device.id,
        "name": device.name,
        "platform": device.platform,
        "type": str(device.type),
        "driver": device.driver,
        "calibrated": device.calibrated,
        "calibrated_at": device.measured_at,
        "noise_percent": device.noise_percent,
        "source": str(device.source),
        "compute_units": device.compute_units,
        "clock_mhz": device.clock_mhz,
        "global_mem_bytes": device.global_mem_bytes,
        "local_mem_bytes": device.local_mem_bytes,
        "max_work_group_size": device.max_work_group_size,
        "fp32_gflop_s": device.rates.fp32_gflop_s,
        "bandwidth_gb_s": device.rates.bandwidth[-1].read_gb_s if device.rates.bandwidth else None,
        "note": device.note,
    }


def _outdated(here: Sequence[Device], remembered: Sequence[Device]) -> Iterator[str]:
    """Yield notes on calibrations that are outdated, because the driver has changed."""
    for device in here:
        older = [p for p in remembered if (p.id, p.name) == (device.id, device.name) and p.driver != device.driver]
        if older and not device.calibrated:
            newest = max(older, key=lambda profile: profile.measured_at or "")
            yield (
                f"{device.id} was calibrated under driver {newest.driver}, and runs {device.driver} now: "
                f"kernelcast calibrate {device.id}"
            )


def _source(device: Device) -> str:
    """Return the source of the rates; for a calibration, its age."""
    if device.calibrated:
        return (
            f"calibration of {device.measured_at[:10]}{_age(device.measured_at)}"
            if device.measured_at
            else "calibration"
        )
    if device.note.startswith(KNOWN_AS):
        return f"those known of {device.note.removeprefix(KNOWN_AS).partition(':')[0]}"
    if device.source is ProfileSource.DATASHEET:
        return "clpeak's results, datasheet" if "clpeak" in device.note else "datasheet"
    return "driver, scaled"


def _age(measured_at: str) -> str:
    try:
        days = (datetime.now(UTC) - datetime.fromisoformat(measured_at)).days
    except (ValueError, TypeError):  # a date without a zone, from before these were kept
        return ""
    return "" if days < 1 else f", {days} day{'s' if days > 1 else ''} old"


def _table(devices: list[Device], here: set[str], chosen: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("Id", "Name", "Units", "Memory", "fp32 rate", "Rates from"):
        is_figure = column in {"Units", "Memory", "fp32 rate"}
        table.add_column(column, justify="right" if is_figure else "left", no_wrap=is_figure, overflow="fold")
    for device, following in zip_longest(devices, devices[1:]):
        table.add_row(
            device.id + (" *" if device.id == chosen else ""),
            shown_name(device.name),
            str(device.compute_units),
            format_mem_bytes(device.global_mem_bytes),
            format_count(device.rates.fp32_gflop_s * 1e9, "flop/s"),
            _source(device),
            end_section=device.id in here and following is not None and following.id not in here,
        )
    return table
