"""Recordings of programs in sentences and tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from rich.box import SIMPLE_HEAD
from rich.table import Table

from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.recordings import Recording
from server.text.format import format_duration_us, format_things

_MOST_KERNELS = 3
_MOST_NOTES = 5


def summary(recording: Recording, why_nothing: str = "") -> Iterator[str]:
    """Yield the lines to show after a run. `why_nothing` explains a run without launches."""
    launches = recording.launches
    if launches:
        yield f"recorded {_counts(launches)}{_where_time_went(launches)}"
    else:
        yield f"no launch was recorded: {why_nothing}" if why_nothing else "no launch was recorded"
    yield from recording.notes[:_MOST_NOTES]
    if len(recording.notes) > _MOST_NOTES:
        yield f"and {len(recording.notes) - _MOST_NOTES} more of the kind"


def recordings_table(recordings: Sequence[Recording], *, with_project: bool) -> Table:
    """Return one line a recording."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Id", justify="right", no_wrap=True)
    table.add_column("Recorded (UTC)", no_wrap=True)
    for name in ("Launches", "Distinct", "Kernels", "Time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Command", overflow="fold")
    if with_project:
        table.add_column("Project", overflow="fold")
    for each in recordings:
        total_us = sum(entry.total_us or 0.0 for entry in each.launches)
        table.add_row(
            str(each.id),
            datetime.fromtimestamp(each.recorded_at, UTC).strftime("%Y-%m-%d %H:%M"),
            str(sum(entry.count for entry in each.launches)),
            str(len(each.launches)),
            str(len({entry.kernel for entry in each.launches})),
            format_duration_us(total_us) if total_us else "-",
            shlex.join(each.command),
            *([str(each.project)] if with_project else []),
        )
    return table


def launches_table(launches: Sequence[RecordedEntry]) -> Table:
    """Return one line a distinct launch, those that took most of the time first."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("Kernel", "Launch", "Device"):
        table.add_column(name, overflow="fold")
    for name in ("Count", "Event", "Together"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Arguments", overflow="fold")
    for each in launches:
        table.add_row(
            each.kernel,
            shown_sizes(each),
            each.device_id or each.device_name,
            str(each.count),
            "-" if each.event_us is None else format_duration_us(each.event_us),
            "-" if each.total_us is None else format_duration_us(each.total_us),
            ", ".join(_arguments(each)),
        )
    return table


def shown_sizes(entry: RecordedEntry) -> str:
    """Return `1024x1024 / 16x16`."""
    local = "auto" if entry.local_size is None else "x".join(map(str, entry.local_size))
    return f"{'x'.join(map(str, entry.global_size))} / {local}"


def _counts(launches: Sequence[RecordedEntry]) -> str:
    total = sum(each.count for each in launches)
    distinct = f" ({len(launches)} distinct)" if len(launches) != total else ""
    kernels = format_things(len({each.kernel for each in launches}), "kernel")
    return f"{format_things(total, 'launch', 'launches')}{distinct} of {kernels}"


def _where_time_went(launches: Sequence[RecordedEntry]) -> str:
    by_kernel: dict[str, float] = {}
    for each in launches:
        by_kernel[each.kernel] = by_kernel.get(each.kernel, 0.0) + (each.total_us or 0.0)
    total_us = sum(by_kernel.values())
    if not total_us:
        return "; its queues had no profiling, so no times are known (--profile turns it on)"
    first = sorted(by_kernel.items(), key=lambda each: each[1], reverse=True)[:_MOST_KERNELS]
    shares = ", ".join(f"{100 * us / total_us:.0f} % {name}" for name, us in first if us)
    return f", {format_duration_us(total_us)} on the device: {shares}"


def _arguments(entry: RecordedEntry) -> Iterator[str]:
    if entry.positional:
        yield from entry.positional
        return
    yield from (f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in entry.args)
    yield from (f"{name}[{length}]" for name, length in entry.buffers)
    yield from (f"{name} {'x'.join(map(str, size))}" for name, size in entry.images)
    yield from (f"{name} {count} bytes" for name, count in entry.local_bytes)
    yield from (f"{name}~{word}" for name, word in entry.fills)
