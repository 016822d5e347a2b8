"""The table of one device, and the figures under it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from results import Measured
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from model.device import Device
from model.launch.launch import Launch
from model.prediction import Prediction
from server.text.format import format_duration_us


@dataclass(frozen=True, slots=True)
class Line:
    """One launch of one kernel."""

    file: str
    kernel: str
    launch: str
    work_items: int
    measured_us: float
    noise_percent: float
    predicted_us: float
    p10_us: float
    p90_us: float
    roofline_us: float
    bound: str

    @classmethod
    def of(
        cls, file: str, kernel: str, launch: Launch, prediction: Prediction, kept: Measured, roofline_us: float
    ) -> Line:
        runtime = prediction.runtime_us
        words = f"{launch.name}: {launch.describe()}" if launch.name else launch.describe()
        return cls(
            file, kernel, words, launch.work_items, kept.median_us, round(kept.noise_percent, 1),
            runtime.p50, runtime.p10, runtime.p90, roofline_us, str(prediction.bound),
        )  # fmt: skip

    @property
    def error_percent(self) -> float:
        """Above 0 where the prediction was too slow."""
        return 100 * (self.predicted_us / self.measured_us - 1)

    @property
    def is_in_interval(self) -> bool:
        return self.p10_us <= self.measured_us <= self.p90_us

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "error_percent": round(self.error_percent, 1)}


def print_report(
    console: Console, device: Device, lines: list[Line], failures: list[str], tables: dict[str, Any]
) -> None:
    table = Table(title=f"{device.name}, {device.platform} {device.driver}", box=SIMPLE_HEAD, title_justify="left")
    for name, right in (("Kernel", 0), ("Launch", 0), ("Measured", 1), ("Noise", 1), ("Predicted", 1), ("Error", 1)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("Bound by")
    for line in sorted(lines, key=lambda one: -abs(one.error_percent)):
        table.add_row(
            line.kernel,
            line.launch,
            format_duration_us(line.measured_us, 3),
            f"±{line.noise_percent:.0f} %",
            format_duration_us(line.predicted_us, 3),
            f"{line.error_percent:+.0f} %",
            line.bound,
        )
    console.print(table)
    for failure in failures:
        console.print(f"  left out: {failure}", highlight=False)
    if lines:
        console.print(_figures(tables["figures"]))
        inside = 100 * sum(line.is_in_interval for line in lines) / len(lines)
        noise = median(line.noise_percent for line in lines)
        console.print(
            f"{inside:.0f} % of {len(lines)} launches of {len({line.kernel for line in lines})} kernels within p10 to "
            f"p90; noise floor {noise:.1f} % (median); {device.compute_units} compute units; calibrated "
            f"{device.measured_at}, noise {device.noise_percent} %, {device.note}",
            highlight=False,
        )


def _figures(found: dict[str, dict[str, float]]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in ("Prediction", "n", "MAPE", "Median APE", "Within 2x", "Rank corr.", "Error factor"):
        table.add_column(name, justify="left" if name == "Prediction" else "right")
    for name, one in found.items():
        table.add_row(
            name,
            str(one["n"]),
            f"{one['mape_percent']} %",
            f"{one['median_ape_percent']} %",
            f"{one['within_2x_percent']} %",
            str(one["rank_correlation"]),
            str(one["error_factor"]),
        )
    return table
