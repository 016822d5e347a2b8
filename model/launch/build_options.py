"""Build options as `clBuildProgram` takes them, taken apart."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

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
