"""The flags of `kernelcast tune` and `kernelcast advise`."""

from __future__ import annotations

import argparse
from pathlib import Path

from model.advice.advice import AdviceCode
from model.errors import LaunchError
from model.launch.conditions import Condition, parse_condition
from model.launch.tuning import TuneRange, parse_range
from server.cli.flags import (
    add_analytic_only_flag,
    add_format_flag,
    add_ignore_recordings_flag,
    add_launch_flags,
    add_turns_flags,
    positive,
    positive_number,
    whole,
)
from server.text.fixes import ULPS

MOST, BUDGET_S = 10, 2.0  # as `server.tuning.trial` has them, which loads far more


def add_tuning_flags(parser: argparse.ArgumentParser) -> None:
    """Files and launches as for `measure`, what to try, and what becomes of it."""
    add_launch_flags(parser)
    parser.add_argument("--launch", metavar="NAME", help="the launch of this name, instead of each kernel's first")
    parser.add_argument(
        "--tune",
        type=_range,
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="try these values: TILE=8,16,32, or local=auto (the default)",
    )
    parser.add_argument(
        "--where",
        type=_condition,
        action="append",
        default=[],
        metavar="CONDITION",
        help='only candidates for which it holds: "TILE*TILE <= local"',
    )
    parser.add_argument("--predict-only", action="store_true", help="run nothing; the device need not be here")
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument(
        "--limit",
        type=positive,
        dest="most",
        default=MOST,
        metavar="N",
        help=f"measure N candidates, in rounds ({MOST})",
    )
    how_many.add_argument("--exhaustive", action="store_true", help="measure every candidate to the end")
    add_turns_flags(parser, budget_s=BUDGET_S, of="each candidate, at most")
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="write what was measured as a cache file of Kernel Tuner, or as T4 where FILE ends in .t4.json",
    )
    parser.add_argument("--export-format", choices=("cache", "t4"), help="of --export, whatever its file is named")
    parser.add_argument(
        "--import",
        type=Path,
        action="append",
        default=[],
        dest="imported",
        metavar="FILE",
        help="times from a cache file of Kernel Tuner or a T4 results file: they rank candidates beside predictions",
    )
    parser.add_argument("--write", action="store_true", help="put the winner into the annotation or kernelcast.toml")
    add_format_flag(parser)
    add_analytic_only_flag(parser)
    add_ignore_recordings_flag(parser)


def _range(text: str) -> TuneRange:
    name, equals, values = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUES")
    try:
        return parse_range(name.strip().removeprefix("tune."), values)
    except LaunchError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _condition(text: str) -> Condition:
    try:
        return parse_condition(text)
    except LaunchError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def add_advise_flags(advise: argparse.ArgumentParser) -> None:
    add_launch_flags(advise)
    add_format_flag(advise)
    advise.add_argument(
        "--measure",
        action="store_true",
        help="run each launch before and after the edit, in turns, compare its results",
    )
    advise.add_argument(
        "--apply",
        choices=[str(code) for code in AdviceCode],
        metavar="CODE",
        help="only edits of this code, and write the best into the file; with --measure only if it is faster and right",
    )
    advise.add_argument(
        "--all",
        action="store_true",
        help="also edits that are predicted to gain less than 5 %%, and those of codes that are off",
    )
    advise.add_argument(
        "--budget-s", type=positive_number, default=5.0, metavar="S", help="seconds of timed runs for each edit (5)"
    )
    advise.add_argument(
        "--ulps",
        type=whole,
        default=ULPS,
        metavar="N",
        help=f"how far floating-point results may lie apart, in units in the last place ({ULPS})",
    )
    add_analytic_only_flag(advise)
    add_ignore_recordings_flag(advise)
