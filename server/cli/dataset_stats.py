"""`kernelcast dataset stats`: what a dataset holds, and whether it keeps its promises."""

from __future__ import annotations

import argparse
import json

from profiler.corpus.dataset.printed import print_statistics
from profiler.corpus.dataset.stats import review
from server.cli.status import ANSWERED, SOME_FAILED
from server.cli.terminal import out


def run(arguments: argparse.Namespace) -> int:
    """Show figures of a dataset; fails if a quality gate is not met."""
    found = review(arguments.data, arguments.pictures, arguments.card)
    if arguments.json:
        print(json.dumps(found.as_plain(), indent=2))
    else:
        print_statistics(found.statistics, found.promises, out())
    return ANSWERED if found.keeps_all else SOME_FAILED
