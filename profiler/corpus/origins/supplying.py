"""What a program lacks to be built, read from its compiler's messages."""

from __future__ import annotations

import re

from model.opencl.stand_ins import Lacking

_UNKNOWN_TYPE = re.compile(r"unknown type name '(\w+)'")
_UNKNOWN_NAME = re.compile(r"use of undeclared identifier '(\w+)'")
_UNKNOWN_FUNCTION = re.compile(r"(?:implicit declaration of|call to undeclared|use of undeclared) function '(\w+)'")
_UNKNOWN_MACRO = re.compile(r"function-like macro '(\w+)' is not defined|invalid token.*?'(\w+)'")
_ASKED_FOR = re.compile(
    r"error: \"?[^\"\n]*?\b([A-Z][A-Z0-9_]{2,})\b[^\"\n]*\b(?:defined|undefined|not set|specified)\b"
)


def lacking(log: str) -> Lacking:
    """Return what the messages of clang's front end, in any driver, say is missing."""
    return Lacking(
        tuple(dict.fromkeys(_UNKNOWN_TYPE.findall(log))),
        tuple(dict.fromkeys([*_UNKNOWN_NAME.findall(log), *_ASKED_FOR.findall(log)])),
        tuple(dict.fromkeys([*_UNKNOWN_FUNCTION.findall(log), *(a or b for a, b in _UNKNOWN_MACRO.findall(log))])),
    )


def without_consequences(asked: Lacking, text: str) -> Lacking:
    """Without variables that are only unknown because their types are: a define of that name would break them."""
    names = tuple(n for n in asked.names if n.isupper() or not (asked.types or _is_declared(n, text)))
    return Lacking(asked.types, names, asked.functions)


def _is_declared(name: str, text: str) -> bool:
    return bool(re.search(rf"\b(?!return\b|else\b)\w+[\s*]+{name}\s*(?:[=;,)\[]|$)", text, re.MULTILINE))
