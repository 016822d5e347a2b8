"""Buffers that are handed out again: always with the right contents, and never twice at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model.launch.launch import Fill
from model.opencl.types import ScalarKind, ScalarType
from profiler.arguments import PAD_BYTES, BufferArgument
from profiler.device_worker.memory.layout import write_contents
from profiler.measurement import NeedsAnnotation, OutOfResources

pytestmark = pytest.mark.device
FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)


@pytest.fixture(scope="module")
def opened() -> tuple[Any, Any]:
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    return context, cl.CommandQueue(context)


@pytest.fixture
def pool(opened: Any) -> Any:
    from profiler.device_worker.corpus.pool import Pool

    return Pool(*opened, most_bytes=1 << 20)


def _read(room: Any, opened: Any, size_bytes: int) -> bytes:
    import pyopencl as cl

    seen = np.empty(size_bytes, np.uint8)
    cl.enqueue_copy(opened[1], seen, room.buffer)
    return seen.tobytes()


def _expected(argument: BufferArgument) -> bytes:
    memory = np.empty(argument.size_bytes, np.uint8)
    write_contents(argument, 16, memory)
    return memory.tobytes() + bytes(PAD_BYTES)


def test_each_holds_its_contents_and_zeros_behind_them(pool: Any, opened: Any) -> None:
    for length in (1000, 900, 1000, 3, 0, 1001):
        for fill in (None, Fill("iota")):
            argument = BufferArgument("x", FLOAT, length, fill)
            room = pool.take(argument, 16)
            assert _read(room, opened, argument.size_bytes + PAD_BYTES) == _expected(argument)
            pool.give_back(room, is_written=False)


def test_what_a_kernel_may_have_changed_is_filled_anew(pool: Any, opened: Any) -> None:
    import pyopencl as cl

    argument = BufferArgument("x", FLOAT, 100, None)
    room = pool.take(argument, 16)
    cl.enqueue_copy(opened[1], room.buffer, np.full(200, 9, np.uint8))
    pool.give_back(room, is_written=True)
    again = pool.take(argument, 16)
    assert again is room
    assert _read(again, opened, argument.size_bytes) == _expected(argument)[:400]


def test_no_two_that_are_out_are_the_same(pool: Any) -> None:
    argument = BufferArgument("x", FLOAT, 100, None)
    rooms = [pool.take(argument, 16) for _ in range(5)]
    assert len({id(room.buffer) for room in rooms}) == 5


def test_those_that_wait_make_room_for_others(pool: Any) -> None:
    small = [pool.take(BufferArgument(f"x{n}", FLOAT, 50_000, None), 16) for n in range(3)]
    with pytest.raises(OutOfResources, match="`big`"):
        pool.take(BufferArgument("big", FLOAT, 200_000, None), 16)
    for room in small:
        pool.give_back(room, is_written=False)
    assert pool.take(BufferArgument("big", FLOAT, 200_000, None), 16).buffer.size >= 800_000


def test_a_buffer_that_cannot_be_filled_is_not_lost(pool: Any) -> None:
    for _ in range(20):
        with pytest.raises(NeedsAnnotation):
            pool.take(BufferArgument("x", FLOAT, 50_000, Fill("unheard_of")), 16)
    assert pool.take(BufferArgument("big", FLOAT, 200_000, None), 16).buffer.size >= 800_000
