"""Blanking comments: the same number of bytes, so that every offset stays true."""

from __future__ import annotations

import re

# Alternatives in order: an ordinary string or character constant is stepped over whole, so that a
# `//` inside it is not taken for a comment. An unterminated block comment runs to the end of the text.
_COMMENT = re.compile(
    r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|(?P<line>//(?:\\\r?\n|[^\n])*)|(?P<block>/\*.*?(?:\*/|(?P<open>\Z)))',
    re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")


def blank_comments(text: str) -> tuple[str, int | None]:
    """The text with comments turned to spaces (newlines kept), and the offset of an unterminated comment."""
    unterminated: int | None = None

    def blank(match: re.Match[str]) -> str:
        nonlocal unterminated
        if match["line"] is None and match["block"] is None:
            return match[0]
        if match["open"] is not None:
            unterminated = match.start()
        return _NOT_NEWLINE.sub(" ", match[0])

    return _COMMENT.sub(blank, text), unterminated
