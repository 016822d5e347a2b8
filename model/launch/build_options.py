"""Build options as `clBuildProgram` takes them, taken apart; and which of them a project may give."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from model.errors import LaunchError
from model.opencl.options import BuildOptions

MAX_CHARACTERS = 65_536  # a word takes `shlex` time by the square


def parse_build_options(text: str) -> BuildOptions:
    """Read `-DTILE=16 -I "my inc" -cl-fast-relaxed-math`. Raises `LaunchError` for what cannot be taken apart."""
    if len(text) > MAX_CHARACTERS:
        raise LaunchError(f"build options have {len(text)} characters; at most {MAX_CHARACTERS} are read")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LaunchError(f"build options `{text}`: {str(error).lower()}") from None
    return build_options(words)


def build_options(words: Iterable[str]) -> BuildOptions:
    """Return the same from words that are already apart. Raises `LaunchError`."""
    defines: list[tuple[str, str]] = []
    include_dirs: list[str] = []
    flags: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word.startswith(("-D", "-I")):
            value = word[2:] or next(remaining, "")
            if not value:
                what = "NAME or NAME=VALUE" if word == "-D" else "a folder"
                raise LaunchError(f"build option `{word}` must be followed by {what}")
            if word.startswith("-I"):
                include_dirs.append(value)
            else:
                defines.append(define(value))
        else:
            flags.append(word)
    return BuildOptions(tuple(dict(defines).items()), tuple(include_dirs), tuple(flags))


def define(text: str) -> tuple[str, str]:
    """`NAME=VALUE`; a bare `NAME` is 1, as every C compiler takes it."""
    name, equals, value = text.partition("=")
    return name.strip(), value if equals else "1"


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
