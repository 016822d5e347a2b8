"""Which files stay out of the corpus: those whose head states a licence that is not permissive."""

from __future__ import annotations

import re

_STRICT_HEAD = re.compile(
    r"GNU\s+(?:\w+\s+)?(?:General|Lesser)|\b[AL]?GPL(?:v|-|\s)?[23]|LGPL|Mozilla Public|Non-?Commercial|"
    r"Creative\s+Commons.{0,60}(?:Non|Share)|proprietary\s+and\s+confidential|NVIDIA.{0,80}retains? all intellectual",
    re.IGNORECASE | re.DOTALL,
)
HEAD = 5000


def has_strict_head(text: str) -> bool:
    """Return whether a file says of itself that its licence is none of the permissive ones."""
    return bool(_STRICT_HEAD.search(" ".join(text[:HEAD].replace("*", " ").split())))
