"""The settings of a document: those of its workspace folder where the client tells them apart, else the one set.

They come with folders for `#include` as the compiler needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from server.client.settings import Settings
from server.uris import path_of


@dataclass(frozen=True, slots=True)
class ScopedSettings:
    """`by_folder` has the folders' URIs as the client writes them."""

    everywhere: Settings = field(default_factory=Settings)
    by_folder: Mapping[str, Settings] = field(default_factory=dict)

    def of(self, uri: str, path: Path | None, folders: Iterable[str]) -> Settings:
        folder = _folder_of(uri, folders)
        settings = self.by_folder.get(folder, self.everywhere)
        if not settings.include:
            return settings
        start = path_of(folder) or (path.parent if path else None)
        return replace(settings, include=tuple(_resolved(each, start) for each in settings.include))


def _folder_of(uri: str, folders: Iterable[str]) -> str:
    """Return the innermost one that holds the document, empty if none does."""
    return max((f for f in folders if uri.startswith(f"{f.rstrip('/')}/")), key=len, default="")


def _resolved(folder: str, start: Path | None) -> str:
    try:
        path = Path(folder).expanduser()
    except RuntimeError:  # `~somebody` whom this machine does not know
        return folder
    return str(start / path) if start else str(path)
