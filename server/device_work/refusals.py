"""The places at which the compiler for the chosen device refuses a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from server.positions import IndexedText, source_offset

if TYPE_CHECKING:
    from model.opencl.options import BuildOptions
    from profiler.offline.diagnostics import Diagnostic
    from server.documents import Document

_MOST = 20  # of one build; compilers repeat themselves
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Build:
    """Identifies a build: its options, and which of a host file's programs it is of."""

    options: BuildOptions
    part: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error of a compiler: [start, end) are offsets into the text of edit `serial`."""

    target: str
    device_id: str
    message: str
    serial: int
    start: int
    end: int

    def moved(self, document: Document) -> Refusal:
        """Follow the place into the newest text."""
        start, end = (document.moved(offset, self.serial) for offset in (self.start, self.end))
        return replace(self, serial=document.serial, start=start, end=max(start, end))


class Refusals:
    """Keeps the refusals of each document by build. Everything here happens on the event loop."""

    def __init__(self) -> None:
        self._found: dict[str, Mapping[Build, tuple[Refusal, ...]]] = {}

    def of(self, uri: str, device_id: str) -> tuple[Refusal, ...]:
        """Return the refusals by the compiler for that device, each once."""
        found = (each for own in self._found.get(uri, {}).values() for each in own if each.device_id == device_id)
        return tuple(dict.fromkeys(found))

    def put(self, uri: str, build: Build, found: tuple[Refusal, ...]) -> bool:
        """Replace what was known of this build, and tell whether that differs; with nothing `found`, it compiles."""
        before = self._found.get(uri, {})
        self._found[uri] = {each: own for each, own in {**before, build: found}.items() if own}
        return self._found[uri] != before

    def keep(self, uri: str, builds: Iterable[Build]) -> None:
        """Forget builds that the document has no more."""
        wanted = set(builds)
        self._found[uri] = {each: own for each, own in self._found.get(uri, {}).items() if each in wanted}

    def follow(self, document: Document) -> None:
        """Move with the edits, before those that led here are forgotten."""
        known = self._found.get(document.uri, {})
        self._found[document.uri] = {build: tuple(each.moved(document) for each in own) for build, own in known.items()}

    def forget(self, uri: str) -> bool:
        """Drop the refusals of a document that was closed or is compiled no more; return whether there were any."""
        return bool(self._found.pop(uri, None))


def refusals_in(
    diagnostics: Iterable[Diagnostic], document: Document, name: str, target: str, device_id: str
) -> tuple[Refusal, ...]:
    """Place the errors of a compiler in the document, which it knows as `name`; those of other files at its start."""
    placed: dict[str, Any] = {"target": target, "device_id": device_id, "serial": document.serial}
    found = []
    for each in diagnostics:
        if not each.is_error:
            continue
        if each.file == name:
            start, end = _place(document.text, each.line - 1, each.column - 1)
            found.append(Refusal(message=each.text, start=start, end=end, **placed))
        else:
            found.append(Refusal(message=f"{each.file}, line {each.line}: {each.text}", start=0, end=0, **placed))
    return tuple(found[:_MOST])


def _place(text: IndexedText, line: int, column_bytes: int) -> tuple[int, int]:
    """Return the word that begins there, or one character; the whole line where the line has no such column."""
    starts = text.feed_starts
    if not 0 <= line < len(starts):
        return 0, 0
    end = starts[line + 1] if line + 1 < len(starts) else len(text.value)
    whole = text.value[starts[line] : end].rstrip()
    column = source_offset(text, line, max(0, column_bytes)) - starts[line]
    if column >= len(whole):
        return starts[line], starts[line] + len(whole)
    word = _WORD.match(whole, column)
    return starts[line] + column, starts[line] + (word.end() if word else column + 1)
