"""How well sizes that were left out are predicted through others of the same kernel that were measured.

    .venv/bin/python tests/accuracy/sizes.py --device pocl      # measure, then print
    .venv/bin/python tests/accuracy/sizes.py --predict-only     # the table again, with today's fit

Every launch named `measure` of the kernels in a folder is measured at an eighth to the double of its size. Each of
these is then left out once and predicted through each choice of one, two, three of the others. A run that was stopped
goes on where it stopped.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median, quantiles

from rich.console import Console

from model.analytic.launch_times import launch_times
from model.device import Device
from model.device_catalog import device_from_json, device_to_json
from model.engine import Engine
from model.errors import KernelcastError
from model.fit import Point, fit
from model.forecast import Forecast
from model.launch.scaling import scale
from model.observing import Observer
from profiler.calibrate import calibrate
from profiler.devices import discover, find_device
from profiler.measure import measure_all
from profiler.measurement import Measurement, MeasureRequest

HERE = Path(__file__).resolve().parent
HELD_OUT = HERE.parent / "oracles" / "kernels"
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0)
LONGEST_US = 4e5
MOST_THROUGH = 3


@dataclass(frozen=True)
class Row:
    """One launch: its analytical time and what it took. `noise` is half of the 95 % interval, relative."""

    file: str
    kernel: str
    work_items: int
    analytic_us: float
    floor_us: float
    measured_us: float
    noise: float
    load_average: float

    @property
    def point(self) -> Point:
        return Point(max(0.0, self.analytic_us - self.floor_us), self.measured_us, self.noise)


def main() -> int:
    arguments = _arguments()
    console = Console(width=130)
    for wanted in arguments.device or ["pocl", "intel-cpu"]:
        path = arguments.out / f"sizes-{wanted}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if not arguments.predict_only:
                _measure(wanted, path, arguments.kernels, arguments.budget_s, console)
        except KernelcastError as error:
            console.print(f"[red]{wanted}:[/] {error.message}")
            return 1
        rows = [row for row in _kept(path) if row.noise <= arguments.noise]
        for through in range(1, MOST_THROUGH + 1):
            console.print(f"{wanted:10} through {through}: {_figures(rows, through)}", highlight=False)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="id of a device; again for more; PoCL and Intel's if none")
    parser.add_argument("--kernels", type=Path, default=HELD_OUT, help="a folder with .cl files")
    parser.add_argument("--budget-s", type=float, default=0.4, help="seconds of timed runs per launch")
    parser.add_argument("--noise", type=float, default=1.0, help="only rows whose 95 %% interval is narrower (0.05)")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for what was measured")
    parser.add_argument("--predict-only", action="store_true", help="the table again, from what was measured before")
    return parser.parse_args()


def _kept(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _measure(wanted: str, path: Path, kernels: Path, budget_s: float, console: Console) -> None:
    device = _calibrated(find_device(discover(), wanted), path.with_suffix(".device.json"))
    known = {(row.file, row.kernel) for row in _kept(path)}
    engine = Engine(observer=Observer(runs=True))
    for file in sorted(kernels.glob("*.cl")):
        text = file.read_text("utf-8")
        for forecast in engine.forecast(text, file, device).forecasts:
            launch = forecast.launch
            if launch is None or launch.name != "measure" or (file.name, forecast.kernel.name) in known:
                continue
            rows = list(_measured(text, file, forecast, device, budget_s))
            with path.open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
            console.print(f"  {device.id} {forecast.kernel.name}: {len(rows)} sizes", highlight=False)


def _calibrated(here: Device, path: Path) -> Device:
    if path.exists():
        return device_from_json(path.read_text("utf-8"))
    device = calibrate(here.id)
    path.write_text(device_to_json(device), "utf-8")
    return device


def _measured(text: str, file: Path, forecast: Forecast, device: Device, budget_s: float) -> Iterator[Row]:
    kernel, work, spec, launch = forecast.kernel, forecast.work, forecast.spec, forecast.launch
    if work is None or spec is None or launch is None:
        return
    scaled = scale(kernel, work, spec, launch, device, FACTORS)
    analytic = [(each.launch, launch_times(work.count(each.launch), device).total_us) for each in scaled.launches]
    analytic = [(each, time_us) for each, time_us in analytic if time_us <= LONGEST_US]
    requests = [MeasureRequest(text, str(file), kernel, each, device.id, budget_s) for each, _ in analytic]
    for (each, analytic_us), m in zip(analytic, measure_all(requests), strict=True):
        if isinstance(m, Measurement):
            noise = (m.ci95_us[1] - m.ci95_us[0]) / 2 / m.median_us
            floor_us = device.rates.launch_floor_us
            yield Row(
                file.name, kernel.name, each.work_items, analytic_us, floor_us, m.median_us, noise, m.load_average
            )


def _figures(rows: Iterable[Row], through: int) -> str:
    kernels: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        kernels[row.file, row.kernel].append(row)
    told = [each for sizes in kernels.values() for each in _left_out(sizes, through)]
    if len(told) < 2:
        return "nothing was measured"
    errors = [error for error, _, _ in told]
    covered, analytic = mean(inside for _, inside, _ in told), median(analytic for _, _, analytic in told)
    return (
        f"n={len(told)} of {len(kernels)} kernels, median error {100 * median(errors):.1f} %, "
        f"p90 {100 * quantiles(errors, n=10)[-1]:.0f} %, {100 * covered:.0f} % within the 80 % interval; "
        f"analytical model alone {100 * analytic:.1f} %"
    )


def _left_out(sizes: Sequence[Row], through: int) -> Iterator[tuple[float, bool, float]]:
    """Relative error, whether it lies in the interval, and the error of the analytical model alone."""
    for left in sizes:
        others = [row for row in sizes if row is not left]
        for chosen in itertools.combinations(others, through):
            line = fit([row.point for row in chosen], left.floor_us)
            if line is None:
                continue
            ratio = line.runtime_us(left.point.work_us) / left.measured_us
            spread = line.spread(left.point.work_us)
            yield abs(ratio - 1), 1 / spread <= ratio <= spread, abs(left.analytic_us / left.measured_us - 1)


if __name__ == "__main__":
    sys.exit(main())
