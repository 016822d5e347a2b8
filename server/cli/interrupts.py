"""Ctrl-C in the middle of device work: what is done already is kept and shown."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


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
