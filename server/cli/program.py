"""`kernelcast program`: the time of a whole program, from a recording or a written pipeline, and what if."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.launch.config import Config, load_config
from model.program.pipeline import PipelineLaunch, commands_of, pipeline_named
from model.program.timeline import Part
from model.program.trace import trace_of
from model.program.what_if import UNCHANGED, Scales
from profiler.recording.recordings import project_of, recorded_commands, recordings, sources_of
from profiler.store import Store
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of as sources_to_predict_by
from server.cli.program_forecast import (
    Program,
    ProgramForecast,
    ProgramLaunch,
    Programs,
    recorded_program,
    with_scales,
)
from server.cli.program_tables import Report, program_json, report_page, show_program
from server.cli.requests import Request
from server.cli.status import ANSWERED, WrongCallError
from server.cli.streams import warn, write_json
from server.report.pages import write_page

_HALF = 0.5
_MOST_COMMANDS = 10_000  # beyond that, what would help is not tried out


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
    by = sources_to_predict_by(StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=True)
    programs = Programs(Forecaster(devices.to_predict_for, by, measured_too=True), devices.to_predict_for)
    recorded = (Part.KERNEL, Part.TRANSFER) if arguments.recorded_times else ()
    plain = programs.forecast(program, recorded=recorded)
    is_changed = arguments.device is not None or scales != UNCHANGED or replaced
    changed = None
    if is_changed:
        changed = programs.forecast(
            program,
            device=arguments.device,
            scales=scales,
            sources=replaced,
            recorded=() if replaced or arguments.device else recorded,
        )
    report = Report(
        title=title,
        program=program,
        plain=plain,
        changed=changed,
        others={each: programs.forecast(program, device=each, sources=replaced) for each in arguments.compare},
        gains=_gains(programs, program, plain, recorded),
    )
    if arguments.trace is not None:
        _write_trace(arguments.trace, program, changed or plain)
    if arguments.output is not None:
        write_page(arguments.output, report_page(report))
        warn(f"page written to {arguments.output}")
    if arguments.format == "json":
        write_json(program_json(report))
    else:
        show_program(report)
    return ANSWERED


def _recording(arguments: argparse.Namespace) -> tuple[str, Program]:
    store = Store.open()
    wanted = None if arguments.recording else project_of(Path.cwd())
    found = recordings(store, wanted, number=arguments.recording)
    if not found and arguments.recording:
        raise WrongCallError(f"there is no recording {arguments.recording}; `kernelcast recordings --all` lists them")
    if not found:
        raise WrongCallError("nothing was recorded in this project; `kernelcast record --profile -- COMMAND` does")
    recording = found[0]
    commands = recorded_commands(store, recording.id)
    if commands is None:
        raise WrongCallError(
            f"recording {recording.id} has no order of commands: record the program again "
            f"(`kernelcast record --profile -- {shlex.join(recording.command)}`)"
        )
    program = recorded_program(recording.launches, commands, sources_of(store))
    return f"recording {recording.id}: {shlex.join(recording.command)}", program


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


def _gains(
    programs: Programs, program: Program, plain: ProgramForecast, recorded: Sequence[Part]
) -> Mapping[str, float]:
    """Return the total [us] if a part, or the kernel that takes most, took half its time; the best first."""
    if len(program.commands.commands) > _MOST_COMMANDS:
        return {}
    wanted: dict[str, Scales] = {
        part: Scales(parts={part: _HALF})
        for part in Part
        if plain.timeline.busy_us.get(part, 0.0) and part != Part.BUILD
    }
    launches = plain.timeline.critical_launches_us
    if len(set(program.names)) > 1 and launches:
        name = program.names[max(launches, key=launches.__getitem__)]
        wanted[f"`{name}`"] = Scales(kernels={name: _HALF})
    totals = {
        name: programs.rescaled(program, plain, scales, recorded=recorded).total_us for name, scales in wanted.items()
    }
    return dict(sorted(totals.items(), key=lambda each: each[1]))


def _write_trace(path: Path, program: Program, forecast: ProgramForecast) -> None:
    try:
        path.write_text(json.dumps(trace_of(program.commands, program.names, forecast.timeline)), "utf-8")
    except OSError as error:
        raise WrongCallError(f"{path} cannot be written: {error.strerror}") from None
    warn(f"timeline written to {path}: open it at https://ui.perfetto.dev or in chrome://tracing")
