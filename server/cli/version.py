"""`kernelcast --version`."""

from __future__ import annotations

import argparse
from importlib.metadata import version


def run(arguments: argparse.Namespace) -> int:
    """On a line of its own, as scripts expect it."""
    del arguments
    print(f"kernelcast {version('kernelcast')}")
    return 0
