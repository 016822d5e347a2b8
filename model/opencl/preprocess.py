"""Preprocessing: directives through pcpp, macro calls one by one, everything else untouched.

pcpp sees a skeleton: the directives, and one marker for each run of ordinary lines. It decides which runs
are alive and which macros hold there. Runs are then expanded piece by piece (a piece is about a function),
and only macro calls go through pcpp; text without macros is copied, and maps back byte for byte. So an
edit inside one function costs that function, and the parse tree of all others can be kept.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from model.errors import SourceError
from model.opencl.comments import blank_comments
from model.opencl.directives import Reader, SourceNote
from model.opencl.options import BuildOptions
from model.opencl.positions import LineIndex
from model.opencl.skeleton import CONTINUATION, MARKER, SourceFile, split

_NAME_OR_STRING = re.compile(r'[A-Za-z_]\w*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')

MAX_EXPANSION_CHARACTERS = 8 << 20

# What an OpenCL 3.0 / 1.2 compiler defines by itself (OpenCL C 3.0, section 6.13).
_PREDEFINED = {
    "__OPENCL_VERSION__": "300", "__OPENCL_C_VERSION__": "120", "CL_VERSION_1_0": "100", "CL_VERSION_1_1": "110",
    "CL_VERSION_1_2": "120", "CL_VERSION_2_0": "200", "CL_VERSION_3_0": "300", "__IMAGE_SUPPORT__": "1",
    "__ENDIAN_LITTLE__": "1", "__kernel_exec(X,typen)": "__kernel", "cl_khr_fp64": "1",
    "cl_khr_byte_addressable_store": "1", "cl_khr_global_int32_base_atomics": "1",
    "cl_khr_global_int32_extended_atomics": "1", "cl_khr_local_int32_base_atomics": "1",
    "cl_khr_local_int32_extended_atomics": "1", "cl_khr_3d_image_writes": "1", "cl_khr_int64_base_atomics": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fragment:
    """`length` characters of expanded text at `at`, from file `file` (0 = the main one) at `start`..`end`.

    `verbatim` fragments map byte for byte; the others are expansions of the macro call at `start`..`end`.
    """

    at: int
    length: int
    file: int
    start: int
    end: int
    verbatim: bool


@dataclass(frozen=True, slots=True)
class Expanded:
    """The preprocessed text (one character a byte) and where each part comes from."""

    text: str
    fragments: tuple[Fragment, ...]
    starts: tuple[int, ...]
    files: tuple[str, ...]
    lines: tuple[LineIndex, ...]
    notes: tuple[SourceNote, ...]

    def origin(self, offset: int) -> tuple[int, int]:
        """(file, offset in it) of an offset of the expanded text."""
        if not self.fragments:
            return 0, 0
        fragment = self.fragments[max(0, bisect_right(self.starts, offset) - 1)]
        if fragment.verbatim:
            return fragment.file, min(fragment.start + offset - fragment.at, fragment.end)
        return fragment.file, fragment.start

    def origin_end(self, offset: int) -> tuple[int, int]:
        """As `origin`, for the end of a half-open range: past a whole macro call."""
        file, start = self.origin(max(0, offset - 1))
        fragment = self.fragments[max(0, bisect_right(self.starts, max(0, offset - 1)) - 1)] if self.fragments else None
        return (file, fragment.end) if fragment is not None and not fragment.verbatim else (file, start + 1)

    def line(self, offset: int) -> int:
        """The main file's line (from 0) of an expanded offset, or -1 when it comes from another file."""
        file, at = self.origin(offset)
        return self.lines[0].line(at) if file == 0 else -1


class MacroTable:
    """The macros that hold for one run, with expansions remembered."""

    def __init__(self, macros: Mapping[str, Any]) -> None:
        self.macros = macros
        self.expansions: LRUCache[str, tuple[str, tuple[SourceNote, ...]]] = LRUCache(4096)


def preprocess(text: str, path: Path | None, options: BuildOptions) -> Expanded:
    """Expand `text` under `options`. Never raises for bad input: what is wrong is in `notes`."""
    raw = _bytewise(text)
    blank, unterminated = blank_comments(raw)
    main = split(str(path) if path else "", blank, 0)
    files = [main]
    reader = Reader(files)
    for name, value in {**_PREDEFINED, **dict(options.defines)}.items():
        reader.define(_bytewise(f"{name} {value}"))
    for folder in options.include_dirs:
        reader.add_path(folder)
    reader.temp_path = [str(path.parent)] if path else []
    if unterminated is not None:
        reader.notes.append(SourceNote("this comment is never closed", main.lines.line(unterminated)))
    writer = _Writer(files, reader)
    try:
        writer.write_all(main)
    except SourceError as error:
        reader.notes.append(SourceNote(error.message, reader.include_line))
    except RecursionError:
        reader.notes.append(
            SourceNote(
                "macros or includes are nested too deeply; the rest of the file was not read", reader.include_line
            )
        )
    return writer.expanded()


def _bytewise(text: str) -> str:
    """One character for each byte of the UTF-8 text."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


class _Writer:
    """Puts the expanded text together, run by run."""

    def __init__(self, files: list[SourceFile], reader: Reader) -> None:
        self.files = files
        self.reader = reader
        self.parts: list[str] = []
        self.fragments: list[Fragment] = []
        self.at = 0

    def write_all(self, main: SourceFile) -> None:
        version, table = -1, MacroTable({})
        for token in self.reader.parsegen(main.skeleton, main.name, main.name):
            if not token.value.startswith(MARKER):
                continue
            if version != self.reader.macro_version:
                version, table = self.reader.macro_version, MacroTable(dict(self.reader.macros))
            number, run = map(int, token.value[len(MARKER) :].split("_"))
            self.write_run(number, *self.files[number].runs[run], table)

    def put(self, text: str, number: int, start: int, end: int, *, verbatim: bool) -> None:
        if not text:
            return
        self.parts.append(text)
        self.fragments.append(Fragment(self.at, len(text), number, start, end, verbatim))
        self.at += len(text)
        if self.at > MAX_EXPANSION_CHARACTERS:
            raise SourceError("the preprocessed text is larger than 8 MB; the rest of the file was not read")

    def write_run(self, number: int, start: int, end: int, table: MacroTable) -> None:
        text = self.files[number].text
        at = start
        macros = table.macros
        for match in _NAME_OR_STRING.finditer(text, start, end):
            if match[0] not in macros or match.start() < at:
                continue
            stop = self._call_end(text, match, end, macros)
            if stop is None:
                continue
            self.put(text[at : match.start()], number, at, match.start(), verbatim=True)
            expansion, stop = self._expand(number, match.start(), stop, end, table)
            self.put(expansion, number, match.start(), stop, verbatim=False)
            at = stop
        self.put(text[at:end], number, at, end, verbatim=True)

    def _call_end(self, text: str, match: re.Match[str], end: int, macros: Mapping[str, Any]) -> int | None:
        """Where the macro call at `match` ends; None when a function-like macro is not called here."""
        if macros[match[0]].arglist is None:
            return match.end()
        return _parenthesis_end(text, match.end(), end)

    def _expand(self, number: int, start: int, stop: int, end: int, table: MacroTable) -> tuple[str, int]:
        text = self.files[number].text
        while True:
            call = CONTINUATION.sub(" ", text[start:stop])
            found = table.expansions.get(call)
            if found is None:
                before = len(self.reader.notes)
                kept, self.reader.macros = self.reader.macros, dict(table.macros)
                try:
                    tokens = self.reader.expand_macros(self.reader.tokenize(call.replace("\n", " ")))
                    expansion = "".join(str(t.value) for t in tokens)
                except SourceError as error:
                    line = self.files[0].lines.line(start) if number == 0 else self.reader.include_line
                    self.reader.notes.append(SourceNote(error.message, line))
                    expansion = call
                finally:
                    self.reader.macros = kept
                found = (expansion, tuple(self.reader.notes[before:]))
                table.expansions[call] = found
            # An object-like macro may name a function-like one whose arguments follow: #define REAL3 make_real3
            last = _LAST_NAME.search(found[0])
            macro = table.macros.get(last[0]) if last else None
            further = _parenthesis_end(text, stop, end) if macro is not None and macro.arglist is not None else None
            if further is None:
                return found[0], stop
            stop = further

    def expanded(self) -> Expanded:
        fragments = tuple(self.fragments)
        return Expanded(
            "".join(self.parts), fragments, tuple(f.at for f in fragments), tuple(f.name for f in self.files),
            tuple(f.lines for f in self.files), tuple(dict.fromkeys(self.reader.notes)),
        )  # fmt: skip


_LAST_NAME = re.compile(r"[A-Za-z_]\w*(?=\s*\Z)")
_PARENTHESIS = re.compile(r'[()]|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_SPACE = re.compile(r"\s*")


def _parenthesis_end(text: str, at: int, end: int) -> int | None:
    """The offset past the parenthesis group that begins at or after `at` (spaces only between), if it closes."""
    space = _SPACE.match(text, at, end)
    at = space.end() if space else at
    if at >= end or text[at] != "(":
        return None
    depth = 0
    for match in _PARENTHESIS.finditer(text, at, end):
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0:
            return match.end()
    return None
