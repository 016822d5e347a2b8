"""A text cut into segments: directives, and runs of lines that hold about one function each, comments blank.

Every segment begins outside comments and strings, and where it ends follows from the text behind its beginning alone.
So after an edit the segments before it stand, those behind it stand as soon as one begins where an old one began, and
both ways give the same segments. Texts hold one character a byte (UTF-8 decoded as latin-1): offsets are bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from model.text_change import common_prefix, common_suffix

# An unterminated string ends with its line, an unterminated block comment with the text.
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|(?P<open>\Z))|\\\r?\n|[\n{};#]',
    re.DOTALL,
)
# Said of the loop behind it, wherever that stands: it stays in the text of its function. See `masking`.
_UNROLL = re.compile(r"#[ \t]*pragma[ \t]+unroll\b")


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A part of a text, whole lines as a rule. `blank` is `raw` with comments turned to spaces, line feeds kept."""

    raw: str
    blank: str
    is_directive: bool
    seen: int  # how many characters, from its beginning, decide that it is so; past the end of the text: one more
    line_feeds: int
    tail: int  # characters behind the last line feed
    open_comment: int | None  # offset of a comment that is never closed

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing but space and comments."""
        return not self.blank or self.blank.isspace()

    @property
    def line_of_text(self) -> int:
        """The line, from the segment's first, on which something other than space and comments begins."""
        return self.blank.count("\n", 0, len(self.blank) - len(self.blank.lstrip()))


_MARK = "\xef\xbb\xbf"


def bytewise(text: str) -> str:
    """Return one character for each byte of the UTF-8 text."""
    return without_mark(text.encode("utf-8", "surrogatepass").decode("latin-1"))


def without_mark(raw: str) -> str:
    """Replace a byte order mark by spaces: it would hide a directive behind it."""
    return f"   {raw[3:]}" if raw.startswith(_MARK) else raw


def cut(text: str, before: Sequence[Segment] = (), before_text: str = "") -> tuple[Segment, ...]:
    """Return the segments of `text`; of those of an earlier text, all that an edit leaves as they are are kept."""
    if not before:
        return tuple(_cut_from(text, 0))
    same = common_prefix(before_text, text)
    limit = min(len(before_text), len(text)) - same
    same_behind = common_suffix(before_text, text, limit)
    ends = list(accumulate(len(segment.raw) for segment in before))
    first = bisect_right(ends, same)
    while first and ends[first - 1] - len(before[first - 1].raw) + before[first - 1].seen > same:
        first -= 1
    at = ends[first - 1] if first else 0
    shift = len(text) - len(before_text)
    starts = [0, *ends]
    new: list[Segment] = []
    while at < len(text):
        old = at - shift
        if old >= len(before_text) - same_behind:
            number = bisect_left(starts, old)
            if starts[number] == old:
                return (*before[:first], *new, *before[number:])
        new.append(_segment(text, at))
        at += len(new[-1].raw)
    return (*before[:first], *new)


def _cut_from(text: str, at: int) -> list[Segment]:
    segments = []
    while at < len(text):
        segments.append(_segment(text, at))
        at += len(segments[-1].raw)
    return segments


def _segment(text: str, at: int) -> Segment:  # one scanner, read top to bottom
    """Return the segment that begins at `at`.

    It ends behind a line at whose end no brace is open, or whose first character is a closing brace (where a brace
    is missing, it is not missing in the next function, too); and before a directive, which is a segment by itself.
    `#pragma unroll` is none.
    """
    blank: list[str] = []
    copied = line = since = at
    depth = 0
    ends_something = is_directive = False
    is_clean = True  # nothing but space and comments on this line, up to `since`
    open_comment: int | None = None
    for token in _TOKEN.finditer(text, at):
        start, end = token.span()
        first = text[start]
        if first == "/":
            is_clean = is_clean and not text[since:start].strip()
            blank += text[copied:start], _spaces(token[0])
            copied = since = end
            if token["open"] is not None:
                open_comment = start - at
            if "\n" in token[0] and not is_directive:
                is_clean, line = True, start + token[0].rfind("\n") + 1
        elif first == "\n":
            if is_directive or (ends_something and (depth <= 0 or text[line] == "}")):
                return _made(text, at, end, end, blank, copied, open_comment, is_directive=is_directive)
            is_clean, ends_something, line, since = True, False, end, end
        elif is_directive:
            continue
        elif first == "#":
            if not is_clean or text[since:start].strip() or _UNROLL.match(text, start):
                is_clean = False
            elif not ("".join(blank) + text[copied:start]).strip():
                is_directive = True
            else:
                return _made(text, at, start, end, blank, copied, open_comment, is_directive=False)
        elif first != "\\":
            is_clean = False
            if first == "{":
                depth += 1
            elif first in "};":
                depth -= first == "}"
                ends_something = True
    return _made(text, at, len(text), len(text) + 1, blank, copied, open_comment, is_directive=is_directive)


def _made(
    text: str, at: int, end: int, seen: int, blank: list[str], copied: int, open_comment: int | None, *,
    is_directive: bool,
) -> Segment:  # fmt: skip
    raw = text[at:end]
    tail = len(raw) - (raw.rfind("\n") + 1)
    return Segment(
        raw, "".join([*blank, text[copied:end]]), is_directive, seen - at, raw.count("\n"), tail, open_comment
    )


def _spaces(comment: str) -> str:
    return "\n".join(" " * len(line) for line in comment.split("\n"))
