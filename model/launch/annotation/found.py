"""Finds `kernelcast:` comments in a source text as the user sees it, before any preprocessing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from model.launch.annotation.static_checks import read_possible
from model.launch.spec import LaunchSpec
from model.opencl.kernel import SourceRange

MAX_BODY = 4_000  # characters that are read of one annotation

# Comments, and the literals that may hold what looks like one. Possessive: nothing is ever tried twice.
_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n\\]*+(?:\\(?:\r\n|[\s\S])[^\n\\]*+)*+     # a backslash at its end takes in the next line
      | /\*(?:[^*]++|\*(?!/))*+(?:\*/)?
      | "[^"\\\n]*+(?:\\(?:\r\n|[\s\S])[^"\\\n]*+)*+"?
      | '[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+'?
    """,
    re.VERBOSE,
)
_MARK = re.compile(r"(?:/[/*][/*!<]*|\n[ \t]*\**)[ \t]*(?P<mark>kernelcast[ \t]*:)")
_LAST_MARK = "kernelcast"


@dataclass(frozen=True, slots=True)
class AnnotationProblem:
    """What is wrong with part of an annotation, what is allowed, and where that part stands."""

    message: str
    range: SourceRange


@dataclass(frozen=True, slots=True)
class Annotation:
    """One `kernelcast:` line: one launch of the next kernel. `spec` holds what is sound of it.

    Positions inside `spec` (expressions, fills) count characters of `body`, which follows the colon and starts at
    `body_line` and byte column `body_byte`; `range_of` turns them into places in the file.
    """

    line: int  # from 0: where `kernelcast:` stands
    spec: LaunchSpec
    problems: tuple[AnnotationProblem, ...]
    body: str
    body_line: int
    body_byte: int
    keys: tuple[tuple[str, int, int], ...] = ()

    @property
    def range(self) -> SourceRange:
        """From `kernelcast:` to the end of its line."""
        assert self.spec.range is not None
        return self.spec.range

    def range_of(self, start: int, end: int) -> SourceRange:
        """Return the place in the file of characters `start` to `end` of `body`.

        Never empty, so that it can be seen.
        """
        end = max(end, start + 1)
        if end > len(self.body) > 0:
            start, end = min(start, len(self.body) - 1), len(self.body)
        return SourceRange(*self._place(start), *self._place(end))

    def key_range(self, key: str) -> SourceRange:
        """Where `key` is given; the whole annotation if it is not."""
        return next((self.range_of(start, end) for name, start, end in self.keys if name == key), self.range)

    def _place(self, at: int) -> tuple[int, int]:
        return _advance((self.body_line, self.body_byte), self.body[:at])


def find_annotations(text: str) -> tuple[Annotation, ...]:
    """Return all annotations of `text` in order; never raises, whatever `text` holds. Linear in its length."""
    last = text.rfind(_LAST_MARK)
    if last < 0:
        return ()
    return tuple(_annotations(text, last))


def _annotations(text: str, last: int) -> Iterator[Annotation]:
    at, place = 0, (0, 0)
    for comment in _COMMENT_OR_LITERAL.finditer(text):
        if comment.start() > last:
            return
        if text[comment.start()] != "/":
            continue
        for mark in _marks(text, comment):
            start, body_start = mark.span("mark")
            place = _advance(place, text[at:start])
            at = start
            yield _annotation(text, comment, start, body_start, place)


def _marks(text: str, comment: re.Match[str]) -> Iterator[re.Match[str]]:
    """Where annotations start: right after `//`, or at the start of a line of a `/* */` comment."""
    if text.startswith("//", comment.start()):
        mark = _MARK.match(text, comment.start(), comment.end())
        return iter([mark] if mark else [])
    return _MARK.finditer(text, comment.start(), comment.end())


def _annotation(text: str, comment: re.Match[str], start: int, body_start: int, place: tuple[int, int]) -> Annotation:
    line, byte = place
    body, problem = _body(text, comment, body_start)
    body_line, body_byte = line, byte + body_start - start  # the mark itself is ASCII
    items = read_possible(body)
    end_line, end_byte = _advance((body_line, body_byte), body.rstrip())
    spec = replace(items.spec, range=SourceRange(line, byte, end_line, end_byte))
    found = Annotation(line, spec, (), body, body_line, body_byte, items.keys)
    problems = [AnnotationProblem(p.message, found.range_of(p.start, p.end)) for p in items.problems]
    if not items.keys and not body.strip():
        problems = [replace(p, range=found.range) for p in problems]
    if problem:
        problems.append(AnnotationProblem(problem, found.range))
    return replace(found, problems=tuple(problems))


def _body(text: str, comment: re.Match[str], start: int) -> tuple[str, str | None]:
    """Return what follows the colon, in the same length; and what is wrong with it as a whole."""
    end = comment.end()
    if text.startswith("/*", comment.start()):
        newline = text.find("\n", start, end)
        while newline > 0 and (text[newline - 1] == "\\" or text[newline - 2 : newline] == "\\\r"):
            newline = text.find("\n", newline + 1, end)
        if newline >= 0:
            end = newline
        elif text.endswith("*/", start, end):
            end -= 2
    too_long = end - start > MAX_BODY
    body = text[start : min(end, start + MAX_BODY)]
    # Spaces for what joins two lines, so that positions stay as they are.
    body = re.sub(r"\\\r?\n[ \t]*\*?(?!/)", lambda m: re.sub(r"[\\*]", " ", m[0]), body)
    return body, f"longer than {MAX_BODY} characters; the rest is not read" if too_long else None


def _advance(place: tuple[int, int], passed: str) -> tuple[int, int]:
    """Return the line and byte column after `passed`, which starts at `place`."""
    line, byte = place
    newlines = passed.count("\n")
    if newlines:
        byte, passed = 0, passed[passed.rfind("\n") + 1 :]
    # Editors can send halves of surrogate pairs; they must not stop the rest from being read.
    return line + newlines, byte + len(passed.encode("utf-8", "surrogatepass"))
