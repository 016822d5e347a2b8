"""A file while it is being worked on: successive versions, each a small step from the last, with undoing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.fuzz.mutations import (
    with_a_macro,
    with_a_stray_word,
    with_an_annotation,
    with_another_name,
    with_another_number,
    with_conditions,
    with_tokens_moved,
    without_a_bracket,
)

_TYPED = (
    "for (int q = 0; q < 10; ++q) { }", "if (n > 3) return;", "x += 1.0f;", "#define SIZE 32", "/* a remark */", "/*",
    "// note", "#if 0", "#endif", "float y = sqrt(2.0f);", "barrier(CLK_LOCAL_MEM_FENCE);", "*/", "\n\n", "\\",
    "}", "{", "float y = 1;",
    "__kernel void more(__global int *a) { a[0] = 1; }", "// kernelcast: global=64 local=8", '#include "x.h"', '"',
    "typedef struct { float a; int b; } both_t;", "static float twice(float v) { return v * 2; }", "\u00e9\U0001f600",
    "__constant int some[] = {1, 2, 3};",
)  # fmt: skip
_FUNCTION = re.compile(rb"^[A-Za-z_][^;{}#]*\)\s*\{.*?^\}", re.MULTILINE | re.DOTALL)

Step = Callable[[random.Random, bytes, bytes], bytes]


def _typed(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    """Part of a line, as far as it has been typed."""
    line = chance.choice(_TYPED)
    at = chance.randrange(len(text) + 1)
    if chance.random() < 0.7:
        at = text.find(b"\n", at) + 1
    typed = line[: chance.randrange(1, len(line) + 1)] + chance.choice(("", "\n"))
    return text[:at] + typed.encode() + text[at:]


def _lines_cut(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    lines = text.split(b"\n")
    start = chance.randrange(len(lines))
    return b"\n".join(lines[:start] + lines[start + chance.choice((1, 1, 2, 5, 20)) :])


def _lines_moved(chance: random.Random, text: bytes, other: bytes) -> bytes:
    lines, source = text.split(b"\n"), chance.choice((text, text, other)).split(b"\n")
    start, to = chance.randrange(len(source)), chance.randrange(len(lines) + 1)
    return b"\n".join(lines[:to] + source[start : start + chance.choice((1, 2, 8))] + lines[to:])


def _function_copied(chance: random.Random, text: bytes, other: bytes) -> bytes:
    found = _FUNCTION.findall(text) + _FUNCTION.findall(other[:8192])
    at = text.find(b"\n\n", chance.randrange(len(text) + 1)) + 1
    return text[:at] + b"\n" + chance.choice(found) + b"\n" + text[at:] if found else text


def _function_gone(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    found = [m.span() for m in _FUNCTION.finditer(text)]
    if not found:
        return text
    start, end = chance.choice(found)
    return text[:start] + text[end:]


def _commented_out(chance: random.Random, text: bytes, _other: bytes) -> bytes:
    lines = text.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at] = lines[at][2:] if lines[at].startswith(b"//") else b"//" + lines[at]
    return b"\n".join(lines)


STEPS: tuple[Step, ...] = (
    _typed, _typed, _typed, _lines_cut, _lines_cut, _lines_moved, _function_copied, _function_gone, _commented_out,
    with_a_stray_word, with_tokens_moved, without_a_bracket, with_another_number, with_another_name, with_a_macro,
    with_conditions, with_an_annotation,
)  # fmt: skip


def versions(chance: random.Random, text: bytes, other: bytes) -> list[bytes]:
    """The text and what becomes of it, step by step; now and then a step is undone, or two are taken at once."""
    history = [text]
    for _ in range(chance.randrange(3, 10)):
        if len(history) > 1 and chance.random() < 0.25:
            history.append(chance.choice(history[-4:-1]) if len(history) > 3 else history[0])
            continue
        now = history[-1]
        for _ in range(chance.choice((1, 1, 1, 2))):
            now = chance.choice(STEPS)(chance, now, other)
        history.append(now)
    return history
