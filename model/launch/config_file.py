"""The `kernelcast.toml` for a file: where it stands, and whether its keys are short enough for `tomllib` to read."""

from __future__ import annotations

import os
import re
from pathlib import Path

CONFIG_NAME = "kernelcast.toml"
MAX_BYTES = 1_000_000


def find_config(start: Path) -> Path | None:
    """Return the nearest configuration file in or above a file or folder; None where there is none."""
    start = start.absolute()
    # Not `Path.is_file`, which raises for names that are too long and for folders that may not be looked into.
    return next(
        (folder / CONFIG_NAME for folder in (start, *start.parents) if os.path.isfile(folder / CONFIG_NAME)), None
    )


# Each token is whole, or goes to where it would have had to end: no part of a text is looked at twice.
_TOKEN = re.compile(
    r"""
      \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z) | '{3}.*?(?:'{3}|\Z)  # strings of many lines are no keys
    | (?P<part>\"(?:\\.|[^\"\\\n])*+\"? | '[^'\n]*+'? | [\w-]++)
    | (?P<dot>\.)
    | (?P<blank>[ \t]++)
    | \#[^\n]*+
    | .
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def too_long_key(text: str, most_parts: int) -> int | None:
    """Return the line (from 1) of the first key with more than `most_parts` parts.

    Numbers and strings count as keys, too.
    """
    parts, continues = 0, False
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "part":
            parts = parts + 1 if continues else 1
            continues = False
            if parts > most_parts:
                return text.count("\n", 0, token.start()) + 1
        elif kind == "dot":
            continues = parts > 0
        elif kind is None:
            parts, continues = 0, False
    return None
