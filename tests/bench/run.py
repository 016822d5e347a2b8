"""`make bench`: how fast the answers come. Figures are of this machine, now; compare ratios, not times."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis import analysis_ms
from batch import predictions_per_second
from edits import KERNELS, LINES, Taken, edits_ms
from growth import report_growth
from hosts import report_hosts
from keystroke import report_keystrokes
from launches import Spread, batches_per_second, changed_and_new, in_process_per_second, known_batches_per_second
from learned import TOKENS, learned
from long_file import report_long_file
from pressure import report_pressure
from recording import report_recording
from rich.console import Console
from rich.table import Table
from sampling import at, sampling_ms
from sizes import sizes
from start_up import report_start_up

from model.device import Device
from model.device_catalog import find_builtin


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


def report_launches(console: Console, device: Device, kernelcast: str) -> None:
    """What asking about other sizes costs, with its spread; compare the last column between runs and machines."""
    spreads = changed_and_new(device)
    title = f"Kernels of the corpus; a yardstick took {spreads[0].yardstick_ms:.2f} ms in this run"
    report_spreads(console, spreads, title)
    rates = Table("Launches by the batch", "least", "median", "most", title_justify="left")
    for what, found in (
        ("in process, known kernels", in_process_per_second(device)),
        ("`predict --batch`, new kernels and all of each answer", batches_per_second(kernelcast, 1)),
        ("... by two processes", batches_per_second(kernelcast, 2)),
        ("... known from an earlier process, its start included", known_batches_per_second(kernelcast)),
    ):
        least, median, most = min(found), statistics.median(found), max(found)
        rates.add_row(what, *(f"{rate:,.0f}/s" for rate in (least, median, most)))
    console.print(rates)


def report_spreads(console: Console, spreads: Sequence[Spread], title: str) -> None:
    table = Table("What", "n", "p10", "p50", "p90", "p99", "p50 / yardstick", title=title, title_justify="left")
    for spread in spreads:
        table.add_row(
            spread.what,
            str(len(spread.times_ms)),
            *(f"{spread.at(share):.2f} ms" for share in (0.1, 0.5, 0.9, 0.99)),
            f"{spread.in_yardsticks:.1f}",
        )
    console.print(table)


def report_sampling(console: Console, device: Device) -> None:
    """Show what it costs to run some work-items where data decide: processor time on one core."""
    title = "Running some work-items of a launch; whole: with reading and analysing its program first"
    columns = ("Kernels", "Launches", "sampled", "p50", "p95", "max", "whole p50", "whole p95", "whole max")
    table = Table(*columns, title=title, title_justify="left")
    for each in sampling_ms(device):
        times = [at(ms, share) for ms in (each.running_ms, each.whole_ms) for share in (0.5, 0.95, 1)]
        table.add_row(each.what, str(each.launches), str(len(each.running_ms)), *(f"{ms:.0f} ms" for ms in times))
    console.print(table)


def report_learned(console: Console, device: Device) -> None:
    """What the learned model takes, beside a pass of a language model of code."""
    found = learned(device)
    if found is None:
        console.print("No weights of the learned model are shipped.")
        return
    report_spreads(console, found.spreads, f"The learned model; {found.resident_mb:.0f} MB resident")
    console.print(f"{found.answers_per_second:,.0f} answers a second in a batch")
    if found.codegen_ms is not None:
        new = found.spreads[0].at(0.5)
        ratio = f"{found.codegen_ms / new:,.0f} times a new kernel's {new:.1f} ms"
        console.print(f"a model of CodeGen-350M's size takes {found.codegen_ms:,.0f} ms for {TOKENS} tokens, {ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000, help="size of the larger batch")
    parser.add_argument("--analysis", action="store_true", help="the analysis of long files alone")
    parser.add_argument("--launches", action="store_true", help="changed launches, batches and new kernels alone")
    parser.add_argument("--sampling", action="store_true", help="running work-items where data decide alone")
    parser.add_argument("--recording", action="store_true", help="programs under the OpenCL layer alone")
    parser.add_argument("--hosts", action="store_true", help="programs in other languages alone")
    parser.add_argument("--editor", action="store_true", help="start, long files, keystrokes, growth, pressure alone")
    parser.add_argument("--without-editor", action="store_true", help="leave out the keystrokes, which take longest")
    arguments = parser.parse_args()
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    console = Console()
    console.print(f"Load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")

    generic = find_builtin("generic-cpu")
    assert generic is not None
    if arguments.editor:
        report_editor(console)
        return 0
    if arguments.recording:
        report_recording(console)
        return 0
    if arguments.hosts:
        report_hosts(console)
        return 0
    if arguments.sampling:
        report_sampling(console, generic)
        return 0
    if arguments.launches:
        report_launches(console, generic, kernelcast)
        report_learned(console, generic)
        return 0
    report_edits(console, generic)
    report_sizes(console, generic)
    if arguments.analysis:
        return 0
    report_launches(console, generic, kernelcast)
    report_learned(console, generic)
    report_sampling(console, generic)
    table = Table("What", "Figure", title="Speed", title_justify="left")
    for what, taken_ms in analysis_ms(generic).items():
        table.add_row(f"engine, 2,000 lines with 40 kernels, {what}", f"{taken_ms:.1f} ms")
    for count in (arguments.requests // 10, arguments.requests):
        rate, wall_s = predictions_per_second(kernelcast, count)
        table.add_row(f"predict --batch, {count} requests in {wall_s:.1f} s", f"{rate:.0f} predictions/s")
    console.print(table)
    report_recording(console)
    report_hosts(console)

    if not arguments.without_editor:
        report_editor(console)
    return 0


def report_editor(console: Console) -> None:
    """What an editor waits for, through the real server."""
    report_start_up(console)
    report_long_file(console)
    report_keystrokes(console)
    report_growth(console)
    report_pressure(console)


if __name__ == "__main__":
    sys.exit(main())
