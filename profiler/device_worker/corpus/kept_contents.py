"""Contents of buffers that were made once and are copied from then on: drawing them costs more than most launches.

What is copied is byte for byte what `profiler.device_worker.memory.layout` writes, so that a row of the corpus and a
measurement of the same launch see the same data.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np

from model.contents.buffer import DEFAULT, piece_of
from model.launch.fill import DEFAULT_INTEGER_LIMIT
from model.launch.launch import Fill
from model.opencl.types import ScalarKind, ScalarType, Type, VectorType
from profiler.arguments import BufferArgument
from profiler.device_worker.memory.layout import Array, write_contents

REPEATED = ("random", "uniform", "randint", "const", "zeros", "mask", "choice")  # after a piece again
MOST_BYTES = 3 << 28
LARGEST_SHARE = 3  # contents of more than this part of it are not kept
Key = tuple[str, Type, Fill, tuple[tuple[str, Fill], ...], int, int]


def content_key(buffer: BufferArgument, shortest_length: int) -> Key:
    """Return a key that is equal for buffers with the same contents, as far as both reach.

    With most fills a shorter buffer has the first elements of a longer one.
    """
    fill = buffer.fill or DEFAULT
    drawn = [fill, *(part for _, part in buffer.part_fills)]
    limit = min(DEFAULT_INTEGER_LIMIT, shortest_length) if any(each.kind == "random" for each in drawn) else 0
    return buffer.name, buffer.element, fill, buffer.part_fills, limit, 0 if _period(buffer) else buffer.length


class KeptContents:
    """Owns what was made lately, up to `most_bytes`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, Array] = OrderedDict()
        self._kept_bytes = 0

    def write(self, buffer: BufferArgument, shortest_length: int, memory: Array) -> None:
        """As `write_contents`."""
        if not buffer.size_bytes:
            return
        period = _period(buffer)
        wanted = min(_rounded(buffer.length), period) if period else buffer.length
        if wanted * buffer.element.size_bytes > self._most_bytes // LARGEST_SHARE:
            write_contents(buffer, shortest_length, memory)
            return
        source = self._made(buffer, shortest_length, wanted)
        for begin in range(0, buffer.size_bytes, len(source)):
            part = memory[begin : begin + len(source)]
            part[...] = source[: len(part)]

    def _made(self, buffer: BufferArgument, shortest_length: int, length: int) -> Array:
        key = content_key(buffer, shortest_length)
        needed_bytes = length * buffer.element.size_bytes
        found = self._kept.get(key)
        if found is not None and len(found) >= needed_bytes:
            self._kept.move_to_end(key)
            return found
        made = np.empty(needed_bytes, np.uint8)
        alike = replace(buffer, length=length)
        write_contents(alike, shortest_length, made)
        self._keep(key, made)
        return made

    def _keep(self, key: Key, made: Array) -> None:
        replaced = self._kept.pop(key, None)
        self._kept_bytes += len(made) - (0 if replaced is None else len(replaced))
        self._kept[key] = made
        while self._kept_bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)


def _period(buffer: BufferArgument) -> int:
    """After how many elements the contents follow themselves; 0 if they depend on the buffer's whole length."""
    fill = buffer.fill or DEFAULT
    if fill.kind not in REPEATED or buffer.part_fills:
        return 0
    match buffer.element:
        case ScalarType(kind=kind):
            return piece_of(is_float=kind is ScalarKind.FLOAT)
        case VectorType(element=ScalarType(kind=kind) as lane):
            return piece_of(is_float=kind is ScalarKind.FLOAT) // (buffer.element.size_bytes // lane.size_bytes)
        case _:
            return 0  # members of a struct have periods of their own


def _rounded(length: int) -> int:
    """To a power of two, so that a little longer buffer finds it, too."""
    return 1 << max(0, length - 1).bit_length()
