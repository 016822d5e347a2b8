"""`kernelcast record -- COMMAND`: run a program and keep the launches of its kernels."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from model.device import Device
from profiler.measurement import MeasureError
from profiler.recording.running import CannotRun
from profiler.recording.session import Wanted, record
from profiler.store import Store
from server.cli.device_choice import Devices
from server.cli.recording_tables import summary
from server.cli.status import WrongCallError
from server.cli.streams import warn

# What the program's driver was told to write: asking for devices afterwards would begin those files anew.
_TRACING = ("POCL_TRACING", "POCL_TRACING_OPT", "POCL_TRACING_FILTER", "POCL_DEBUG", "OPENCL_LAYERS")


def run(arguments: argparse.Namespace) -> int:
    """Run the program; its exit status is ours, whatever becomes of the recording."""
    command = list(arguments.program)
    if command[:1] == ["--"]:
        del command[0]
    if not command:
        raise WrongCallError("say which program to run: kernelcast record -- COMMAND")
    wanted = Wanted(contents=arguments.contents, profile=arguments.profile)
    try:
        done = record(command, os.environ, wanted, Store.open, devices_here)
    except CannotRun as error:
        warn(error.message)
        return error.status
    for line in [done.failure] if done.failure else summary(done.recording, done.why_nothing):
        warn(line)
    return done.status


def devices_here() -> Sequence[Device]:
    """Return this machine's devices; none where there are none."""
    for name in _TRACING:
        os.environ.pop(name, None)
    try:
        return Devices().here
    except MeasureError:  # the program had some device: it is named, and has no id here
        return ()
