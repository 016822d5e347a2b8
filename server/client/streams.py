"""stdin and stdout belong to the protocol alone: one stray line of a driver's would end the conversation.

And whether the process at their other end is there.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import BinaryIO


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return our own copies of stdin and stdout; other writes to descriptor 1 then go to stderr.

    To be called before anything native is loaded.
    """
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def is_pipe(stream: BinaryIO) -> bool:
    """Return whether asyncio can wait for it. For files and /dev/null it cannot."""
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(stream.fileno())


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
