"""`kernelcast serve`: the language server."""

from __future__ import annotations

import argparse
import os

from server.app import run_stdio, run_tcp
from server.cli.status import WrongCallError
from server.client.token import TokenError, take_token
from server.log.start import LogError, read_options, start_log


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    try:
        start_log(read_options(arguments.log_level, arguments.log_file, arguments.log_source, os.environ))
    except LogError as error:
        raise WrongCallError(error.message) from None
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
