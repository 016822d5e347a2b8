"""What tests have a device process do."""

from __future__ import annotations

import os
import stat
from typing import Any


def tell_folder(_reporter: Any) -> tuple[str, int]:
    """Its folder for temporary files, and who may look into it."""
    folder = os.environ["TMPDIR"]
    return folder, stat.S_IMODE(os.stat(folder).st_mode)
