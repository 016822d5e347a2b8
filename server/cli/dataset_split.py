"""`kernelcast dataset split`: which kernels are trained on, and which are held out."""

from __future__ import annotations

import argparse

from profiler.corpus.dataset.splits import split
from server.cli.status import ANSWERED


def run(arguments: argparse.Namespace) -> int:
    print(split(arguments.data))
    return ANSWERED
