"""Text from source code in places that a client renders: names and messages stay text there.

As little is escaped as will do, for clients that show Markdown as it stands show the backslashes, too.
"""

from __future__ import annotations

import re

_CODE = re.compile(r"(`[^`]+`)")
# Links, images and definitions need one of these behind a bracket; a tag, a link in angles and a comment these.
_ACTIVE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\s|\Z)"  # would escape what stands behind it, our own mark or the end of a line
    r"|`"  # one without its other end
    r"|(?<=\])[(\[:]"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#|\w+;)"
    r"|(?<=:)/(?=/)"  # clients make links of what looks like one
    r"|(?<=www)\.",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    r"^(?P<before>\s*(?:\d{1,9}(?=[.)](?:\s|$)))?)"
    r"(?=#|>|~~~|\||=+\s*$|-+\s*$|[-+*](?:\s|$)|(?:[-*_]\s*){3,}$|(?<=\d)[.)])"
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# What would begin another line, command a terminal, or show text in another order than it has.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def one_line(text: str) -> str:
    """Return text that stays in its line of a terminal or a build's log: a file may have any name."""
    return _UNPRINTABLE.sub("\ufffd", text)


def inline(text: str) -> str:
    """Return `text` as one line of Markdown: our `code` and **weight** stay, all else is escaped."""
    parts = _CODE.split(" ".join(_CONTROL.sub("\ufffd", text).split()))
    return "".join(part if place % 2 else _ACTIVE.sub(_escaped, part) for place, part in enumerate(parts))


def _escaped(found: re.Match[str]) -> str:
    return "&#96;" if found[0] == "`" else f"\\{found[0]}"


def line_of_paragraph(line: str) -> str:
    """Return a line that text was wrapped into: it continues a paragraph, whatever it begins with."""
    return _BLOCK.sub(lambda found: f"{found['before']}\\", line, count=1)


def message(text: str) -> str:
    """Escape a message for window/showMessage: VS Code turns `[words](command:...)` into links that run commands."""
    return text.replace("](", "] (")
