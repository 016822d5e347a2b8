"""What stands in a buffer before a kernel runs; `model.contents` says what that is."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from model.contents.buffer import buffer_contents
from model.contents.leaves import UnknownContents
from profiler.arguments import BufferArgument
from profiler.measurement import NeedsAnnotation

Array = npt.NDArray[Any]


def write_contents(buffer: BufferArgument, shortest_length: int, memory: Array) -> None:
    """Fill `memory`, all bytes of `buffer`. Raises NeedsAnnotation for what nobody can fill.

    `shortest_length` is that of the launch's shortest buffer, in elements: default integers stay below it.
    They are written where they are to lie, a piece at a time: a second copy of a large buffer might not find room.
    """
    try:
        contents = buffer_contents(buffer.name, buffer.element, buffer.length, buffer.fills, shortest_length)
    except UnknownContents as unknown:
        raise NeedsAnnotation(str(unknown)) from None
    contents.write(memory)
