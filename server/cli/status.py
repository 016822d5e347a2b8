"""Exit statuses, and the mistake that is the caller's own."""

from __future__ import annotations

ANSWERED, SOME_FAILED, WRONG_CALL = 0, 1, 2
NO_GPU = 3  # of `kernelcast campaign`: nothing went wrong, and nothing can be measured
INTERRUPTED = 130  # 128 + SIGINT, as shells count
NOBODY_READS = 141  # 128 + SIGPIPE


class WrongCallError(Exception):
    """The call itself was wrong; the text says what would be right."""
