"""The flags of `kernelcast compare` and `kernelcast diff`."""

from __future__ import annotations

import argparse
from pathlib import Path

from server.cli.flags import (
    add_analytic_only_flag,
    add_build_flags,
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


FORMATS = ("text", "json", "markdown", "sarif", "junit")
SUFFIXES = {".json": "json", ".md": "markdown", ".sarif": "sarif", ".xml": "junit", ".txt": "text"}
EXIT = (
    "Without a version, HEAD is compared with the working tree; with BASE alone, BASE is. Exit status: 0 compared, 1 a "
    "rule of --fail-on holds, 2 the call itself was wrong."
)


def add_diff_flags(parser: argparse.ArgumentParser) -> None:
    """Versions, devices, outputs, and what fails."""
    parser.add_argument(
        "versions", nargs="*", metavar="VERSION",
        help="BASE, BASE..HEAD, BASE...HEAD (from their common ancestor), or two folders",
    )  # fmt: skip
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="the repository that DIR is in (this folder's)"
    )
    parser.add_argument(
        "--device", action="append", default=[], metavar="ID",
        help="a device of `kernelcast devices --all`; several times for several (that of kernelcast.toml)",
    )  # fmt: skip
    add_build_flags(parser)
    parser.add_argument("--measure", action="store_true", help="run both versions in turns on the device")
    add_turns_flags(parser, budget_s=BUDGET_S, of="both versions of a launch")
    parser.add_argument("--format", choices=FORMATS, default="text", help="what goes to stdout (text)")
    parser.add_argument(
        "-o", "--output", type=_output, action="append", default=[], metavar="FILE",
        help=f"write this file as well, by its suffix: {', '.join(SUFFIXES)}",
    )  # fmt: skip
    parser.add_argument(
        "--fail-on", type=_rules, default=(), metavar="RULES",
        help="verdicts that end with status 1: slower:10%%, or several, as slower:10%%,unknown",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="changes that were accepted, until their kernels change again"
    )
    parser.add_argument(
        "--write-baseline", action="store_true",
        help="with --baseline: accept all that --fail-on would fail, or all that is slower",
    )  # fmt: skip
    add_analytic_only_flag(parser)
    add_ignore_recordings_flag(parser)


def _output(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in SUFFIXES:
        raise argparse.ArgumentTypeError(f"{text!r} ends in none of {', '.join(SUFFIXES)}")
    return path


def _rules(text: str) -> tuple[object, ...]:
    from server.diff.gate import parse_rules  # noqa: PLC0415 - `serve` must be up at once

    try:
        return parse_rules(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
