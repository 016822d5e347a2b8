"""The normalised tokens of a kernel: what is left of its source when names, layout and exact numbers are taken away.

Two kernels with the same tokens are one kernel of the corpus, whatever their authors called things.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable

from model.opencl.builtin_types import BUILTIN_TYPE_NAMES
from model.opencl.builtins import ATOMICS, BARRIERS, BUILTINS, FLOAT_CONSTANTS, IMAGE_QUERIES, WORK_ITEM
from model.opencl.program import Program

_KEYWORDS = frozenset(
    [
        "kernel",
        "global",
        "local",
        "constant",
        "private",
        "read_only",
        "write_only",
        "read_write",
        "__attribute__",
        "reqd_work_group_size",
        "work_group_size_hint",
        "vec_type_hint",
        "const",
        "volatile",
        "restrict",
        "static",
        "inline",
        "struct",
        "union",
        "enum",
        "typedef",
        "if",
        "else",
        "for",
        "while",
        "do",
        "switch",
        "case",
        "default",
        "break",
        "continue",
        "return",
        "goto",
        "sizeof",
        "signed",
        "unsigned",
        "void",
        "as",
        "convert",
        "sampler_t",
    ]
)
_KEPT = (
    _KEYWORDS | BUILTIN_TYPE_NAMES | BUILTINS.keys() | ATOMICS | BARRIERS | FLOAT_CONSTANTS | IMAGE_QUERIES | WORK_ITEM
)
_SWIZZLE = re.compile(r"(?:[xyzw]{1,4}|s[0-9a-fA-F]+|lo|hi|even|odd)\Z")
_TAKEN = re.compile(r"(?:as|convert)_\w+\Z|v(?:load|store)\w+\Z|read_image\w+\Z|write_image\w+\Z|CLK_\w+\Z|atom\w+\Z")
_UNDERSCORED = re.compile(r"\b__(?=(?:kernel|global|local|constant|private|read_only|write_only|read_write)\b)")
# `Definition.tokens` holds 1.5e-3f as `1 . 5e - 3f`.
_POINT = re.compile(r"(?<![\w.])(\d*) \. (?=\d)|(?<![\w.])(\d+) \.(?: (?=(?:[eE]\d*|[fF])\b)|(?! ?[A-Za-z_]))")
_EXPONENT = re.compile(r"(?<![\w.])(\d*\.?\d*[eE]) ([+-]) (?=\d)")
_UNROLL_HINT = re.compile(r"# pragma unroll(?: \( \w+ \)| (?!(?:for|while|do)\b)\w+)?")
_PIECE = re.compile(r"[A-Za-z_]\w*|(?:\.\d|\d)[\w.]*(?:(?<=[eE])[+-]\d+\w*)?|[^\w\s]")


def normalised_tokens(program: Program, kernel: str) -> tuple[str, ...]:
    """Return those of the kernel and of all that it rests on, macros expanded, in the order of first use.

    Pragmas are no part of it: kernels that differ in how loops are asked to be unrolled are the same one.
    """
    covered = program.meanings[kernel].covered
    text = " ".join(program.definitions[name].tokens.decode("latin-1") for name in covered)
    text = _UNROLL_HINT.sub("", text)
    return tuple(_normalised(_PIECE.findall(_with_whole_numbers(_UNDERSCORED.sub("", text)))))


def identity(tokens: Iterable[str], flags: Iterable[str] = ()) -> str:
    """Return the same for kernels that differ in names, layout and the digits of their numbers alone. 16 hex digits."""
    return hashlib.sha256("\n".join([*tokens, *flags]).encode()).hexdigest()[:16]


def _with_whole_numbers(text: str) -> str:
    return _EXPONENT.sub(r"\1\2", _POINT.sub(lambda found: f"{found[1] or found[2] or ''}.", text))


def _normalised(pieces: list[str]) -> Iterable[str]:
    names: dict[str, str] = {}
    before = ""
    for piece in pieces:
        if piece[0].isdigit() or (piece[0] == "." and len(piece) > 1):
            yield _magnitude(piece)
        elif _keeps_its_name(piece, before):
            yield piece
        else:
            yield names.setdefault(piece, f"v{len(names)}")
        before = piece


def _keeps_its_name(piece: str, before: str) -> bool:
    """Punctuation, OpenCL's own words, and what picks components of a vector."""
    is_name = piece[0].isalpha() or piece[0] == "_"
    return not is_name or piece in _KEPT or bool(_TAKEN.match(piece)) or (before == "." and bool(_SWIZZLE.match(piece)))


def _magnitude(number: str) -> str:
    """Return the power of two next to it; whether it is a float stays visible."""
    text = number.rstrip("uUlL") if number[:2] in ("0x", "0X") else number.rstrip("uUlLfFhH")
    is_float = text[:2] not in ("0x", "0X") and any(c in text for c in ".eE")
    try:
        value = float(text) if is_float else float(int(text, 0) if text[:2] in ("0x", "0X") else int(text))
    except (ValueError, OverflowError):
        return number
    mark = "f" if is_float or (number[-1] in "fF" and number[:2] not in ("0x", "0X")) else "i"
    return f"{mark}0" if value == 0 or math.isinf(value) else f"{mark}{round(math.log2(value))}e"
