"""`kernelcast program`: the time of a whole program, from a recording or a written pipeline, and what if."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from rich.text import Text

from model.launch.config import Config, load_config
from model.program.pipeline import PipelineLaunch, commands_of, pipeline_named
from model.program.timeline import Part
from model.program.trace import trace_of
from profiler.store import Store
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, WrongCallError, warn, write_json
from server.cli.requests import Request
from server.cli.terminal import listed, out
from server.program.forecast import (
    NoRecordedProgramError,
    Program,
    ProgramForecast,
    ProgramLaunch,
    Programs,
    newest_program,
    with_scales,
)
from server.program.report import Report, report_on
from server.program.tables import (
    bound_sentence,
    counts_line,
    devices_line,
    devices_table,
    kernels_table,
    notes_of,
    parts_table,
    program_json,
    report_page,
)
from server.report.pages import write_page
from server.text.format import format_duration_us, format_percent


def run(arguments: argparse.Namespace) -> int:
    """Predict the program as it was recorded and, if the call says so, under other conditions."""
    devices = Devices()
    title, program = _pipeline(arguments, devices) if arguments.pipeline else _recording(arguments)
    check_devices(devices.to_predict_for, arguments.device, *arguments.compare)
    scales = with_scales(program, arguments.scale)
    if isinstance(scales, str):
        known = ", ".join([*Part, *dict.fromkeys(program.names)])
        raise WrongCallError(f"--scale: there is no `{scales}` in this program; there is {known}")
    replaced = _replaced(program, arguments.source)
    if arguments.edited:
        replaced = {**{each.kernel: each.edited for each in program.launches if each.edited}, **replaced}
    by = sources_of(StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=True)
    programs = Programs(Forecaster(devices.to_predict_for, by, measured_too=True), devices.to_predict_for)
    report = report_on(
        programs,
        title,
        program,
        device=arguments.device,
        scales=scales,
        sources=replaced,
        recorded_times=arguments.recorded_times,
        compared=arguments.compare,
    )
    if arguments.trace is not None:
        _write_trace(arguments.trace, program, report.changed or report.plain)
    if arguments.output is not None:
        write_page(arguments.output, report_page(report))
        warn(f"page written to {arguments.output}")
    if arguments.format == "json":
        write_json(program_json(report))
    else:
        _show(report)
    return ANSWERED


def _show(report: Report) -> None:
    """Print parts, kernels, what would help, and other devices."""
    console, plain = out(), report.plain
    console.print(Text.assemble((report.title, "bold"), f" {devices_line(plain)}"))
    console.print(Text(counts_line(report.program)))
    console.print(parts_table(report))
    console.print(bound_sentence(report.changed or plain))
    kernels = kernels_table(report)
    if kernels.row_count:
        console.print(kernels)
    for name, total_us in report.gains.items():
        before_us = plain.timeline.total_us
        if before_us and total_us < 0.99 * before_us:
            change = format_percent(100 * (total_us / before_us - 1), signed=True)
            console.print(f"half of {name}: {format_duration_us(total_us, 3)} ({change})")
    if report.others:
        console.print(devices_table(report))
    if notes := notes_of(report):
        console.print(listed(notes, "dim"))


def _recording(arguments: argparse.Namespace) -> tuple[str, Program]:
    try:
        return newest_program(Store.open(), Path.cwd(), arguments.recording)
    except NoRecordedProgramError as error:
        raise WrongCallError(error.message) from None


def _pipeline(arguments: argparse.Namespace, devices: Devices) -> tuple[str, Program]:
    if arguments.recording is not None:
        raise WrongCallError("either RECORDING or --pipeline, not both")
    return f"pipeline {arguments.pipeline}", _pipeline_program(arguments.pipeline, devices.to_predict_for(None).id)


def _pipeline_program(name: str, default_device: str) -> Program:
    """Return the program of the pipeline. Raises WrongCallError or ConfigError."""
    config = load_config(Path.cwd())
    pipeline = pipeline_named(config.pipelines if config is not None else (), name)
    if config is None or pipeline is None:
        known = ", ".join(each.name for each in config.pipelines) if config is not None else ""
        there = f"it has {known}" if known else "write [[pipeline]] tables there"
        raise WrongCallError(f"there is no pipeline `{name}` in the nearest kernelcast.toml; {there}")
    launches = tuple(_step_launch(each, config) for each in pipeline.launches)
    return Program(launches, commands_of(pipeline, config.device_id or default_device))


def _step_launch(launch: PipelineLaunch, config: Config) -> ProgramLaunch:
    if launch.file is None:
        raise WrongCallError(f'the step `{launch.kernel}` has no file: {{ launch = "{launch.kernel}", file = "..." }}')
    file = config.path.parent / launch.file
    return ProgramLaunch(launch.kernel, Request(file, launch.kernel), name=launch.name)


def _replaced(program: Program, files: list[Path]) -> Mapping[str, Path]:
    """Return the file of each of the program's kernels that is in one of `files`."""
    found: dict[str, Path] = {}
    for file in files:
        try:
            text = file.read_text("utf-8", "replace")
        except OSError as error:
            raise WrongCallError(f"{file} cannot be read: {error.strerror}") from None
        named = [name for name in dict.fromkeys(program.names) if name in text]
        if not named:
            raise WrongCallError(f"{file} has none of the program's kernels: {', '.join(dict.fromkeys(program.names))}")
        found.update(dict.fromkeys(named, file.absolute()))
    return found


def _write_trace(path: Path, program: Program, forecast: ProgramForecast) -> None:
    try:
        path.write_text(json.dumps(trace_of(program.commands, program.names, forecast.timeline)), "utf-8")
    except OSError as error:
        raise WrongCallError(f"{path} cannot be written: {error.strerror}") from None
    warn(f"timeline written to {path}: open it at https://ui.perfetto.dev or in chrome://tracing")
