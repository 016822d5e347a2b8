"""One measurement of a history, for scripts and for people."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from profiler.store.as_json import launch_to_plain
from server.text.format import format_duration_us, format_percent, format_spread
from server.text.timeline import Moment, Timeline

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
