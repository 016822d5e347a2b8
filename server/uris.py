"""The files that URIs name."""

from __future__ import annotations

import os
from pathlib import Path

from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """None for what is no file's URI, and for names that no file can have: clients send what users type."""
    if not uri.startswith("file:"):
        return None
    try:
        found = to_fs_path(uri)
        if not found or "\0" in found:
            return None
        os.fsencode(found)  # half a character can be in no name
    except ValueError:  # `file://[`
        return None
    path = Path(found)
    return path if path.is_absolute() else None
