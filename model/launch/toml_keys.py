"""How long the keys of a TOML text are, told before `tomllib` reads it.

For a key of n parts it keeps n^2 / 2 of them, without a bound: a file of 200 kB takes all memory of a machine.
"""

from __future__ import annotations

import re

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
