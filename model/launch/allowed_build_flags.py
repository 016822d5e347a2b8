"""Which build options a project may give.

A project is somebody else's text, and compilers take options that load plugins, choose linkers, read files and write
them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ELSEWHERE = (
    "is not taken from a project, since it may have the compiler read, write or run files: "
    "give it yourself, in the setting `kernelcast.build.flags` or as `--options`"
)
_PLAIN = r"(?:=[\w.+-]+)?"  # a value that is no path and no list of further options
_MATH = (
    "associative-math|fast-math|finite-math-only|fp-contract|inline-functions|math-errno|reciprocal-math|signed-zeros|"
    "slp-vectorize|strict-aliasing|trapping-math|unroll-loops|unsafe-math-optimizations|vectorize"
)
_HARMLESS = re.compile(
    rf"-(?:cl-[\w-]+{_PLAIN}|nv-[\w-]+{_PLAIN}|qcom-[\w-]+{_PLAIN}|create-library|enable-link-options|w|W[\w-]*{_PLAIN}|"
    rf"g[\w-]*|O\w?|f(?:no-)?(?:{_MATH}){_PLAIN}|m(?:32|64|avx\w*|fma|sse[\w.]*|arch{_PLAIN}|cpu{_PLAIN}|tune{_PLAIN})|"
    rf"std{_PLAIN}|U\w+)",
    re.ASCII,
)
# Options whose value is the next word.
_PAIRS = {"-x": re.compile(r"cl|clc|spir|spirv"), "-U": re.compile(r"[A-Za-z_]\w*", re.ASCII)}


def is_harmless(flag: str) -> bool:
    """Return whether an option, without further words, can be taken from anybody."""
    return _HARMLESS.fullmatch(flag) is not None


def harmful(flags: Sequence[str]) -> str | None:
    """Return the first of these words that is not taken from a project."""
    words = iter(flags)
    for word in words:
        pair = _PAIRS.get(word)
        if pair is not None:
            value = next(words, "")
            if not pair.fullmatch(value):
                return f"{word} {value}".rstrip()
        elif not is_harmless(word):
            return word
    return None
