"""The files that URIs name."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """None for what is no file's URI, and for names that no file can have: clients send what users type."""
    if not uri.startswith("file:"):
        return None
    try:
        found = to_fs_path(uri)
    except ValueError:  # `file://[`
        return None
    if not found or not can_be_name(found):
        return None
    path = Path(found)
    return path if path.is_absolute() else None


def can_be_uri(uri: str) -> bool:
    try:
        urlsplit(uri)
    except ValueError:
        return False
    return True


def can_be_name(path: str) -> bool:
    """Not with half a character in it, nor with NUL."""
    try:
        return "\0" not in path and bool(os.fsencode(path))
    except UnicodeEncodeError:
        return False
