"""OpenCL C made readable for a C grammar, byte for byte.

tree-sitter-c knows no address spaces, kernel qualifiers or half literals: each gives an ERROR node. They
are replaced by the same number of spaces, and remembered by offset, so the tree's offsets are the text's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_WORDS = (
    "kernel", "global", "local", "constant", "private", "generic", "read_only", "write_only", "read_write",
)  # fmt: skip
_ATTRIBUTE_PARENS = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
_MASKED = re.compile(
    rf"\b(?P<word>(?:__)?(?:{'|'.join(_WORDS)})|pipe)\b"
    rf"|\b(?P<attribute>__attribute(?:__)?)\s*{_ATTRIBUTE_PARENS}"
    r"|(?P<drop>\b(?:__extension__|__inline__|__forceinline)\b)"
    r"|(?P<spelled>\b__(?:const|volatile|restrict|signed)(?:__)?\b)"  # as GNU C spells C's words, which clang reads
    r"|(?P<half>(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[hH]\b)"
    r"|(?P<directive>^[ \t]*#[^\n]*)"
    r'|"(?:\\.|[^"\\\n])*"',
    re.MULTILINE,
)
_UNROLL_HINT = re.compile(
    r"(?:[ \t]*#[ \t]*pragma[ \t]+unroll\b|__attribute(?:__)?\s*\(\(\s*(?:__)?opencl_unroll_hint(?:__)?)"
    r"[ \t]*\(?[ \t]*(\w+)?"
)
# The grammar takes `(i) + n * j` and `(i) * n * j` for casts of `+n` and `*n`.
_LONE_NAME = re.compile(r"\(\s*([A-Za-z_]\w*)\s*\)(?=\s*(?:\+(?!\+)|-(?!-)|[*&]))")
# And `(i * (n)) + j`, `(i * (n * m)) + j` for casts of `+j`, `(f()) + j` as well.
_GROUP = r"[(\[](?:[^()\[\]]|[(\[][^()\[\]]{0,200}+[)\]]){0,200}+[)\]]"
_PRODUCT = re.compile(
    rf"(\(\s*+[A-Za-z_]\w*+\s*+\*\s*+)\((?P<factor>(?:[\w\s*]|{_GROUP}){{1,200}}+)\)(?P<rest>(?:\s*+{_GROUP})*+\s*+\))"
    r"(?=\s*+(?:\+(?!\+)|-(?!-)|[*&]))"
)
_LONE_CALL = re.compile(r"\(\s*+[A-Za-z_]\w*+\s*+\(\s*+\)\s*+\)(?=\s*+(?:\+(?!\+)|-(?!-)|[*&]))")
_BEFORE_OPERAND = re.compile(r"\b(?:return|case)\Z")
_DECLARED = re.compile(r"(?:[\w*]\s+|[*,]\s*)([A-Za-z_]\w*)(?=\s*[=;,)\[])")
_DECLARES = re.compile(r"\b([A-Za-z_]\w*)(?=\s+[A-Za-z_])")  # a type, or a word of C


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
    offsets: list[int] = []
    words: list[str] = []

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if match["word"] is not None:
            offsets.append(match.start())
            words.append(found.lstrip("_"))
        elif match["attribute"] is not None:
            offsets.append(match.start())
            words.append(found)
        elif match["half"] is not None:
            offsets.append(match.start())
            words.append("half")
            return found[:-1] + " "
        elif match["spelled"] is not None:
            return found.strip("_").ljust(len(found))
        elif match["directive"] is not None:
            if _UNROLL_HINT.match(found):
                offsets.append(match.start())
                words.append(found)
        elif match["drop"] is None:
            return found  # a string
        return "".join("\n" if c == "\n" else " " for c in found) if "\n" in found else " " * len(found)

    masked = _without_inner_parentheses(_without_lone_parentheses(_MASKED.sub(blank, text)))
    return Masked(_LONE_CALL.sub(_bare_call, masked), tuple(offsets), tuple(words))


def _without_inner_parentheses(text: str) -> str:
    while (barer := _PRODUCT.sub(_bare_product, text)) != text:  # `(i * ((n)))`, as macros in macros make it
        text = barer
    return text


def _bare_product(match: re.Match[str]) -> str:
    """Blank the inner parentheses of `(i * (n * m))`: what binds no weaker than a product needs none."""
    if match["rest"].strip() != ")" and "*" in match["factor"]:
        return match[0]  # `(i * (n * m)[k])` would be another index
    return f"{match[1]} {match['factor']} {match['rest']}"


def _bare_call(match: re.Match[str]) -> str:
    """Blank the outer parentheses of `(f())` unless they are those of a statement or of another call."""
    return match[0] if _follows_word(match) else f" {match[0][1:-1]} "


def _follows_word(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 80) : match.start()].rstrip()
    is_word = before[-1:].isalnum() or before[-1:] in ("_", ")", "]")
    return is_word and not _BEFORE_OPERAND.search(before)


def _without_lone_parentheses(text: str) -> str:
    """Blank the parentheses of `(i) + n * j`, as macros write it, where `i` is a variable: no cast is meant."""
    if not _LONE_NAME.search(text):
        return text
    variables = set(_DECLARED.findall(text)) - set(_DECLARES.findall(text))

    def bare(match: re.Match[str]) -> str:
        if _follows_word(match) or match[1] not in variables:
            return match[0]
        return match[0].replace("(", " ").replace(")", " ")

    return _LONE_NAME.sub(bare, text)
