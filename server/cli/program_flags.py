"""The flags of `kernelcast record`, `kernelcast recordings` and `kernelcast program`."""

from __future__ import annotations

import argparse
from pathlib import Path

from model.program.timeline import Part
from server.cli.flags import add_analytic_only_flag, add_format_flag, positive


def add_recording_flags(record: argparse.ArgumentParser, recordings: argparse.ArgumentParser) -> None:
    record.usage = "kernelcast record [--contents] [--profile] -- COMMAND ..."
    record.add_argument(
        "--contents", action="store_true", help="describe in a word what input buffers hold; their data are not kept"
    )
    record.add_argument("--profile", action="store_true", help="time launches of queues that have profiling off, too")
    record.add_argument("program", nargs=argparse.REMAINDER, metavar="COMMAND", help="the program and its arguments")
    record.epilog = (
        "Exit status: that of COMMAND, 128 + N if signal N ended it; 126 or 127 if it cannot be run or found; "
        "2 the call itself was wrong."
    )

    recordings.add_argument("id", nargs="?", type=positive, metavar="ID", help="only this one; else the project's")
    recordings.add_argument("--show", action="store_true", help="the launches of each")
    recordings.add_argument("--kernel", "-k", metavar="NAME", help="only launches of this kernel")
    recordings.add_argument("--all", action="store_true", help="of all projects")
    recordings.add_argument(
        "--export", dest="exported", type=Path, metavar="FILE", help="write the launches as requests of a batch"
    )
    recordings.add_argument(
        "--import", dest="imported", type=Path, metavar="LOG", help="add a log of the OpenCL Intercept Layer"
    )
    recordings.add_argument("--forget", action="store_true", help="forget the project's recordings, or ID")
    add_format_flag(recordings)


Scale = tuple[str, float]


def add_program_flags(program: argparse.ArgumentParser) -> None:
    program.usage = "kernelcast program [RECORDING] [--pipeline NAME] [options]"
    program.add_argument(
        "recording", nargs="?", type=positive, metavar="RECORDING", help="its number (the project's newest)"
    )
    program.add_argument("--pipeline", metavar="NAME", help="a [[pipeline]] of kernelcast.toml instead of a recording")
    program.add_argument("--device", metavar="ID", help="what if it ran on this device")
    program.add_argument(
        "--compare", nargs="+", default=[], metavar="ID", help="the whole time on each of these devices"
    )
    program.add_argument(
        "--scale", type=_scale, action="append", default=[], metavar="WHAT=FACTOR",
        help=f"what if all of WHAT took FACTOR times as long: {', '.join(Part)}, or a kernel's name",
    )  # fmt: skip
    program.add_argument(
        "--source", type=Path, action="append", default=[], metavar="FILE",
        help="what if kernels were those of the same names in FILE",
    )  # fmt: skip
    program.add_argument("--edited", action="store_true", help="what if kernels were as their files are now")
    program.add_argument(
        "--recorded-times", action="store_true", help="kernels and transfers take what was recorded, if it is known"
    )
    program.add_argument(
        "--trace", type=Path, metavar="FILE", help="write the timeline for Perfetto or chrome://tracing"
    )
    program.add_argument("-o", "--output", type=Path, metavar="FILE", help="write a page with the timeline drawn")
    add_analytic_only_flag(program)
    add_format_flag(program)


def _scale(text: str) -> Scale:
    name, _, factor = text.partition("=")
    try:
        value = float(factor)
    except ValueError:
        value = -1.0
    if not name or not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not WHAT=FACTOR, such as transfers=0.5")
    return name, value
