"""Find the programs of a host file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from model.embedded.c_literals import c_programs
from model.embedded.fields import Found, with_stand_ins
from model.embedded.languages import Language, is_opencl, may_hold_program
from model.embedded.line_breaks import with_line_breaks
from model.embedded.program import EmbeddedProgram

if TYPE_CHECKING:
    from model.embedded.python_literals import PythonLiterals

_MOST = 500  # programs of a file that are answered


class ProgramFinder:
    """Finds the programs of one file after each edit; a state that was read before costs little."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._python: PythonLiterals | None = None
        self._last: tuple[str, tuple[EmbeddedProgram, ...]] = ("", ())

    def programs(self, text: str) -> tuple[EmbeddedProgram, ...]:
        """Return the programs that name a kernel, in the order of the text."""
        if text != self._last[0]:
            self._last = text, self._found(text)
        return self._last[1]

    def _found(self, text: str) -> tuple[EmbeddedProgram, ...]:
        if not may_hold_program(text):
            return ()
        found = self._python_literals(text) if self._language is Language.PYTHON else c_programs(text)
        programs = (with_stand_ins(each.pieces, each.literals, each.template) for each in found)
        wanted = [each for each in programs if is_opencl(each.text)][:_MOST]
        return tuple(with_line_breaks(each, text) for each in _without_parts(wanted))

    def _python_literals(self, text: str) -> Iterable[Found]:
        if self._python is None:
            from model.embedded.python_literals import PythonLiterals  # noqa: PLC0415 - loads a parser

            self._python = PythonLiterals()
        return self._python.programs(text)


def find_programs(text: str, language: Language) -> tuple[EmbeddedProgram, ...]:
    """Return the programs of one file."""
    return ProgramFinder(language).programs(text)


def _without_parts(programs: list[EmbeddedProgram]) -> tuple[EmbeddedProgram, ...]:
    """Drop those that another one holds as a whole: it is what is compiled."""
    held = [frozenset((each.start, each.end) for each in program.literals) for program in programs]
    return tuple(program for number, program in enumerate(programs) if not any(held[number] < other for other in held))
