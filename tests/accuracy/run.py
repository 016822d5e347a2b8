"""`make accuracy`: how far the analytical model alone is off, on kernels that nothing was fitted to.

For each device: calibrate it, measure every launch in a folder, predict each analytically, print and keep the table.
A run that was stopped goes on where it stopped (`--fresh` starts anew); a kernel that fails is named and left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "demo"))

from figures import as_dict, by_launch_size, figures  # noqa: E402
from report import Line, print_report  # noqa: E402
from results import Measured, Results  # noqa: E402
from rich.console import Console  # noqa: E402
from rows import Row, measured, predicted  # noqa: E402

from model.analytic.launch_times import launch_times  # noqa: E402
from model.device import Device  # noqa: E402
from model.device_catalog import device_from_json  # noqa: E402
from model.errors import KernelcastError  # noqa: E402
from model.forecast import Forecast  # noqa: E402
from profiler.calibrate import calibrate  # noqa: E402
from profiler.devices import discover, find_device  # noqa: E402

MIN_FITTED = 3  # rows for a line through all but one
HELD_OUT = HERE.parent / "oracles" / "kernels"


def main() -> int:
    arguments = _arguments()
    console = Console() if sys.stdout.isatty() else Console(width=150)
    failed = False
    for wanted in arguments.device or ["pocl", "intel-cpu"]:
        try:
            _one_device(wanted, arguments, console)
        except KernelcastError as error:
            console.print(f"[red]{wanted}:[/] {error.message}")
            failed = True
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="id of a device; again for more; PoCL and Intel's if none")
    parser.add_argument("--kernels", type=Path, default=HELD_OUT, help="a folder with .cl files")
    parser.add_argument("--launch", help="only launches of this name; all if not given")
    parser.add_argument("--repeats", type=int, default=1, help="passes over all launches, one after the other")
    parser.add_argument("--budget-s", type=float, default=0.6, help="seconds of timed runs per launch and pass")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the JSON files")
    parser.add_argument("--calibration", type=Path, help="a profile as this command keeps it, in place of calibrating")
    parser.add_argument("--quick", action="store_true", help="calibrate quickly")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs measured")
    parser.add_argument("--predict-only", action="store_true", help="the table again, from what was measured before")
    return parser.parse_args()


def _one_device(wanted: str, arguments: argparse.Namespace, console: Console) -> None:
    files = sorted(arguments.kernels.glob("*.cl"))
    here = find_device(discover(), wanted)
    results = Results(arguments.out / f"{arguments.kernels.resolve().name}-{here.id}.json", fresh=arguments.fresh)
    results.device = _calibrated(here, results, arguments, console)
    found = [(file, one) for file, one in predicted(files, results.device) if _is_wanted(one, arguments.launch)]
    if not arguments.predict_only:
        _measure(found, results, arguments, console)
    lines, failures = _lines(found, results, results.device)
    results.tables = _tables(lines, failures)
    results.save()
    print_report(console, results.device, lines, failures, results.tables)
    console.print(f"Kept in {results.path}\n", highlight=False)


def _calibrated(here: Device, results: Results, arguments: argparse.Namespace, console: Console) -> Device:
    if arguments.calibration is not None:
        return device_from_json(arguments.calibration.read_text("utf-8"))
    kept = results.device
    if kept is not None and _same(kept, here):
        return kept
    console.print(f"Calibrating {here.name} ({here.id}) ...", highlight=False)
    device = calibrate(here.id, quick=arguments.quick)
    results.device = device
    results.save()
    return device


def _same(kept: Device, here: Device) -> bool:
    """A calibration holds for one driver on one chip with so many of its cores."""
    return (kept.driver, kept.name, kept.compute_units) == (here.driver, here.name, here.compute_units)


def _is_wanted(one: Forecast | Row, name: str | None) -> bool:
    return isinstance(one, Row) or name is None or (one.launch is not None and one.launch.name == name)


def _measure(
    found: list[tuple[Path, Forecast | Row]], results: Results, arguments: argparse.Namespace, console: Console
) -> None:
    """Pass after pass, so that one disturbance cannot spoil all figures of a kernel."""
    assert results.device is not None
    for repeat in range(arguments.repeats):
        for file, one in found:
            if isinstance(one, Row) or one.launch is None:
                continue
            kept = results.of(file, one)
            if len(kept.medians_us) > repeat or kept.failure:
                continue
            (row,) = measured([(file, one)], results.device, arguments.budget_s)
            if row.measurement is None:
                kept.failure = row.failure
            else:
                kept.medians_us.append(row.measurement.median_us)
                kept.spreads_percent.append(row.measurement.batch_spread_percent)
                kept.load_averages.append(row.measurement.load_average)
            results.save()
            took = f"{kept.median_us:12.1f} us" if kept.medians_us else f"{kept.failure}"
            progress = f"{results.device.id} {repeat + 1}/{arguments.repeats}"
            console.print(f"  {progress} {one.kernel.name}: {took}", highlight=False)


def _lines(found: list[tuple[Path, Forecast | Row]], results: Results, device: Device) -> tuple[list[Line], list[str]]:
    lines, failures = [], []
    for file, one in found:
        if isinstance(one, Row):
            failures.append(f"{one.kernel}: {one.failure}")
            continue
        kept = results.of(file, one) if one.launch else Measured()
        if one.launch is None or one.prediction is None:
            failures.append(f"{one.kernel.name}: {one.problem.message if one.problem else 'no prediction'}")
        elif not kept.medians_us:
            failures.append(f"{one.kernel.name}: {kept.failure or 'not measured'}")
        else:
            times = launch_times(one.prediction.work, device)
            lines.append(Line.of(file.name, one.kernel.name, one.launch, one.prediction, kept, times.floor_us))
    return lines, failures


def _tables(lines: list[Line], failures: list[str]) -> dict[str, object]:
    truth = [line.measured_us for line in lines]
    predictions = {
        "analytic": [line.predicted_us for line in lines],
        "roofline alone": [line.roofline_us for line in lines],
    }
    if len(lines) >= MIN_FITTED:
        predictions["launch size only"] = by_launch_size([line.work_items for line in lines], truth)
    return {
        "figures": {name: as_dict(figures(p, truth)) for name, p in predictions.items()} if lines else {},
        "rows": [line.as_dict() for line in lines],
        "failures": failures,
    }


if __name__ == "__main__":
    sys.exit(main())
