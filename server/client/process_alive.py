"""Whether a process is there."""

from __future__ import annotations

import os
import sys


def is_alive(process_id: int) -> bool:
    if sys.platform == "win32":
        return True  # `os.kill` would end it; there the end of stdin has to do
    if not 0 < process_id < 1 << 31:  # no process; 0 and less would mean groups of them
        return False
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
