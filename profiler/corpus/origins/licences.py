"""Which licence a text states. Only permissive ones may be built upon; a stricter head keeps one file out."""

from __future__ import annotations

import re

_KNOWN = (
    ("GPL", r"GNU (?:LESSER |AFFERO |LIBRARY )?GENERAL PUBLIC LICENSE"),
    ("MPL", r"Mozilla Public License"),
    ("EPL", r"Eclipse Public License"),
    (
        "Apache-2.0",
        r"Apache License,?\s+Version 2\.0|http://www\.apache\.org/licenses/LICENSE-2\.0|ImageMagick License",
    ),
    ("BSL-1.0", r"Boost Software License"),
    ("CC0-1.0", r"CC0 1\.0|Creative Commons Zero"),
    ("Unlicense", r"This is free and unencumbered software"),
    ("CC-BY", r"Creative Commons Attribution (?!Non|Share)"),
    ("NCSA", r"University of Illinois/NCSA|Illinois Open Source"),
    ("ISC", r"Permission to use, copy, modify, and(?:/or)? distribute this software for any purpose"),
    ("MIT", r"Permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("Zlib", r"This software is provided 'as-is', without any express or implied"),
    ("BSD", r"Redistribution and use in source and binary forms"),
)
_PERMISSIVE = frozenset(["Apache-2.0", "BSL-1.0", "CC0-1.0", "CC-BY", "Unlicense", "NCSA", "ISC", "MIT", "Zlib", "BSD"])
_STRICT_HEAD = re.compile(
    r"GNU\s+(?:\w+\s+)?(?:General|Lesser)|\b[AL]?GPL(?:v|-|\s)?[23]|LGPL|Mozilla Public|Non-?Commercial|"
    r"Creative\s+Commons.{0,60}(?:Non|Share)|proprietary\s+and\s+confidential|NVIDIA.{0,80}retains? all intellectual",
    re.IGNORECASE | re.DOTALL,
)
HEAD = 5000


def stated_licence(text: str) -> str:
    """Return the first one of a licence file's text; empty if none is known."""
    head = " ".join(text.split())[:20_000]
    found = [(match.start(), name) for name, pattern in _KNOWN if (match := re.search(pattern, head, re.IGNORECASE))]
    return min(found)[1] if found else ""


def is_permissive(licence: str) -> bool:
    return licence in _PERMISSIVE


def has_strict_head(text: str) -> bool:
    """Return whether a file says of itself that its licence is none of the permissive ones."""
    return bool(_STRICT_HEAD.search(" ".join(text[:HEAD].replace("*", " ").split())))
