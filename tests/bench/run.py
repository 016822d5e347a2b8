"""`make bench`: how fast the answers come. Figures are of this machine, now; compare ratios, not times."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from analysis import analysis_ms
from batch import predictions_per_second
from edits import KERNELS, LINES, Taken, edits_ms
from rich.console import Console
from rich.table import Table
from sizes import sizes
from start_up import initialize_ms

from model.device import Device
from model.device_catalog import find_builtin

HERE = Path(__file__).resolve().parent


def report_edits(console: Console, device: Device) -> None:
    """How soon the forecasts of a long file are there again after an edit; ratios are of this run."""
    full_ms, inside, elsewhere = edits_ms(device)
    title = f"Edits in {LINES:,} lines with {KERNELS} kernels, from text to all forecasts; afresh: {full_ms:,.0f} ms"
    table = Table("Edit", "n", "p50", "p95", "afresh / p50", "afresh / p95", title=title, title_justify="left")
    every = Taken("all of these", [ms for taken in inside for ms in taken.times_ms])
    for taken in (*inside, every, *elsewhere):
        table.add_row(
            taken.kind,
            str(len(taken.times_ms)),
            f"{taken.p50_ms:.1f} ms",
            f"{taken.p95_ms:.1f} ms",
            f"{full_ms / taken.p50_ms:.0f}",
            f"{full_ms / taken.p95_ms:.0f}",
            end_section=taken is inside[-1] or taken is every,
        )
    console.print(table)


def report_sizes(console: Console, device: Device) -> None:
    """Whether a full analysis is linear in the size of the file: then each column stays as it is."""
    table = Table(
        "Lines", "Kernels", "read", "with all forecasts", "kept", title="A line of a file", title_justify="left"
    )
    for size in sizes(device):
        table.add_row(
            f"{size.lines:,}",
            str(size.kernels),
            f"{size.read_us_a_line:.0f} us",
            f"{size.full_us_a_line:.0f} us",
            f"{size.kept_bytes_a_line:.0f} bytes",
        )
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="size of the larger batch")
    parser.add_argument("--analysis", action="store_true", help="the analysis of long files alone")
    parser.add_argument("--without-editor", action="store_true", help="leave out the keystrokes, which take longest")
    arguments = parser.parse_args()
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    console = Console()
    console.print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")

    generic = find_builtin("generic-cpu")
    assert generic is not None
    report_edits(console, generic)
    report_sizes(console, generic)
    if arguments.analysis:
        return 0
    table = Table("What", "Figure", title="Speed", title_justify="left")
    table.add_row("serve: start to answered `initialize`", f"{initialize_ms(kernelcast):.0f} ms")
    for what, taken_ms in analysis_ms(generic).items():
        table.add_row(f"engine, 2,000 lines with 40 kernels, {what}", f"{taken_ms:.1f} ms")
    for count in (arguments.requests // 10, arguments.requests):
        rate, wall_s = predictions_per_second(kernelcast, count)
        table.add_row(f"predict --batch, {count} requests in {wall_s:.1f} s", f"{rate:.0f} predictions/s")
    console.print(table)

    if arguments.without_editor:
        return 0
    return subprocess.run([sys.executable, str(HERE / "keystroke.py")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
