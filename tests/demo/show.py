"""`make demo`: calibrate the embedded CPU device, predict every kernel in tests/kernels, measure each, compare.

The same functions do it as behind `kernelcast predict`, `measure` and `calibrate`; nothing here knows the answers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rows import Row, measured, predicted
from table import summary, table

from model.device import Device
from model.errors import KernelcastError
from profiler.calibrate import calibrate
from profiler.devices import discover, find_device
from server.text.format import shown_name

KERNELS = Path(__file__).resolve().parent.parent / "kernels"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="pocl", help="id of the device, see `kernelcast devices`")
    parser.add_argument("--kernels", type=Path, default=KERNELS, help="a folder with .cl files")
    parser.add_argument("--budget-s", type=float, default=1.0, help="seconds of timed runs for each launch")
    parser.add_argument("--picture", type=Path, help="also draw the table into this SVG file")
    arguments = parser.parse_args()

    # Wide enough for whole rows where nobody looks (a log, a pipe); a person's window keeps its own width.
    console = Console() if sys.stdout.isatty() else Console(width=130)
    try:
        with _progress(console) as progress:
            device = _calibrated(find_device(discover(), arguments.device), progress)
            rows = _rows(sorted(arguments.kernels.glob("*.cl")), device, arguments.budget_s, progress)
    except KernelcastError as error:
        console.print(f"[red]The demo cannot run:[/] {error.message}\n`kernelcast doctor` says more.")
        return 1
    _print(console, rows, device)
    if arguments.picture:
        _draw(rows, device, arguments.picture)
        console.print(f"Drawn into {arguments.picture}")
    return 0 if any(row.measurement for row in rows) else 1


def _progress(console: Console) -> Progress:
    columns = (BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _calibrated(device: Device, progress: Progress) -> Device:
    """Rates measured now, under the conditions of the measurements to come; kept nowhere."""
    task = progress.add_task(f"Calibrating {shown_name(device.name)}", total=1.0)
    try:
        return calibrate(
            device.id,
            quick=True,
            on_progress=lambda fraction, text: progress.update(task, completed=fraction, description=text),
        )
    finally:
        progress.remove_task(task)


def _rows(files: list[Path], device: Device, budget_s: float, progress: Progress) -> list[Row]:
    found = predicted(files, device)
    task = progress.add_task("Measuring", total=len(found))
    rows = []
    for row in measured(found, device, budget_s):
        rows.append(row)
        progress.update(task, advance=1, description=f"Measured {row.kernel}")
    return rows


def _print(console: Console, rows: list[Row], device: Device) -> None:
    console.print(table(rows, device))
    console.print()
    for line in summary(rows, device):
        console.print(line, highlight=False)


def _draw(rows: list[Row], device: Device, file: Path) -> None:
    """As a person sees it in a terminal."""
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        terminal = Console(record=True, width=120, file=nowhere, force_terminal=True, color_system="truecolor")
        terminal.print("$ make demo\n", highlight=False)
        _print(terminal, rows, device)
    file.parent.mkdir(parents=True, exist_ok=True)
    terminal.save_svg(str(file), title="kernelcast")


if __name__ == "__main__":
    sys.exit(main())
