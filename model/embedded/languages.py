"""Host languages, and a fast check whether a file can contain a kernel."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

KERNEL = re.compile(r"\b__kernel\b|\bkernel\s+(?:void|__attribute__)\b")
# Metal's kernels begin as OpenCL's do: its headers, its namespace, and what binds parameters tell them apart.
_METAL = re.compile(r"#\s*include\s*<metal_|\busing\s+namespace\s+metal\b|\[\[\s*(?:buffer|texture|thread)")
# A literal may break its line within these words, or write a tabulator between them; `\n__kernel` has no word boundary.
_MAY_HOLD = re.compile(r"__kernel|kernel(?=[\s\\\"'])[nt\"'\s\\8uULRrbBfF]*+(?:void|__attribute__)")


class Language(StrEnum):
    """The language of a host file; C is read as C++, which has raw strings as well."""

    PYTHON = "python"
    CPP = "cpp"


_IDS = {
    "python": Language.PYTHON,
    "c": Language.CPP,
    "cpp": Language.CPP,
    "c++": Language.CPP,
    "objective-c": Language.CPP,
    "objective-cpp": Language.CPP,
}
_SUFFIXES = {
    **dict.fromkeys((".py", ".pyw", ".pyi"), Language.PYTHON),
    **dict.fromkeys((".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp"), Language.CPP),
}
_OPENCL = frozenset({".cl", ".clh", ".clcpp", ".ocl", ".opencl"})
# OpenCL C itself in a raw string, which another file includes: nothing but comments and directives comes before.
_ONE_RAW_STRING = re.compile(r'(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*+R"[^()\\\s"]{0,16}\(', re.DOTALL)


def language_of(path: Path | None, text: str, language_id: str = "") -> Language | None:
    """Return the host language of a file; None for OpenCL C and for files that are not searched.

    An editor's `language_id` counts more than the name, but for names that are OpenCL C's.
    """
    suffix = path.suffix.lower() if path is not None else ""
    if language_id not in _IDS and (suffix in _OPENCL or language_id):
        return Language.CPP if 'R"' in text and _ONE_RAW_STRING.match(text) else None
    if suffix in _OPENCL:
        return Language.CPP if 'R"' in text and _ONE_RAW_STRING.match(text) else None
    return _IDS.get(language_id) or _SUFFIXES.get(suffix)


def is_opencl(program: str) -> bool:
    """Return whether a program has a kernel of OpenCL C."""
    return KERNEL.search(program) is not None and _METAL.search(program) is None


def may_hold_program(text: str) -> bool:
    """Return whether the text contains a kernel's keywords anywhere. This fast check runs before all others."""
    return "kernel" in text and _MAY_HOLD.search(text) is not None
