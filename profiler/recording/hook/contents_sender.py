"""Send samples of input buffers to `kernelcast record`, which describes each in a word and keeps none of the data."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Mapping

MOST_BYTES = 16 << 20
_BLOCKS = 256
_PATIENCE_S = 10.0


class ContentsSender:
    """Samples the buffers of new launches. `is_wanted`: whether contents are to be sampled at all."""

    def __init__(self, cl: Any, environment: Mapping[str, str], log: Any) -> None:
        self._cl, self._log = cl, log
        self._path = environment.get("KERNELCAST_RECORD_SOCKET", "")
        self.is_wanted = environment.get("KERNELCAST_RECORD_CONTENTS") == "1" and bool(self._path)
        self._has_user_events = False

    def install(self) -> None:
        """Stop sampling as soon as the program creates a user event.

        It may complete the event only after the launch, and a read before the launch would wait for it forever.
        """
        if not self.is_wanted:
            return
        sender, original = self, self._cl.UserEvent

        class UserEvent(original):  # type: ignore[misc, valid-type]
            """PyOpenCL's user event."""

            __module__ = original.__module__

            def __init__(self, *given: Any, **named: Any) -> None:
                sender._has_user_events = True  # the log comes later: the layer may begin one with the first queue
                super().__init__(*given, **named)

        self._cl.UserEvent = self._cl._cl.UserEvent = UserEvent

    def send_all(self, launch: tuple[int, int, int], queue: Any, arguments: Any, wait_for: Any) -> None:
        """Send the contents of the launch's input buffers before it changes them. A failure is a problem in the log.

        `launch`: process, number of its log, and number of the launch. `arguments`: see `arguments.Set`.
        """
        if not isinstance(wait_for, (list, tuple, type(None))):
            return  # an iterator: it can be read only once, by the program
        if self._has_user_events:
            self._stop("the program uses user events, and reading could wait forever")
            return
        try:
            for event in wait_for or ():
                event.wait()
            for index, (argument, pointer) in sorted(arguments.items()):
                if argument[0] == "buffer" and self.is_wanted:
                    self._send(launch, index, queue, argument[1], pointer)
        except OSError as error:
            self._stop(f"`kernelcast record` no longer takes them: {error}")
        except Exception as error:  # noqa: BLE001 - never the program's concern
            self._log.problem("the contents of a buffer could not be sampled", error)

    def _stop(self, why: str) -> None:
        if self.is_wanted:
            self.is_wanted = False
            self._log.problem(f"contents of buffers are not sampled: {why}")

    def _send(self, launch: tuple[int, int, int], index: int, queue: Any, size: int, pointer: int) -> None:
        """Send a buffer, or evenly spaced blocks of a large one."""
        memory, flags = self._cl.MemoryObject.from_int_ptr(pointer, retain=True), self._cl.mem_flags
        unreadable = ("WRITE_ONLY", "HOST_WRITE_ONLY", "HOST_NO_ACCESS")  # OpenCL 1.1 has only the first
        if any(memory.flags & getattr(flags, name, 0) for name in unreadable):
            return
        read = bytearray(min(size, MOST_BYTES))
        block = -(-len(read) // _BLOCKS) // 64 * 64 if size > MOST_BYTES else len(read)
        stride = size // _BLOCKS // 64 * 64
        for at in range(0, len(read), block):
            part = memoryview(read)[at : at + block]
            self._cl._cl._enqueue_read_buffer(queue, memory, part, at // block * stride, None, True)
        pid, number, launched = launch
        head = json.dumps({"pid": pid, "n": number, "launch": launched, "arg": index, "bytes": len(read)}).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PATIENCE_S)
            connection.connect(self._path)
            connection.sendall(struct.pack("<I", len(head)) + head)
            connection.sendall(read)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # the end, once it was received: samples must not pile up in memory
