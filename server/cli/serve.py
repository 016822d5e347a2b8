"""`kernelcast serve`: the language server."""

from __future__ import annotations

import argparse
import importlib
import sys

from server.cli.status import WrongCallError
from server.client.streams import claim_streams, is_pipe
from server.greeting import Greeting, greet


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves. The server itself is loaded when the editor has its first answer."""
    if arguments.tcp is not None and arguments.tcp > 65_535:
        raise WrongCallError(f"--tcp {arguments.tcp}: ports go to 65535")
    status: int
    if arguments.tcp is not None:
        status = importlib.import_module("server.app").run_tcp(arguments.tcp)
        return status
    stdin, stdout = claim_streams()
    is_conversation = sys.platform != "win32" and is_pipe(stdin) and is_pipe(stdout)
    greeting = greet(stdin, stdout) if is_conversation else Greeting()
    status = importlib.import_module("server.app").run_stdio(stdin, stdout, greeting)
    return status
