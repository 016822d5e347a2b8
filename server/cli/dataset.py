"""`kernelcast dataset`: each step in a module of its own, loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from importlib.util import find_spec

from server.cli.status import WrongCallError


def run(arguments: argparse.Namespace) -> int:
    """Run the step that was asked for.

    The package in an editor's extension lacks the modules for it, which are half of the code.
    """
    if find_spec("profiler.corpus.collection") is None:
        raise WrongCallError(
            "this installation, which an editor's extension made, has nothing that makes datasets: install Kernelcast "
            "from its repository, with pip install '.[corpus]'"
        )
    step: Callable[[argparse.Namespace], int] = importlib.import_module(f"server.cli.dataset_{arguments.step}").run
    return step(arguments)
