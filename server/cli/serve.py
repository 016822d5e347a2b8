"""`kernelcast serve`: the language server."""

from __future__ import annotations

import argparse

from server.app import run_stdio, run_tcp
from server.cli.status import WrongCallError
from server.client.token import TokenError, take_token


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    if arguments.tcp is None:
        if arguments.token_file is not None:
            raise WrongCallError("--token-file is for --tcp: over standard input nobody else can come in")
        return run_stdio()
    if arguments.tcp > 65_535:
        raise WrongCallError(f"--tcp {arguments.tcp}: ports go to 65535")
    try:
        token = take_token(arguments.token_file)
    except TokenError as error:
        raise WrongCallError(error.message) from None
    return run_tcp(arguments.tcp, token)
