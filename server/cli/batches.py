"""A batch: one JSON request a line, one JSON answer a line, in the same order, whatever any of them holds."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from model.errors import KernelcastError
from model.faults import contained
from server.cli.answers import Answer, error_answer
from server.cli.batch_processes import Asked, Workers, processes, said_by
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, write_json, write_text
from server.cli.requests import Request, read_line, read_request

# An answer to each, in their order; a named failure becomes that line's answer.
AnswerAll = Callable[[Sequence[Request]], Iterable[Answer | KernelcastError]]
Known = Callable[[Request], str | None]  # the answer as it is to be written, where it is known already
Start = Callable[[int], Workers]  # so many processes that answer as this one does
_Line = TypeVar("_Line")
MOST_AT_ONCE = 64
_CHUNK_BYTES = 1 << 16
# An answer makes thousands of objects that are kept for the next ones: looking through them so often as Python does
# by default takes a tenth of the time, and frees nothing more.
_MADE_BETWEEN_COLLECTIONS = 10_000


def answer_batch(
    arguments: argparse.Namespace, answer: AnswerAll, start: Start | None = None, known: Known | None = None
) -> int:
    """Answer all lines that are at hand together, and wait for none: whoever writes them may wait for answers.

    Where many are at hand whose answers are not `known`, `start` is asked for processes to share them with.
    """
    if arguments.files:
        raise WrongCallError("either FILEs or --batch, not both: a batch names its files itself")
    gc.set_threshold(_MADE_BETWEEN_COLLECTIONS)
    status, number = ANSWERED, 0
    at_hand = _lines(arguments.batch)
    for lines in at_hand:
        asked = list(_asked([lines], number, arguments.device, known))
        number += len(lines)
        unknown = sum(each.known is None for each in asked)
        many = processes(unknown, arguments.jobs) if start is not None and unknown else 1
        if start is not None and many > 1:
            every = chain(asked, _asked(at_hand, number, arguments.device, known))
            with start(many) as workers:
                return max(status, _with_others(workers, every, answer))
        for group in in_groups(asked):
            for said in _answers(group, answer):
                status = max(status, _written(said))
    return status


def one_by_one(answer: Callable[[Request], Answer]) -> AnswerAll:
    """Return what answers requests one after the other; `answer` may raise `KernelcastError`."""

    def answer_all(requests: Sequence[Request]) -> Iterator[Answer | KernelcastError]:
        for request in requests:
            yield contained("answering a request", partial(answer, request))

    return answer_all


def _with_others(workers: Workers, asked: Iterable[Asked], answer: AnswerAll) -> int:
    """Return what they leave unanswered, this process answers."""
    status = ANSWERED
    for said in said_by(workers, asked):
        if said.text is None:
            (own,) = _answers([said.asked], answer)
            status = max(status, _written(own))
        else:
            write_text(said.text)
            status = SOME_FAILED if said.is_error else status
    return status


def _written(said: Answer | str) -> int:
    if isinstance(said, str):  # no error is kept
        write_text(said)
        return ANSWERED
    write_json(said)
    return SOME_FAILED if "error" in said else ANSWERED


def _asked(
    chunks: Iterable[Sequence[bytes]], before: int, device: str | None, known: Known | None = None
) -> Iterator[Asked]:
    """Yield the lines that are not empty, after so many."""
    for number, line in enumerate(chain.from_iterable(chunks), start=before + 1):
        if line.strip():
            yield _read(line, number, device, known)


def _read(line: bytes, number: int, device: str | None, known: Known | None) -> Asked:
    content = contained("reading a request", partial(read_line, line, number))
    if isinstance(content, KernelcastError):
        return Asked(line, None, content)
    request = contained("reading a request", partial(read_request, content, number, device))
    if known is None or isinstance(request, KernelcastError):
        return Asked(line, content.get("id"), request)
    return Asked(line, content.get("id"), request, known(request))


def _answers(asked: Sequence[Asked], answer: AnswerAll) -> Iterator[Answer | str]:
    unknown = [each.request for each in asked if isinstance(each.request, Request) and each.known is None]
    answers = iter(answer(unknown) if unknown else ())
    for each in asked:
        if each.known is not None:
            yield each.known
        elif isinstance(each.request, Request):
            said = next(answers)
            yield error_answer(each.request, said) if isinstance(said, KernelcastError) else said
        else:
            yield error_answer(None, each.request, asked=each.id)


def in_groups(lines: Sequence[_Line]) -> Iterator[Sequence[_Line]]:
    """Yield the lines in groups of at most `MOST_AT_ONCE`."""
    for start in range(0, len(lines), MOST_AT_ONCE):
        yield lines[start : start + MOST_AT_ONCE]


def _lines(name: str) -> Iterator[list[bytes]]:
    """Yield the lines that can be read without waiting."""
    if name == "-":
        yield from lines_at_hand(sys.stdin.fileno())
        return
    try:
        with Path(name).open("rb") as file:
            yield from lines_at_hand(file.fileno())
    except OSError as error:
        raise WrongCallError(f"{name} cannot be read: {error.strerror}") from None


def lines_at_hand(number: int) -> Iterator[list[bytes]]:
    begun: list[bytes] = []  # parts of a line whose end has not come yet
    while chunk := os.read(number, _CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        begun.append(first)
        if others:
            yield [b"".join(begun), *others[:-1]]
            begun = [others[-1]]
    yield [b"".join(begun)]
