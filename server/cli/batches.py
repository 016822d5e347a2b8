"""A batch: one JSON request a line, one JSON answer a line, in the same order, whatever any of them holds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from model.errors import KernelcastError
from server.cli.answers import Answer, error_answer
from server.cli.requests import Request, read_line, read_request
from server.cli.status import ANSWERED, SOME_FAILED, WrongCallError
from server.cli.streams import write_json

# An answer to each, in their order; a named failure becomes that line's answer.
AnswerAll = Callable[[Sequence[Request]], Iterable[Answer | KernelcastError]]
MOST_AT_ONCE = 64
_CHUNK_BYTES = 1 << 16
_Asked = tuple[object, Request | KernelcastError]  # the id of a line, and what it asks for


def answer_batch(arguments: argparse.Namespace, answer: AnswerAll) -> int:
    """Answer all lines that are at hand together, and wait for none: whoever writes them may wait for answers."""
    if arguments.files:
        raise WrongCallError("either FILEs or --batch, not both: a batch names its files itself")
    status, number = ANSWERED, 0
    for lines in _groups(arguments.batch):
        asked = [
            _read(line, number + place, arguments.device) for place, line in enumerate(lines, start=1) if line.strip()
        ]
        number += len(lines)
        for said in _answers(asked, answer):
            status = SOME_FAILED if "error" in said else status
            write_json(said)
    return status


def one_by_one(answer: Callable[[Request], Answer]) -> AnswerAll:
    """`answer` may raise `KernelcastError`; the next request begins when its answer is written."""

    def answer_all(requests: Sequence[Request]) -> Iterator[Answer | KernelcastError]:
        for request in requests:
            try:
                said: Answer | KernelcastError = answer(request)
            except KernelcastError as error:
                said = error
            yield said

    return answer_all


def _read(line: bytes, number: int, device: str | None) -> _Asked:
    asked = None
    try:
        content = read_line(line, number)
        asked = content.get("id")
        return asked, read_request(content, number, device)
    except KernelcastError as error:
        return asked, error


def _answers(asked: Sequence[_Asked], answer: AnswerAll) -> Iterator[Answer]:
    answers = iter(answer([request for _, request in asked if isinstance(request, Request)]))
    for own_id, request in asked:
        if isinstance(request, Request):
            said = next(answers)
            yield error_answer(request, said) if isinstance(said, KernelcastError) else said
        else:
            yield error_answer(None, request, asked=own_id)


def _groups(name: str) -> Iterator[list[bytes]]:
    """The lines that can be read without waiting, `MOST_AT_ONCE` at most."""
    if name == "-":
        yield from _lines_at_hand(sys.stdin.fileno())
        return
    try:
        with Path(name).open("rb") as file:
            yield from _lines_at_hand(file.fileno())
    except OSError as error:
        raise WrongCallError(f"{name} cannot be read: {error.strerror}") from None


def _lines_at_hand(number: int) -> Iterator[list[bytes]]:
    begun: list[bytes] = []  # parts of a line whose end has not come yet
    while chunk := os.read(number, _CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        begun.append(first)
        if others:
            lines = [b"".join(begun), *others[:-1]]
            begun = [others[-1]]
            for start in range(0, len(lines), MOST_AT_ONCE):
                yield lines[start : start + MOST_AT_ONCE]
    yield [b"".join(begun)]
