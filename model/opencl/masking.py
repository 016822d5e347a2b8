"""OpenCL C made readable for a C grammar, byte for byte.

tree-sitter-c knows no address spaces, kernel qualifiers or half literals: each gives an ERROR node. They
are replaced by the same number of spaces, and remembered by offset, so the tree's offsets are the text's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from operator import itemgetter

from model.opencl.false_casts import without_false_casts

_WORDS = (
    "kernel", "global", "local", "constant", "private", "generic", "read_only", "write_only", "read_write",
)  # fmt: skip
_ATTRIBUTE_PARENS = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
# Everything that is masked begins with one of a few characters. `re` finds such a character much faster than it tries
# all alternatives at every place, so the words are written here without their first letters.
_FIRST = "".join(sorted({"_", "p", *(word[0] for word in _WORDS)}))
_BEHIND_FIRST = "|".join(f"(?<={word[0]}){word[1:]}" for word in (*_WORDS, "pipe"))
_MASKED = re.compile(
    rf"[{_FIRST}\d.\"](?:(?<=\b[{_FIRST}])(?:"
    rf"(?P<word>(?:{_BEHIND_FIRST}|(?<=_)_(?:{'|'.join(_WORDS)}))\b)"
    rf"|(?P<attribute>(?<=_)_attribute(?:__)?\s*{_ATTRIBUTE_PARENS})"
    r"|(?P<drop>(?<=_)_(?:extension__|inline__|forceinline)\b)"
    r"|(?P<spelled>(?<=_)_(?:const|volatile|restrict|signed)(?:__)?\b)"  # as GNU C spells C's words, which clang reads
    r'|(?P<pragma>(?<=_)Pragma\s*\(\s*"(?:\\.|[^"\\\n])*"\s*\))'
    r"|(?P<untyped>(?<=c)onst\b(?=\s+[A-Za-z_]\w*\s*=))"  # an `int`, as in the C of 1989
    r")|(?<![\w.][\d.])(?P<half>(?:(?<=\d)\d*\.?\d*|(?<=\.)\d+)(?:[eE][-+]?\d+)?[hH]\b)"
    r'|(?<=")(?:\\.|[^"\\\n])*")'
)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_UNROLL_HINT = re.compile(
    r"(?:[ \t]*#[ \t]*pragma[ \t]+unroll\b|_Pragma\s*\(\s*\"\s*unroll\b"
    r"|__attribute(?:__)?\s*\(\(\s*(?:__)?opencl_unroll_hint(?:__)?)"
    r"[ \t]*\(?[ \t]*(\w+)?"
)
_ARRAY_POINTER = re.compile(r"\s+[A-Za-z_]\w*\s*\(\s*\*[^()]*\)\s*(?:\[[^\[\]]*\]\s*)+[=;]")  # no parameter
_CONST = "const"


@dataclass(frozen=True, slots=True)
class Masked:
    """Text for the C grammar, and what was masked: offsets (ascending) with the word or attribute there."""

    text: str
    offsets: tuple[int, ...]
    words: tuple[str, ...]

    def between(self, start: int, end: int) -> tuple[str, ...]:
        """Return what was masked in [start, end), without leading underscores."""
        return self.words[bisect_left(self.offsets, start) : bisect_left(self.offsets, end)]

    def offsets_between(self, start: int, end: int) -> tuple[int, ...]:
        return self.offsets[bisect_left(self.offsets, start) : bisect_left(self.offsets, end)]

    def unroll_hint(self, at: int) -> int | None:
        """Return how often the loop at an offset is asked to be unrolled: 0 = whole; None without a hint before it.

        Source: OpenCL C 3.0, section 6.13.3 (`opencl_unroll_hint`); clang and nvcc read `#pragma unroll` alike.
        """
        for number in range(bisect_left(self.offsets, at) - 1, -1, -1):
            if self.text[self.offsets[number] : at].strip():
                return None
            hint = _UNROLL_HINT.match(self.words[number])
            if hint is not None:
                return int(hint[1]) if (hint[1] or "").isdecimal() else 0
        return None

    def offsets_of(self, word: str) -> tuple[int, ...]:
        return tuple(o for o, w in zip(self.offsets, self.words, strict=True) if w == word)


def mask(text: str) -> Masked:
    """Mask `text` (one character a byte, comments already blank)."""
    noted: list[tuple[int, str]] = []

    def blank_directive(match: re.Match[str]) -> str:
        if _UNROLL_HINT.match(match[0]):
            noted.append((match.start(), match[0]))
        return " " * len(match[0])

    text = _DIRECTIVE.sub(blank_directive, text)

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        match match.lastgroup:
            case "word":
                noted.append((match.start(), found.lstrip("_")))
                if len(found) >= len(_CONST) and _ARRAY_POINTER.match(text, match.end()):
                    return _CONST.ljust(len(found))  # `uint (*rows)[64] = table` alone calls `uint` to the grammar
            case "attribute":
                noted.append((match.start(), found))
            case "half":
                noted.append((match.start(), "half"))
                return found[:-1] + " "
            case "spelled":
                return found.strip("_").ljust(len(found))
            case "untyped":
                is_statement = text[: match.start()].rstrip()[-1:] in (";", "{", "}")
                return "int".ljust(len(found)) if is_statement else found
            case "pragma":
                if _UNROLL_HINT.match(found):
                    noted.append((match.start(), found))
            case None:
                return found  # a string
        return "".join("\n" if c == "\n" else " " for c in found) if "\n" in found else " " * len(found)

    blanked = _MASKED.sub(blank, text)
    noted.sort(key=itemgetter(0))
    return Masked(without_false_casts(blanked), tuple(at for at, _ in noted), tuple(word for _, word in noted))
