"""The flags of `kernelcast compare`."""

from __future__ import annotations

import argparse

from server.cli.flags import (
    add_analytic_only_flag,
    add_format_flag,
    add_ignore_recordings_flag,
    add_launch_flags,
    add_turns_flags,
)

BUDGET_S = 10.0


def add_comparing_flags(parser: argparse.ArgumentParser) -> None:
    """Files and launches as for `measure`: two files, or two kernels of one; or one file and several devices."""
    add_launch_flags(parser, kernels=2)
    parser.add_argument("--predict-only", action="store_true", help="run nothing; the device need not be here")
    parser.add_argument(
        "--devices",
        type=_devices,
        metavar="ID,ID,...",
        help="one version on these devices, predicted, against the first",
    )
    add_turns_flags(parser, budget_s=BUDGET_S, of="both versions of a launch")
    add_format_flag(parser)
    add_analytic_only_flag(parser)
    add_ignore_recordings_flag(parser)


def _devices(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if len(found) < 2:
        raise argparse.ArgumentTypeError(f"name two devices at least, as in pocl,nvidia-h200; {text!r} does not")
    return found
