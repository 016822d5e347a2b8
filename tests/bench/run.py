"""`make bench`: how fast the answers come. Figures are of this machine, now; compare ratios, not times."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from analysis import analysis_ms
from batch import predictions_per_second
from rich.console import Console
from rich.table import Table
from start_up import initialize_ms

from model.device_catalog import find_builtin

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="size of the larger batch")
    parser.add_argument("--without-editor", action="store_true", help="leave out the keystrokes, which take longest")
    arguments = parser.parse_args()
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    console = Console()
    console.print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")

    generic = find_builtin("generic-cpu")
    assert generic is not None
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
