"""Exit statuses, the mistake that is the caller's own, and Ctrl-C in the middle of device work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ANSWERED, SOME_FAILED, WRONG_CALL = 0, 1, 2
NO_GPU = 3  # of `kernelcast campaign`: nothing went wrong, and nothing can be measured
INTERRUPTED = 130  # 128 + SIGINT, as shells count
NOBODY_READS = 141  # 128 + SIGPIPE


class WrongCallError(Exception):
    """The call itself was wrong; the text says what would be right."""


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[threading.Event]:
    """Have Ctrl-C set this event instead of raising `KeyboardInterrupt`; pressed again it raises."""
    pressed = threading.Event()

    def press(_number: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # whoever has another one, or ignores it, has a reason
        yield pressed
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
