"""Send what an input buffer holds to `kernelcast record`, which describes it in a word and keeps nothing of it."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Mapping

MOST_BYTES = 16 << 20
_BLOCKS = 256
_PATIENCE_S = 10.0


class ContentsSender:
    """`is_wanted`: whether contents are to be sampled at all."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._path = environment.get("KERNELCAST_RECORD_SOCKET", "")
        self.is_wanted = environment.get("KERNELCAST_RECORD_CONTENTS") == "1" and bool(self._path)

    def send(self, name: tuple[int, int], launch: int, index: int, cl: Any, queue: Any, argument: Any) -> None:
        """Read the buffer, or evenly spaced blocks of a large one, before the launch changes it."""
        _, pointer, size = argument
        memory = cl.MemoryObject.from_int_ptr(pointer, retain=True)
        if memory.flags & cl.mem_flags.WRITE_ONLY or memory.flags & getattr(cl.mem_flags, "HOST_NO_ACCESS", 0):
            return
        read = bytearray(min(size, MOST_BYTES))
        block = -(-len(read) // _BLOCKS) // 64 * 64 if size > MOST_BYTES else len(read)
        stride = size // _BLOCKS // 64 * 64
        for at in range(0, len(read), block):
            part = memoryview(read)[at : at + block]
            cl._cl._enqueue_read_buffer(queue, memory, part, at // block * stride, None, True)
        pid, number = name
        head = json.dumps({"pid": pid, "n": number, "launch": launch, "arg": index, "bytes": len(read)}).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PATIENCE_S)
            connection.connect(self._path)
            connection.sendall(struct.pack("<I", len(head)) + head)
            connection.sendall(read)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # until it was taken: the launch waits, so that memory does not fill up
