"""`kernelcast history`: what was measured of kernels over time; and measurements to and from files."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from profiler.store import Store, StoredMeasurement
from profiler.store.as_json import launch_to_plain
from server.cli.output import ANSWERED, WrongCallError, warn, write_json
from server.cli.terminal import out
from server.text.format import format_duration_us, format_percent, format_spread, format_things, shown_name
from server.text.timeline import Moment, Timeline, sparkline, timelines

_ROWS = 20  # of each kernel in a table, unless more are asked for
_TREND_COLUMNS = 40


def run(arguments: argparse.Namespace) -> int:
    """Show the history of the files' kernels, or of all; or export or import measurements."""
    if arguments.trend:
        from server.cli.history_trend import run_trend  # noqa: PLC0415 - loads what predicts

        if arguments.imported is not None or arguments.exported is not None:
            raise WrongCallError("--trend draws; it neither exports nor imports")
        return run_trend(arguments)
    if arguments.output is not None:
        raise WrongCallError("--output writes the charts of --trend")
    if arguments.imported is not None:
        return _import(arguments)
    kept = _wanted(arguments)
    if arguments.exported is not None:
        return _export(arguments.exported, kept)
    if not kept:
        warn(_nothing(arguments))
    is_json = arguments.format == "json"
    shown = _newest(kept, arguments.limit or (len(kept) if is_json else _ROWS))
    for timeline in timelines(kept):
        moments = tuple(moment for moment in timeline.moments if id(moment.stored) in shown)
        if is_json:
            for moment in moments:
                write_json(history_answer(moment))
        elif moments:
            _show(Timeline(timeline.kernel_id, timeline.device_id, moments), len(timeline.moments) - len(moments))
    return ANSWERED


def _wanted(arguments: argparse.Namespace) -> tuple[StoredMeasurement, ...]:
    """Return the oldest first; of which file, kernel and device the call speaks."""
    store = Store.open()
    if arguments.files:
        files = dict.fromkeys(file.resolve() for file in arguments.files)
        kept = tuple(each for file in files for each in store.history_of_file(file, most=-1)[::-1])
    else:
        kept = store.everything()
    if store.left_out:
        warn(store.left_out)
    return tuple(
        each
        for each in kept
        if arguments.kernel in (None, each.measurement.kernel)
        and arguments.device in (None, each.measurement.device_id)
    )


def _newest(kept: Sequence[StoredMeasurement], most: int) -> frozenset[int]:
    """Return the identities of the newest measurements of each kernel."""
    by_kernel: dict[str, list[int]] = defaultdict(list)
    for each in kept:
        by_kernel[each.kernel_id].append(id(each))
    return frozenset(each for found in by_kernel.values() for each in found[-most:])


def _nothing(arguments: argparse.Namespace) -> str:
    wanted = [f"kernel `{arguments.kernel}`"] if arguments.kernel else []
    wanted += [", ".join(map(str, arguments.files))] if arguments.files else []
    wanted += [f"device `{arguments.device}`"] if arguments.device else []
    about = f" of {', '.join(wanted)}" if wanted else ""
    return f"nothing was measured{about}; `kernelcast measure FILE` does"


def _show(timeline: Timeline, older: int) -> None:
    console = out()
    m = timeline.moments[-1].stored.measurement
    file = timeline.kernel_id.removesuffix(f"::{m.kernel}") or "text that was not saved"
    driver = f", driver {m.driver}" if len(timeline.drivers) == 1 else ""
    console.print(
        Text.assemble((m.kernel, "bold"), f" in {file} on {shown_name(m.device_name)} ({m.device_id}{driver})")
    )
    console.print(history_table(timeline))
    for trend in timeline.trends():
        medians = trend.medians_us[-_TREND_COLUMNS:]
        first, last = format_duration_us(medians[0]), format_duration_us(medians[-1])
        change = format_percent(trend.change_percent, signed=True)
        console.print(f"{trend.launch}  {sparkline(medians)}  {first} to {last} ({change})")
    if older:
        console.print(Text(f"{older} older ones are not shown: --limit N shows more", style="dim"))
    console.print()


def _export(path: Path, kept: tuple[StoredMeasurement, ...]) -> int:
    from profiler.store.files import write_file  # noqa: PLC0415 - not for the tables

    write_file(path, kept)
    warn(f"{format_things(len(kept), 'measurement')} written to {path}")
    return ANSWERED


def _import(arguments: argparse.Namespace) -> int:
    from profiler.store.files import read_file  # noqa: PLC0415 - not for the tables

    if arguments.files or arguments.kernel or arguments.device or arguments.exported:
        raise WrongCallError(
            "--import takes all that is in its file: no FILE, --kernel, --device or --export beside it"
        )
    found = read_file(arguments.imported)
    added = Store.open().add_unknown(found)
    warn(f"{arguments.imported} holds {format_things(len(found), 'measurement')}, {added or 'none'} of them new")
    return ANSWERED


Answer = dict[str, object]


def history_answer(moment: Moment) -> Answer:
    """Return an answer of `kernelcast measure` with what was known and what changed."""
    stored, m = moment.stored, moment.stored.measurement
    return {
        "file": stored.kernel_id.removesuffix(f"::{m.kernel}"),
        "kernel": m.kernel,
        "kernel_fingerprint": m.kernel_fingerprint,
        "measured_at": m.measured_at,
        "device": {"id": m.device_id, "name": m.device_name, "driver": m.driver},
        "launch": m.launch,
        "launch_key": m.launch_key,
        "arguments": launch_to_plain(stored.launch) if stored.launch else None,
        "options": m.options,
        "runtime_us": {"median": m.median_us, "p10": m.p10_us, "p90": m.p90_us, "ci95": list(m.ci95_us)},
        "repeats": m.repeats,
        "batches": m.batches,
        "batch_spread_percent": m.batch_spread_percent,
        "predicted_us": stored.predicted_us,
        "error_percent": stored.error_percent,
        "changes": list(moment.changes),
        "notes": list(m.notes),
    }


def history_table(timeline: Timeline) -> Table:
    """Return one line per measurement, the newest last."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Measured (UTC)", no_wrap=True)
    several_drivers = len(timeline.drivers) > 1
    for name in ("Driver", "Launch") if several_drivers else ("Launch",):
        table.add_column(name, overflow="fold")
    for name in ("Median", "±95 %", "Predicted", "Error"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Changed", overflow="fold")
    for moment in timeline.moments:
        m, stored = moment.stored.measurement, moment.stored
        table.add_row(
            m.measured_at[:16].replace("T", " "),
            *([m.driver] if several_drivers else []),
            m.launch,
            format_duration_us(m.median_us),
            format_spread(m.ci95_us[0], m.median_us, m.ci95_us[1]),
            "-" if stored.predicted_us is None else format_duration_us(stored.predicted_us),
            "" if stored.error_percent is None else format_percent(stored.error_percent, signed=True),
            ", ".join(moment.changes),
        )
    return table
