"""A batch: one JSON request a line, one JSON answer a line, in the same order, whatever any of them holds."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from model.errors import KernelcastError
from server.cli.answers import Answer, error_answer
from server.cli.requests import Request, read_line, read_request
from server.cli.status import ANSWERED, SOME_FAILED, WrongCallError
from server.cli.streams import write_json


def answer_batch(arguments: argparse.Namespace, answer: Callable[[Request], Answer]) -> int:
    """Answer each line as it comes. `answer` may raise `KernelcastError`, which becomes that line's answer."""
    if arguments.files:
        raise WrongCallError("either FILEs or --batch, not both: a batch names its files itself")
    status = ANSWERED
    for number, line in enumerate(_lines(arguments.batch), start=1):
        if line.strip():
            said = _answer(line, number, arguments.device, answer)
            status = SOME_FAILED if "error" in said else status
            write_json(said)
    return status


def _answer(line: bytes, number: int, device: str | None, answer: Callable[[Request], Answer]) -> Answer:
    request, asked = None, None
    try:
        content = read_line(line, number)
        asked = content.get("id")
        request = read_request(content, number, device)
        return answer(request)
    except KernelcastError as error:
        return error_answer(request, error, asked=asked)


def _lines(name: str) -> Iterator[bytes]:
    if name == "-":
        yield from sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as file:
            yield from file
    except OSError as error:
        raise WrongCallError(f"{name} cannot be read: {error.strerror}") from None
