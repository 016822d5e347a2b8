"""What a program lacks to be built, read from its compiler's messages, and what is defined instead."""

from __future__ import annotations

import re

from model.opencl.likely_defines import (
    is_called,
    likely_function,
    likely_type,
    likely_value,
    pasted_macro,
    stands_as_type,
)
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


def guessed_defines(asked: Lacking, text: str, attempt: int) -> dict[str, str]:
    """Return a define for each name; another one at another attempt."""
    found: dict[str, str] = {}
    for name in asked.types:
        found[name] = likely_type(name, text, attempt)
    for name in (*asked.names, *asked.functions):
        if (of_macro := pasted_macro(name, text, attempt)) is not None:
            found.update([of_macro])
        elif name in asked.functions or is_called(name, text):
            found.update([likely_function(name, text)])
        elif name.endswith("_t") or stands_as_type(name, text):
            found[name] = likely_type(name, text, attempt)
        else:
            found[name] = likely_value(name, text, attempt)
    return found
