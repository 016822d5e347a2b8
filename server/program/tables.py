"""A predicted program in tables, as a page, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from model.program.command import TRANSFERS, CommandKind
from model.program.recorded_parts import RecordedParts
from model.program.timeline import Part
from server.program.forecast import Program, ProgramForecast
from server.program.report import Report
from server.report.program_page import program_page
from server.text.format import (
    format_bytes,
    format_duration_us,
    format_interval,
    format_percent,
    format_things,
    shown_name,
)

_MOST_KERNELS = 10
_AS_RECORDED = frozenset({Part.HOST, Part.BUILD})


def report_page(report: Report) -> str:
    """Return the same as a page, with the timeline drawn."""
    shown = report.changed or report.plain
    tables = [("Parts", parts_table(report)), ("Kernels", kernels_table(report))]
    tables += [("Devices", devices_table(report))] if report.others else []
    return program_page(
        report.title,
        [line for line in (devices_line(shown), counts_line(report.program), bound_sentence(shown)) if line],
        [(name, *_plain(each)) for name, each in tables],
        report.program.commands,
        shown.timeline,
        notes_of(report),
    )


def _plain(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return names of columns and rows of a table."""
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return [str(column.header) for column in table.columns], [list(row) for row in zip(*columns, strict=True)]


def notes_of(report: Report) -> list[str]:
    """Return what the forecasts rest on, each once."""
    forecasts = [report.plain, *([report.changed] if report.changed else []), *report.others.values()]
    return list(dict.fromkeys(note for each in forecasts for note in each.notes))


def devices_line(forecast: ProgramForecast) -> str:
    """Return which devices the program is predicted for; "" if it has no queue."""
    on = ", ".join(f"{shown_name(each.name)} ({each.id})" for each in forecast.devices)
    return f"on {on}" if on else ""


def counts_line(program: Program) -> str:
    """Return how many launches, transfers and queues there are, in words."""
    commands = program.commands.commands
    launches = sum(each.kind is CommandKind.LAUNCH for each in commands)
    moved = [each.size_bytes for each in commands if each.kind in TRANSFERS]
    queues = format_things(len(program.commands.queues), "queue")
    transfers = f"{format_things(len(moved), 'transfer')} of {format_bytes(sum(moved))}" if moved else "no transfers"
    return f"{format_things(launches, 'launch', 'launches')}, {transfers}, {queues}"


def parts_table(report: Report) -> Table:
    """Return what each part takes."""
    recorded, plain, changed = report.recorded, report.plain, report.changed
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    columns = ["Recorded"] if recorded is not None else []
    columns += ["Predicted", *(["Changed"] if changed else []), "Critical path"]
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    shown = changed or plain

    def row(name: str, recorded_us: float | None, predicted_us: float, changed_us: float, share: str) -> None:
        cells = ["-" if recorded_us is None else format_duration_us(recorded_us, 3)] if recorded is not None else []
        cells += [format_duration_us(predicted_us, 3), *([format_duration_us(changed_us, 3)] if changed else []), share]
        table.add_row(name, *cells)

    for part in Part:
        name = f"{part}, as recorded" if recorded is not None and part in _AS_RECORDED else str(part)
        share = 100 * shown.timeline.critical_us.get(part, 0.0) / (shown.timeline.total_us or 1.0)
        before_us, after_us = (each.timeline.busy_us.get(part, 0.0) for each in (plain, shown))
        row(name, recorded.of(part) if recorded else None, before_us, after_us, format_percent(share))
    row("total", recorded.total_us if recorded else None, plain.timeline.total_us, shown.timeline.total_us, "100 %")
    if plain.timeline.critical_us.get(Part.BUILD):
        without = plain.without_builds_us, shown.without_builds_us
        row("without builds", recorded.without_builds_us if recorded else None, *without, "")
    return table


def bound_sentence(forecast: ProgramForecast) -> str:
    """Return what bounds the program, in words."""
    timeline = forecast.timeline
    bound = timeline.bound
    without = " without builds" if timeline.critical_us.get(Part.BUILD) else ""
    share = 100 * timeline.critical_us.get(bound, 0.0) / (forecast.without_builds_us or 1.0)
    idle = 100 * timeline.idle_us / (timeline.total_us or 1.0)
    total = format_interval(forecast.low_us, forecast.high_us)
    return (
        f"Bounded by {bound} ({format_percent(share)} of the critical path{without}); devices idle "
        f"{format_percent(idle)} of the time; {total} with all kernels at the ends of their intervals"
    )


def kernels_table(report: Report) -> Table:
    """Return sums over the launches of each kernel, the dearest first."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Kernel", overflow="fold")
    recorded = report.recorded
    for name in (
        "Launches",
        *(["Recorded"] if recorded else []),
        "Predicted",
        *(["Changed"] if report.changed else []),
    ):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Critical path", justify="right", no_wrap=True)
    rows = sorted(_kernels(report), key=lambda each: each["predicted_us"], reverse=True)
    for each in rows[:_MOST_KERNELS]:
        cells = [str(each["launches"])]
        if recorded:
            cells.append("-" if each["recorded_us"] is None else format_duration_us(each["recorded_us"]))
        cells.append(format_duration_us(each["predicted_us"]))
        cells += [format_duration_us(each["changed_us"])] if report.changed else []
        table.add_row(each["kernel"], *cells, format_percent(each["critical_percent"]))
    return table


def _kernels(report: Report) -> Iterator[dict[str, Any]]:
    """Yield sums over the launches of each kernel."""
    program, recorded, shown = report.program, report.recorded, report.changed or report.plain
    counts = [0] * len(program.launches)
    for command in program.commands.commands:
        if command.launch is not None:
            counts[command.launch] += 1
    for name in dict.fromkeys(program.names):
        own = [place for place, each in enumerate(program.names) if each == name]
        known = [recorded.launches_us[place] for place in own if place in recorded.launches_us] if recorded else []
        critical_us = sum(shown.timeline.critical_launches_us.get(place, 0.0) for place in own)
        yield {
            "kernel": name,
            "launches": sum(counts[place] for place in own),
            "recorded_us": sum(known) if known else None,
            "predicted_us": sum(counts[place] * report.plain.times[place].p50_us for place in own),
            "changed_us": sum(counts[place] * shown.times[place].p50_us for place in own),
            "critical_percent": 100 * critical_us / (shown.timeline.total_us or 1.0),
        }


def devices_table(report: Report) -> Table:
    """Return the program on each device."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Device", overflow="fold")
    for name in ("Total", "Without builds", "Kernels", "Transfers", "Bounded by"):
        table.add_column(name, justify="right", no_wrap=True)
    for forecast in (report.plain, *report.others.values()):
        busy = forecast.timeline.busy_us
        table.add_row(
            ", ".join(f"{shown_name(each.name)} ({each.id})" for each in forecast.devices),
            format_duration_us(forecast.timeline.total_us, 3),
            format_duration_us(forecast.without_builds_us, 3),
            format_duration_us(busy.get(Part.KERNEL, 0.0)),
            format_duration_us(busy.get(Part.TRANSFER, 0.0)),
            forecast.timeline.bound,
        )
    return table


def program_json(report: Report) -> dict[str, Any]:
    """Return all of it as JSON can hold it."""
    commands, recorded = report.program.commands, report.recorded
    return {
        "program": report.title,
        "commands": len(commands.commands),
        "left_out": commands.left_out,
        "recorded": None if recorded is None else _recorded_json(recorded),
        "predicted": _forecast_json(report.plain),
        "changed": None if report.changed is None else _forecast_json(report.changed),
        "kernels": list(_kernels(report)),
        "half": dict(report.gains),
        "devices": {name: _forecast_json(each) for name, each in report.others.items()},
    }


def _recorded_json(recorded: RecordedParts) -> dict[str, Any]:
    return {
        "total_us": recorded.total_us,
        "without_builds_us": recorded.without_builds_us,
        "parts_us": {str(part): recorded.of(part) for part in Part if part != Part.CALL},
    }


def _forecast_json(forecast: ProgramForecast) -> dict[str, Any]:
    timeline = forecast.timeline
    return {
        "devices": [each.id for each in forecast.devices],
        "total_us": timeline.total_us,
        "low_us": forecast.low_us,
        "high_us": forecast.high_us,
        "without_builds_us": forecast.without_builds_us,
        "bound": str(timeline.bound),
        "idle_us": timeline.idle_us,
        "parts_us": {str(part): timeline.busy_us.get(part, 0.0) for part in Part},
        "critical_path_us": {str(part): timeline.critical_us.get(part, 0.0) for part in Part},
        "notes": list(forecast.notes),
    }
