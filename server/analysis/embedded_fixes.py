"""Fixes of kernels in host files: predicted on the program's text, and written where its literals have that text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from model.advice.fixes.fix import Fix, TextEdit, apply_edits
from model.embedded.find import find_programs
from model.embedded.languages import Language
from model.embedded.program import EmbeddedProgram
from model.embedded.writing import edited_host
from model.forecast import Home
from server.analysis.fix_gains import PredictedFix


def in_host(
    fixes: Sequence[PredictedFix], home: Home, program: EmbeddedProgram, host: str, language: Language
) -> Iterator[PredictedFix]:
    """Yield the fixes of a program's kernel as edits of its host file.

    Only those of which each edit is written one to one, and after which the host holds just the edited program.
    """
    if program.text != home.text:
        return
    for each in fixes:
        edits = edited_host(program, host, [_in_characters(edit, program.text) for edit in each.fix.edits])
        if edits is None:
            continue
        fix = _in_bytes(each.fix, edits, host)
        text = apply_edits(host, fix.edits)
        if any(found.text == each.text for found in find_programs(text, language)):
            line = home.line(home.kernel.name_range.start_line + 1)
            yield replace(each, fix=fix, text=text, sources=(home.text, each.text), host_line=line)


def _in_characters(edit: TextEdit, text: str) -> tuple[int, int, str]:
    if text.isascii():
        return edit.start, edit.end, edit.text
    data = text.encode("utf-8", "surrogatepass")
    start, end = (len(data[:at].decode("utf-8", "surrogatepass")) for at in (edit.start, edit.end))
    return start, end, edit.text


def _in_bytes(fix: Fix, edits: Sequence[tuple[int, int, str]], host: str) -> Fix:
    def byte(at: int) -> int:
        return len(host[:at].encode("utf-8", "surrogatepass"))

    return replace(fix, edits=tuple(TextEdit(byte(start), byte(end), text) for start, end, text in edits))
