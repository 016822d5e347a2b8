"""`kernelcast dataset`: each step in a module of its own, loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable


def run(arguments: argparse.Namespace) -> int:
    """Run the step that was asked for."""
    step: Callable[[argparse.Namespace], int] = importlib.import_module(f"server.cli.dataset_{arguments.step}").run
    return step(arguments)
