"""The flags of `kernelcast program`."""

from __future__ import annotations

import argparse
from pathlib import Path

from model.program.timeline import Part
from server.cli.flags import add_analytic_only_flag, add_format_flag, positive

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
