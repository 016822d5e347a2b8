"""The program that a `[[pipeline]]` of the nearest `kernelcast.toml` describes."""

from __future__ import annotations

from pathlib import Path

from model.launch.config import Config, load_config
from model.program.pipeline import PipelineLaunch, commands_of, pipeline_named
from server.cli.program_forecast import Program, ProgramLaunch
from server.cli.requests import Request
from server.cli.status import WrongCallError


def pipeline_program(name: str, default_device: str) -> Program:
    """Return the program of the pipeline. Raises WrongCallError or ConfigError."""
    config = load_config(Path.cwd())
    pipeline = pipeline_named(config.pipelines if config is not None else (), name)
    if config is None or pipeline is None:
        known = ", ".join(each.name for each in config.pipelines) if config is not None else ""
        there = f"it has {known}" if known else "write [[pipeline]] tables there"
        raise WrongCallError(f"there is no pipeline `{name}` in the nearest kernelcast.toml; {there}")
    launches = tuple(_launch(each, config) for each in pipeline.launches)
    return Program(launches, commands_of(pipeline, config.device_id or default_device))


def _launch(launch: PipelineLaunch, config: Config) -> ProgramLaunch:
    if launch.file is None:
        raise WrongCallError(f'the step `{launch.kernel}` has no file: {{ launch = "{launch.kernel}", file = "..." }}')
    file = config.path.parent / launch.file
    return ProgramLaunch(launch.kernel, Request(file, launch.kernel), name=launch.name)
