"""The files that URIs name."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """Return the path of a file's URI; None for other URIs and for names that no file can have."""
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
    """Return whether a file can have this name: no NUL, no half a character."""
    try:
        return "\0" not in path and bool(os.fsencode(path))
    except UnicodeEncodeError:
        return False
