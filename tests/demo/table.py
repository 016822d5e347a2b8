"""The demo's table and the lines under it."""

from __future__ import annotations

import os
import statistics

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text
from rows import Row

from model.device import Device
from model.prediction import Prediction
from profiler.measurement import Measurement
from server.text.format import format_duration_us, format_interval, format_percent, shown_name
from server.text.hint import basis_sign, signed_miss


def table(rows: list[Row], device: Device) -> Table:
    """Columns of fixed meaning; a row that lacks figures points to the reason below the table."""
    drawn = Table(
        title=f"Predicted before it ran, then measured: {shown_name(device.name)}",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    drawn.add_column("Kernel", no_wrap=True)
    for column in ("Predicted", "80 % range", "Measured", "Repeatability", "Error"):
        drawn.add_column(column, justify="right", no_wrap=True)
    drawn.add_column("Launch", no_wrap=True)
    drawn.add_column("Bound by")
    for row in rows:
        drawn.add_row(*_cells(row))
    return drawn


def _cells(row: Row) -> list[Text | str]:
    launch = row.launch.describe() if row.launch else ""
    if row.launch and row.launch.name:
        launch = f"{launch} ({row.launch.name})"
    prediction = _prediction_cells(row.prediction) if row.prediction else ["", ""]
    if row.prediction and row.measurement:
        bound = str(row.prediction.bound)
        return [row.kernel, *prediction, *_measurement_cells(row.measurement), _error_cell(row), launch, bound]
    return [row.kernel, *prediction, "-", "", "", launch, Text("see below", style="red")]


def _prediction_cells(prediction: Prediction) -> list[Text | str]:
    runtime = prediction.runtime_us
    return [
        f"{basis_sign(prediction)} {format_duration_us(runtime.p50)}",
        Text(format_interval(runtime.p10, runtime.p90), style="dim"),
    ]


def _measurement_cells(measurement: Measurement) -> list[Text | str]:
    return [
        format_duration_us(measurement.median_us, 3),
        Text(f"±{format_percent(measurement.batch_spread_percent)}", style="dim"),
    ]


def _error_cell(row: Row) -> Text | str:
    if row.error is None:
        return ""
    style = "green" if row.is_in_interval else "yellow" if row.is_within_2x else "red"
    return Text(signed_miss(1 + row.error), style=style)


def summary(rows: list[Row], device: Device) -> list[str]:
    """Why figures are missing, what those that are there come to, and under which conditions they were taken."""
    lines = [f"{row.kernel}: {row.failure}" for row in rows if row.failure]
    errors = [abs(row.error) for row in rows if row.error is not None]
    kernels = len({row.kernel for row in rows})
    lines.append(f"{len(errors)} of {len(rows)} launches of {kernels} kernels were predicted and measured.")
    if errors:
        within, inside = sum(row.is_within_2x for row in rows), sum(row.is_in_interval for row in rows)
        lines.append(
            f"Median error {100 * statistics.median(errors):.0f} %, "
            f"{within} of {len(errors)} within 2x, {inside} of {len(errors)} inside the predicted interval."
        )
        spreads = [row.measurement.batch_spread_percent for row in rows if row.measurement]
        lines.append(
            f"Repeatability of the measurements: ±{statistics.median(spreads):.1f} % in the median; "
            f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
        )
    if device.calibrated:
        repeatability = f", repeatability ±{device.noise_percent:.1f} %" if device.noise_percent is not None else ""
        lines.append(
            f"Rates: measured on this device ({device.measured_at[:16].replace('T', ' ')} UTC{repeatability})."
        )
    else:
        lines.append(f"Rates: {device.source} figures, not calibrated.")
    lines.append(
        f"To make predictions better here: `.venv/bin/kernelcast learn --device {device.id}` measures kernels for 2 "
        "minutes on this device and corrects predictions by them."
    )
    return lines
