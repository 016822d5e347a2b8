"""What input buffers hold is sent over a socket, when that is asked for."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.profiler.recording.layer.conftest import Ran

pytestmark = pytest.mark.device

PROGRAM = """
import numpy, pyopencl as cl
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
flags = cl.mem_flags
x = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=numpy.arange(1000, dtype=numpy.int32))
y = cl.Buffer(context, flags.WRITE_ONLY, 4000)
large = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=numpy.arange(5 << 20, dtype=numpy.int32))
f = cl.Program(context, '''__kernel void f(__global int *x, __global int *y, __global const int *large, int n) {
    int i = get_global_id(0); y[i] = x[i] + large[i] + n; x[i] = -1; }''').build().f
for _ in range(3):
    f(queue, (1000,), None, x, y, large, numpy.int32(1))
queue.finish()
"""


class Listener:
    """Takes all messages that come to a socket."""

    def __init__(self, path: Path) -> None:
        self.path, self.messages = path, []
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with connection, connection.makefile("rb") as stream:
                if not (length := stream.read(4)):
                    return
                self.messages.append((json.loads(stream.read(struct.unpack("<I", length)[0])), stream.read()))

    def close(self) -> list[tuple[dict[str, Any], bytes]]:
        """Return the messages, once all that were sent are in."""
        if self._thread.is_alive():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
                last.connect(str(self.path))
        self._thread.join(30)
        self._server.close()
        return self.messages


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    made = Listener(tmp_path / "socket")
    yield made
    made.close()


def words_of(socket_path: Path) -> dict[str, str]:
    return {"KERNELCAST_RECORD_CONTENTS": "1", "KERNELCAST_RECORD_SOCKET": str(socket_path)}


def test_inputs_are_sent_once_before_the_launch_changes_them(record: Callable[..., Ran], listener: Listener) -> None:
    ran = record([sys.executable, "-c", PROGRAM], words_of(listener.path))
    assert ran.status == 0, ran.err
    messages = listener.close()
    process = ran.log.of("process")[0]
    assert [(head["launch"], head["arg"]) for head, _ in messages] == [(0, 0), (0, 2)]  # 1 is for writing only
    assert all((head["pid"], head["n"]) == (process["pid"], 0) for head, _ in messages)
    assert all(head["bytes"] == len(data) for head, data in messages)
    assert struct.unpack("<1000i", messages[0][1]) == tuple(range(1000))
    assert ran.log.counts == [3]


def test_of_a_large_buffer_blocks_from_its_first_to_its_last_byte_are_sent(
    record: Callable[..., Ran], listener: Listener
) -> None:
    record([sys.executable, "-c", PROGRAM], words_of(listener.path))
    data = listener.close()[1][1]
    numbers = struct.unpack(f"<{len(data) // 4}i", data)
    assert len(data) == 16 << 20
    assert (numbers[0], list(numbers) == sorted(numbers)) == (0, True)
    assert (5 << 20) - numbers[-1] < 64


@pytest.mark.parametrize("before", ["queue = ", "f = "])
def test_nothing_is_read_where_that_could_wait_for_the_program(
    before: str, record: Callable[..., Ran], listener: Listener
) -> None:
    program = PROGRAM.replace(f"\n{before}", f"\ncl.UserEvent(context)\n{before}")
    ran = record([sys.executable, "-c", program], words_of(listener.path))
    assert (ran.status, listener.close()) == (0, [])
    assert "user events" in ran.log.of("problem")[0]["message"]  # in the layer's log, the only one


def test_a_listener_that_is_gone_is_told_once(record: Callable[..., Ran], tmp_path: Path) -> None:
    ran = record([sys.executable, "-c", PROGRAM], words_of(tmp_path / "gone"))
    assert ran.status == 0, ran.err
    assert len(ran.log.of("problem")) == 1
    assert ran.log.counts == [3]
