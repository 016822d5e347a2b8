"""`kernelcast serve`: the language server."""

from __future__ import annotations

import argparse

from server.app import run_stdio, run_tcp
from server.cli.status import WrongCallError


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    if arguments.tcp is None:
        return run_stdio()
    if arguments.tcp > 65_535:
        raise WrongCallError(f"--tcp {arguments.tcp}: ports go to 65535")
    return run_tcp(arguments.tcp)
