"""`kernelcast --version`."""

from __future__ import annotations

import argparse
from importlib.metadata import version


def run(arguments: argparse.Namespace) -> int:
    """Print the version on its own line, as scripts expect it."""
    del arguments
    print(f"kernelcast {version('kernelcast')}")
    return 0
