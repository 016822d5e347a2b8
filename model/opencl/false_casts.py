"""Blank parentheses that the C grammar would take for a cast: `(i) + n * j` would be `+n` as an `i`.

The grammar does not know which names are types. The code means the same without what is blanked, and all else stays at
its offset.
"""

from __future__ import annotations

import re

from model.opencl.builtin_types import BUILTIN_TYPE_NAMES

_OPERATOR = r"(?=\s*+(?:\+(?!\+)|-(?!-)|[*&]))"  # that also stands before an operand
_NAME = r"[A-Za-z_]\w*+"
_GROUP = r"[(\[][^()\[\]]{0,200}+[)\]]"
MOST_NESTED = 8  # further in, parentheses are left as they are
for _ in range(MOST_NESTED - 1):
    _GROUP = rf"[(\[](?:[^()\[\]]|{_GROUP}){{0,200}}+[)\]]"
_LONE_NAME = re.compile(rf"\(\s*+({_NAME})\s*+\){_OPERATOR}")
_PRODUCT = re.compile(
    rf"(?P<start>\(\s*+{_NAME}\s*+\*\s*+)\((?P<factor>(?:[\w\s*]|{_GROUP}){{1,200}}+)\)"
    rf"(?P<rest>(?:\s*+{_GROUP})*+\s*+\)){_OPERATOR}"
)
_LONE_CALL = re.compile(rf"\(\s*+{_NAME}\s*+{_GROUP}\s*+\){_OPERATOR}")
_OF_NAME = re.compile(rf"\(({_NAME})\)")
_BEFORE_OPERAND = re.compile(r"\b(?:return|case)\Z")
_CAST = re.compile(r"\(\s*(?:const\s+)?(?:(?:un)?signed\s+)?(\w+)\s*\)\Z")
_DECLARED = re.compile(r"(?:[\w*]\s+|[*,]\s*)([A-Za-z_]\w*)(?=\s*[=;,)\[])")
_DECLARES = re.compile(r"\b([A-Za-z_]\w*)(?=\s+[A-Za-z_])")  # a type, or a word of C
_LOOK_BACK = 80  # characters


def without_false_casts(text: str) -> str:
    """Return `text` (one character a byte) with spaces for such parentheses."""
    if not any(pattern.search(text) for pattern in (_PRODUCT, _LONE_NAME, _LONE_CALL)):
        return text
    types = set(_DECLARES.findall(text)) | BUILTIN_TYPE_NAMES
    variables = set(_DECLARED.findall(text)) - types

    def bare_product(match: re.Match[str]) -> str:
        """Blank the inner parentheses of `(i * (n * m))`: what binds no weaker than a product needs none."""
        start, factor, rest = match["start"], match["factor"], match["rest"]
        if factor.strip() in types:  # `(i * (uint)(n))`
            rest = _OF_NAME.sub(r" \1 ", rest, count=1)
            return f"{start}({factor}){rest}"
        if rest.strip() != ")" and "*" in factor:
            return match[0]  # `(i * (n * m)[k])` would be another index
        return f"{start} {factor} {rest}"

    def bare_name(match: re.Match[str]) -> str:
        is_cast = match[1] not in variables or not _begins_operand(match, types)
        return match[0] if is_cast else match[0].replace("(", " ").replace(")", " ")

    def bare_call(match: re.Match[str]) -> str:
        return f" {match[0][1:-1]} " if _begins_operand(match, types) else match[0]

    text = _LONE_CALL.sub(bare_call, _LONE_NAME.sub(bare_name, text))
    while (barer := _PRODUCT.sub(bare_product, text)) != text:  # `(i * ((n)))`, as macros in macros make it
        text = barer
    return text


def _begins_operand(match: re.Match[str], types: set[str]) -> bool:
    """Return whether the parentheses are no call's and no statement's: what they hold is an operand."""
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()].rstrip()
    if before[-1:].isalnum() or before[-1:] in ("_", "]"):
        return bool(_BEFORE_OPERAND.search(before))
    cast = _CAST.search(before)
    return before[-1:] != ")" or (cast is not None and cast[1] in types)
