"""Replace the stand-ins of a program that its host completes at run time with what a recorded run filled in."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from model.embedded.program import EmbeddedProgram, replaced


def refilled(program: EmbeddedProgram, recorded: Iterable[str]) -> EmbeddedProgram:
    """Return the program with the fields' texts from the first of `recorded` texts that it can have become.

    If there is none, the program is returned unchanged.
    """
    if not program.filled:
        return program
    constants: list[str] | None = None
    for text in recorded:
        constants = constants or list(_constants(program))
        values = _values(constants, [each.name for each in program.filled], text)
        if values is not None:
            return _with(program, values)
    return program


def _constants(program: EmbeddedProgram) -> Iterator[str]:
    """Yield the text before, between and behind the fields, without the line ends that were added."""
    added = [start for start, piece in zip(program.starts, program.pieces, strict=False) if piece.is_added]
    at = 0
    for field in program.filled:
        start = field.offset - bisect_left(added, field.offset)
        yield program.exact_text[at:start]
        at = start + len(field.stand_in)
    yield program.exact_text[at:]


def _values(constants: list[str], names: list[str], text: str) -> list[str] | None:
    """Return the text of each field where `text` is the constants with something between; None where it is not.

    A field ends where what follows it begins next, and one name has one text.
    """
    if not text.startswith(constants[0]) or not all(constants[1:-1]):
        return None
    values: list[str] = []
    at = len(constants[0])
    for number, constant in enumerate(constants[1:], start=1):
        end = text.find(constant, at) if number < len(constants) - 1 else len(text) - len(constant)
        if end < at or not text.startswith(constant, end):
            return None
        values.append(text[at:end])
        at = end + len(constant)
    known = dict(zip(names, values, strict=True))
    return values if all(known[name] == value for name, value in zip(names, values, strict=True)) else None


def _with(program: EmbeddedProgram, values: list[str]) -> EmbeddedProgram:
    spans, filled, moved = [], [], 0
    for field, value in zip(program.filled, values, strict=True):
        end = field.offset + len(field.stand_in)
        spans.append((field.offset, end, value))
        filled.append(replace(field, stand_in=value, offset=field.offset + moved, is_number=False, is_recorded=True))
        moved += len(value) - len(field.stand_in)
    return EmbeddedProgram(replaced(program.pieces, spans), program.literals, tuple(filled))
