"""A program that its host completes when it runs, with what a recorded run filled in instead of stand-ins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate

from model.embedded.program import EmbeddedProgram, replaced


def refilled(program: EmbeddedProgram, recorded: Iterable[str]) -> EmbeddedProgram:
    """Return the program with the fields' texts from the first of `recorded` texts that it can have become.

    None of them is one: the program as it is.
    """
    if not program.filled:
        return program
    constants = list(_constants(program))
    for text in recorded:
        values = _values(constants, [each.name for each in program.filled], text)
        if values is not None:
            return _with(program, values)
    return program


def _constants(program: EmbeddedProgram) -> Iterator[str]:
    """Yield what stands before, between and behind the fields, as the host's compiler has it."""
    added = {
        start
        for start, piece in zip(
            accumulate((len(p.text) for p in program.pieces), initial=0), program.pieces, strict=False
        )
        if piece.text == "\n" and piece.end == piece.start
    }
    at = 0
    for field in (*program.filled, None):
        end = field.offset if field is not None else len(program.text)
        yield "".join(program.text[n] for n in range(at, end) if n not in added)
        at = end + len(field.stand_in) if field is not None else end


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
