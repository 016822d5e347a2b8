"""Where the `kernelcast.toml` for a file stands: asked before anything that reads it need be loaded."""

from __future__ import annotations

import os
from pathlib import Path

CONFIG_NAME = "kernelcast.toml"
MAX_BYTES = 1_000_000


def find_config(start: Path) -> Path | None:
    """For a file or folder, the nearest one in it or above it, if there is one."""
    start = start.absolute()
    # Not `Path.is_file`, which raises for names that are too long and for folders that may not be looked into.
    return next(
        (folder / CONFIG_NAME for folder in (start, *start.parents) if os.path.isfile(folder / CONFIG_NAME)), None
    )
