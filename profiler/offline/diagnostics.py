"""What clang says of a text that does not compile, by file, line and column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from profiler.measurement import BuildFailed

LOG_BYTES = 20_000
_MESSAGE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>fatal error|error|warning): (?P<text>.+)$",
    re.MULTILINE,
)
# Back ends write it otherwise: "error: k.cl:3:5: in function NAME TYPE: text".
_BACK_END = re.compile(r"^error: ([^:\n]+:\d+:\d+): in function \S+ .*?: ([^:\n]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of a compiler; line and column count from 1, columns in bytes as clang counts them."""

    file: str
    line: int
    column: int
    is_error: bool
    text: str

    def __str__(self) -> str:
        kind = "error" if self.is_error else "warning"
        return f"{self.file}:{self.line}:{self.column}: {kind}: {self.text}"


class DoesNotCompile(BuildFailed):
    """The text does not compile for the target. `diagnostics` holds everything that the compiler said, errors first."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic], *, line: int | None = None) -> None:
        super().__init__(message, line=line, log="\n".join(map(str, diagnostics))[:LOG_BYTES])
        self.diagnostics = tuple(diagnostics)


def diagnostics_in(messages: str, name: str, folders: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Read clang's messages of the text called `name`, errors first.

    A text can include any file, and compilers quote what they cannot read: what is said of a file that lies below
    none of `folders` is not repeated.
    """
    found = []
    for match in _MESSAGE.finditer(_BACK_END.sub(r"\1: error: \2", messages)):
        file, text = match["file"], match["text"]
        if file != name and not _is_below(file, folders):
            file, text = Path(file).name, "this file lies elsewhere and is not quoted"
        found.append(Diagnostic(file, int(match["line"]), int(match["column"]), match["kind"] != "warning", text))
    return tuple(sorted(found, key=lambda each: not each.is_error))


def failure(messages: str, name: str, target: str, folders: Sequence[str]) -> DoesNotCompile:
    """Return the error for a text that clang refused."""
    diagnostics = diagnostics_in(messages, name, folders)
    first = next(iter(diagnostics), None)
    if first is None:
        said = next((line for line in messages.splitlines() if line.strip()), "the compiler gave no reason")
        return DoesNotCompile(f"{name} does not compile for {target}: {said}", ())
    if first.file == name:
        return DoesNotCompile(
            f"{name} does not compile for {target}: line {first.line}, column {first.column}: {first.text}",
            diagnostics,
            line=first.line,
        )
    text = f"{name} does not compile for {target}: {first.file}, line {first.line}: {first.text}"
    return DoesNotCompile(text, diagnostics)


def with_lines(error: DoesNotCompile, name: str, line_of: Callable[[int], int | None]) -> DoesNotCompile:
    """Return the error with `line_of` each line of the text called `name`, in its message as well.

    Use it where the text is part of another file. `error.line` is left alone.
    """
    moved = tuple(
        replace(each, line=line_of(each.line) or each.line) if each.file == name else each for each in error.diagnostics
    )
    message = error.message
    if moved and moved[0].file == name:  # which the message quotes
        message = message.replace(f": line {error.diagnostics[0].line}", f": line {moved[0].line}", 1)
    return DoesNotCompile(message, moved, line=error.line)


def _is_below(file: str, folders: Sequence[str]) -> bool:
    inside = [Path(folder).resolve() for folder in folders]
    return any(Path(folder, file).resolve().is_relative_to(each) for folder in folders for each in inside)
