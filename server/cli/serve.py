"""`kernelcast serve`: the language server."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from server.cli.output import WrongCallError
from server.client.streams import claim_streams, is_pipe
from server.early_initialize import EarlyInitialize, early_initialize
from server.log.options import LogError, LogOptions, read_options


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves. The server itself is loaded when the editor has its first answer."""
    try:
        log = read_options(arguments.log_level, arguments.log_file, arguments.log_source, os.environ)
    except LogError as error:
        raise WrongCallError(error.message) from None
    if arguments.tcp is not None:
        return _over_tcp(arguments, log)
    if arguments.token_file is not None:
        raise WrongCallError("--token-file is for --tcp: standard input needs no token")
    if log.file is not None:
        _start_log(log)  # where it cannot be written, nobody is greeted
    stdin, stdout = claim_streams()
    is_conversation = sys.platform != "win32" and is_pipe(stdin) and is_pipe(stdout)
    early = early_initialize(stdin, stdout) if is_conversation else EarlyInitialize()
    if log.file is None:
        _start_log(log)
    status: int = importlib.import_module("server.app").run_stdio(stdin, stdout, early)
    return status


def _over_tcp(arguments: argparse.Namespace, log: LogOptions) -> int:
    if arguments.tcp > 65_535:
        raise WrongCallError(f"--tcp {arguments.tcp}: ports go to 65535")
    _start_log(log)
    tokens = importlib.import_module("server.client.auth")
    try:
        token = tokens.take_token(arguments.token_file)
    except tokens.TokenError as error:
        raise WrongCallError(error.message) from None
    status: int = importlib.import_module("server.app").run_tcp(arguments.tcp, token)
    return status


def _start_log(log: LogOptions) -> None:
    """Start the log. Its module loads sockets, queues and more, for which no editor should wait."""
    try:
        importlib.import_module("server.log.start").start_log(log)
    except LogError as error:
        raise WrongCallError(error.message) from None
