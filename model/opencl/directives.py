"""Directives, read by pcpp: which runs of a file are alive, and which macros hold there."""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcpp import Action, OutputDirective, Preprocessor
from pcpp.ply.ply.lex import LexToken

from model.errors import SourceError
from model.opencl.builtins import FLOAT_CONSTANTS, INTEGER_CONSTANTS
from model.opencl.directive_skeleton import SourceFile
from model.opencl.include_policy import OUT_OF_REACH, Reach, can_be_read
from model.opencl.macros import Macro, MacroHistory
from model.opencl.segments import cut, without_mark
from model.safe_read import can_be_opened, read_plain

MAX_FILE_BYTES = 16 << 20
MAX_INCLUDE_DEPTH = 40
_MAX_TOKENS_OF_A_CALL = 100_000
_TOKENS_A_STEP_COSTS = 20  # of time, in that of a token
_TOO_LARGE = "a macro expands to more than 100,000 tokens: it is left as it is"
_NEEDS_A_NAME = {
    "define": "a name", "undef": "a name", "ifdef": "a name", "ifndef": "a name",
    "include": "a file", "if": "a condition", "elif": "a condition",
}  # fmt: skip
_FIRST_NAME = re.compile(r"[A-Za-z_]\w*")
_PLAIN_SHIFT = re.compile(r"<<\s*\(?\s*\d{1,2}[uUlL]*(?![\w.])(?!\s*[-+*/%(])")
_FAILED_EVALUATION = re.compile(r"Could not evaluate expression due to .*\(passed to evaluator: '(.*)'\)\Z", re.DOTALL)
_UNREADABLE_CONDITION = "this condition cannot be read ({}): assumed to be false"


def _copied(token: Any) -> Any:  # noqa: ANN401
    """Return a copy of a token.

    `copy.copy` takes ten times as long, and most of what expanding macros costs is copying.
    """
    made = object.__new__(LexToken)
    made.__dict__.update(token.__dict__)
    return made


LexToken.__copy__ = _copied


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Something about the text that the user should know; `line` counts from 0, in the main file."""

    message: str
    line: int


class Reader(Preprocessor):  # type: ignore[misc]  # pcpp carries no types
    """pcpp over skeletons; collects files, macros and notes. Notes are about a row of the main file's skeleton."""

    def __init__(self, files: list[SourceFile], reach: Reach | None = None) -> None:
        self.notes: list[SourceNote] = []
        self.history = MacroHistory()
        self.files = files
        self.reach = reach
        self.is_out_of_reach = False  # one of the places in which the last include was looked for
        self.opened: dict[str, bytes | None] = {}  # what was looked for, and what was found there
        self.missing: dict[str, None] = {}  # includes that were found nowhere
        self.depth = 0
        self.include_row = 0
        self.tokens_read = 0  # by the macro call being expanded, all that it expands to included
        self.steps_inside = 0  # pcpp expands arguments by themselves
        super().__init__()
        self.line_directive = None

    def define(self, tokens: Any) -> Any:  # noqa: ANN401
        text = tokens if isinstance(tokens, str) else "".join(str(t.value) for t in tokens)
        name = _FIRST_NAME.match(text)
        before = self.macros.get(name[0]) if name else None
        try:
            result = super().define(tokens)
        except IndexError:  # pcpp's answer to `#define M(, x)`
            source, line = ("", 0) if isinstance(tokens, str) else (tokens[0].source, tokens[0].lineno)
            self.on_error(source, line, "a parameter of this macro has no name: the macro is left out")
            return None
        if name is not None and (macro := self.macros.get(name[0])) is not None and macro is not before:
            self.history.record(name[0], Macro(macro, text))
        return result

    def adopt(self, name: str, macro: Macro) -> None:
        """Define a macro that another reader has read: it takes no time."""
        self.macros[name] = macro.macro
        self.history.record(name, macro)

    def undef(self, tokens: Any) -> Any:  # noqa: ANN401
        result = super().undef(tokens)
        name = tokens if isinstance(tokens, str) else tokens[0].value
        if name not in self.macros:
            self.history.record(name, None)
        return result

    def evalexpr(self, tokens: Any) -> Any:  # noqa: ANN401
        """As pcpp, but for shifts by what is no plain number: pcpp would compute `1 << 99999999999` to its last bit."""
        try:
            if any("<<" in token.value or token.value in self.macros for token in tokens):
                expression = "".join(t.value for t in self.expand_macros([copy.copy(t) for t in tokens]))
                if expression.count("<<") != len(_PLAIN_SHIFT.findall(expression)):
                    self.on_error(tokens[0].source, tokens[0].lineno, _UNREADABLE_CONDITION.format("it shifts too far"))
                    return 0, None
            return super().evalexpr(tokens)
        except SourceError as error:
            self.on_error(tokens[0].source, tokens[0].lineno, error.message)
            return 0, None

    def on_unknown_macro_in_defined_expr(self, tok: Any) -> bool:  # noqa: ANN401
        return tok.value in INTEGER_CONSTANTS or tok.value in FLOAT_CONSTANTS

    def on_unknown_macro_in_expr(self, ident: str) -> int:
        return INTEGER_CONSTANTS.get(ident, 0)

    def expand_macros(self, tokens: Any, expanding_from: Any = ()) -> Any:  # noqa: ANN401
        if not self.steps_inside:
            self.tokens_read = 0
        self.tokens_read += len(tokens) + _TOKENS_A_STEP_COSTS
        if self.tokens_read > _MAX_TOKENS_OF_A_CALL:
            raise SourceError(_TOO_LARGE)
        self.steps_inside += 1
        try:
            return super().expand_macros(tokens, list(expanding_from))
        finally:
            self.steps_inside -= 1

    def _note(self, source: str, skeleton_line: int, message: str) -> None:
        for file in self.files:
            if file.name == source and 0 < skeleton_line <= len(file.rows):
                row = skeleton_line - 1
                if file is not self.files[0]:
                    message, row = f"{Path(source).name}:{file.line_of_row(row) + 1}: {message}", self.include_row
                self.notes.append(SourceNote(message, row))
                return
        self.notes.append(SourceNote(message, self.include_row))

    def on_error(self, file: str, line: int, msg: str) -> None:
        failed = _FAILED_EVALUATION.match(msg)
        self._note(file, line, _UNREADABLE_CONDITION.format(f"`{failed[1][:60]}`") if failed else msg)

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: Any, precedingtoks: Any) -> Any:  # noqa: ANN401
        if directive.value in ("pragma", "warning", "line", "ident"):
            raise OutputDirective(Action.IgnoreAndRemove)
        if directive.value in _NEEDS_A_NAME and not toks:
            self._note(directive.source, directive.lineno, f"#{directive.value} needs {_NEEDS_A_NAME[directive.value]}")
            if directive.value in ("define", "undef", "include"):
                raise OutputDirective(Action.IgnoreAndRemove)
            toks.extend(self.tokenize("0"))  # a condition that is still being typed: its #endif must stay paired
        if directive.value == "include" and self.depth == 0:
            self.include_row = directive.lineno - 1
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive: Any, toks: Any, ifpassthru: Any, precedingtoks: Any) -> Any:  # noqa: ANN401
        # Here and not above: above, pcpp hands over directives of branches that are not taken, too.
        if directive.value == "error":
            self._note(directive.source, directive.lineno, "#error " + "".join(t.value for t in toks))
            raise OutputDirective(Action.IgnoreAndRemove)
        return super().on_directive_unknown(directive, toks, ifpassthru, precedingtoks)

    def on_include_not_found(self, is_malformed: bool, is_system: bool, curdir: str, includepath: str) -> None:
        where = "next to the file or in an include folder (-I)" if not is_system else "in an include folder (-I)"
        said = f"`{includepath}` was not found {where}"
        if self.is_out_of_reach:
            said = f"`{includepath}` {OUT_OF_REACH}"
        elif not is_malformed:
            self.missing[includepath] = None
        self.notes.append(SourceNote(f"{said}; what it declares is unknown", self.include_row))
        raise OutputDirective(Action.IgnoreAndRemove)

    def include(self, tokens: Any, original_line: Any) -> Iterator[Any]:  # noqa: ANN401
        if self.depth >= MAX_INCLUDE_DEPTH:
            self.notes.append(
                SourceNote(
                    f"includes are nested more than {MAX_INCLUDE_DEPTH} deep: does a file include itself?",
                    self.include_row,
                )
            )
            return
        self.depth += 1
        self.is_out_of_reach = False
        try:
            yield from super().include(tokens, original_line)
        finally:
            self.depth -= 1

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        if not can_be_opened(includepath):
            raise OSError(includepath)
        path = Path(includepath)
        if not can_be_read(path, self.reach):
            self.is_out_of_reach = True
            raise OSError(includepath)
        data = contents(path)
        self.opened[includepath] = data
        if data is None:
            raise OSError(includepath)
        known = next((i for i, f in enumerate(self.files) if f.name == includepath), None)
        if known is None:
            known = len(self.files)
            self.files.append(SourceFile(includepath, known, cut(without_mark(data.decode("latin-1")))))
        return io.StringIO(self.files[known].skeleton)


def contents(path: Path) -> bytes | None:
    """Return what an included file holds; None where it is none, or too large."""
    try:
        return read_plain(path, MAX_FILE_BYTES)
    except (OSError, ValueError):
        return None
