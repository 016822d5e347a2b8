"""Where a collection keeps what it knows, unless it is told another place."""

from __future__ import annotations

from pathlib import Path

from profiler.store.database import data_folder

FOLDER_NAME = "corpus"


def work_folder(chosen: Path | None) -> Path:
    """`chosen`, else a folder of its own among the user's data."""
    return (chosen or data_folder() / FOLDER_NAME).absolute()
