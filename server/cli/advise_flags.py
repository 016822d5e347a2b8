"""The flags of `kernelcast advise`."""

from __future__ import annotations

import argparse

from model.advice.advice import AdviceCode
from server.cli.flags import (
    add_analytic_only_flag,
    add_format_flag,
    add_ignore_recordings_flag,
    add_launch_flags,
    positive_number,
    whole,
)
from server.text.fixes import ULPS


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
