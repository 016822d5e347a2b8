"""Memory by bytes, in segments: buffers, local memory of groups, private memory of lanes, constants, images.

An address is the number of its segment times 2^44, plus the byte in it; 0 is the null pointer. Buffers are made a page
at a time, when a lane first comes there, so that launches on gigabytes cost what is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from model.sampling.values import Array, BudgetEnded, Value, distinct


class Active(Protocol):
    """The lanes that read or write: all of `width`, or those in `mask`."""

    width: int
    mask: Array | None

    def whole_mask(self) -> Array: ...


SHIFT = 44
_WHOLE_BYTES = 1 << 16  # smaller buffers are made at once
_PAGE_BYTES = 256
_MOST_PAGES = 1 << 24
_FILL_COST, _BYTE_COST = 30_000, 4  # lane-steps of making pages, and of each of their bytes
MOST_PAGED_BYTES = 96 << 20

MakeBytes = Callable[[Array, int], Array]  # (first bytes of pages, bytes of one) -> (pages, page bytes)


class MemoryExhausted(BudgetEnded):
    """The sample touches more memory than it may."""


class Segment:
    """A piece of memory that is there as a whole. Subclasses find bytes elsewhere."""

    def __init__(self, name: str, size_bytes: int) -> None:
        self.name = name
        self.size_bytes = size_bytes
        self.data: Array = np.zeros(0, np.uint8)
        self.views: dict[Any, Array] = {}
        self.memory: Memory | None = None

    def index(self, offsets: Value, shift: int) -> Value:
        """Offsets in bytes, multiples of 2**shift -> numbers in a view of such elements."""
        return offsets >> shift

    def view(self, dtype: np.dtype[Any]) -> Array:
        found = self.views.get(dtype)
        if found is None:
            found = self.views[dtype] = self.data.view(dtype)
        return found


class Whole(Segment):
    """Memory that is made at once."""

    def __init__(self, name: str, size_bytes: int, data: Array | None = None) -> None:
        super().__init__(name, size_bytes)
        padded = -(-max(size_bytes, 1) // 16) * 16
        self.data = np.zeros(padded, np.uint8)
        if data is not None:
            self.data[: len(data)] = data


class Paged(Segment):
    """Memory whose pages are made when they are first touched."""

    def __init__(self, name: str, size_bytes: int, make: MakeBytes, page_bytes: int = _PAGE_BYTES) -> None:
        super().__init__(name, size_bytes)
        self.make = make
        while size_bytes // page_bytes > _MOST_PAGES:
            page_bytes *= 2
        self.page_bytes = page_bytes
        self.is_power = page_bytes & (page_bytes - 1) == 0
        self.page_shift = page_bytes.bit_length() - 1
        self.table = np.zeros(size_bytes // page_bytes + 1, np.int32)  # number of the page, from 1
        self.used = 1
        self.data = np.zeros(page_bytes * 64, np.uint8)

    def index(self, offsets: Value, shift: int) -> Value:
        if self.is_power:
            pages = offsets >> self.page_shift
            inside = offsets & (self.page_bytes - 1)
        else:
            pages = offsets // self.page_bytes
            inside = offsets - pages * self.page_bytes
        found = self.table.take(pages)
        if not found.all():
            self._fill(distinct(pages[found == 0] if found.ndim else np.atleast_1d(pages)))
            found = self.table.take(pages)
        if self.is_power:
            return (found.astype(np.int64) << (self.page_shift - shift)) + (inside >> shift)
        return (found.astype(np.int64) * self.page_bytes + inside) >> shift

    def _fill(self, pages: Array) -> None:
        end = (self.used + len(pages)) * self.page_bytes
        if end > MOST_PAGED_BYTES:
            raise MemoryExhausted
        if self.memory is not None and self.memory.meter is not None:
            self.memory.meter.spent += _FILL_COST + _BYTE_COST * self.page_bytes * len(pages)
        if end > len(self.data):
            grown = np.zeros(-(-max(end, 2 * len(self.data)) // 16) * 16, np.uint8)
            grown[: len(self.data)] = self.data
            self.data = grown
            self.views.clear()
        rows = self.make(pages * self.page_bytes, self.page_bytes)
        self.data[self.used * self.page_bytes : end] = rows.reshape(-1)
        self.table[pages] = np.arange(self.used, self.used + len(pages), dtype=np.int32)
        self.used += len(pages)


class Memory:
    """All segments of one sample; `strays` names those that were left, by reading or by writing."""

    def __init__(self) -> None:
        self.segments: list[Segment | None] = [None]
        self.images: dict[int, Any] = {}  # by the number of their handles
        self.strays: dict[str, str] = {}
        self.meter: Any = None  # what pages cost is noted there
        self.may_misalign = False

    def add(self, segment: Segment) -> int:
        """Return the address of its first byte."""
        self.segments.append(segment)
        segment.memory = self
        return (len(self.segments) - 1) << SHIFT

    def load(self, lanes: Active, address: Value, dtype: np.dtype[Any], rows: Value = None) -> Value:
        """Return the number of type `dtype` at each lane's address; outside all segments it reads as 0.

        With `rows` a column of byte offsets, a row for each.
        """
        mask = lanes.mask
        first = address
        if address.ndim:
            first = address[0] if mask is None else address[mask.argmax()]
        number = int(first) >> SHIFT
        segment = self.segments[number] if 0 <= number < len(self.segments) else None
        if segment is None:
            return self._load_apart(lanes, address, dtype, rows)
        size = dtype.itemsize
        offset = address - (number << SHIFT)
        extent = size if rows is None else int(rows.max()) + size
        limit = segment.size_bytes - extent
        outside = (offset < 0) | (offset > limit)
        if outside.any():
            wrong = outside if mask is None else outside & mask
            if wrong.any() and limit >= 0:
                return self._load_apart(lanes, address, dtype, rows)
            if limit < 0:
                self.strays[segment.name] = "reads"
                return np.zeros(() if rows is None else (len(rows), 1), dtype)[()]
            offset = np.where(outside, 0, offset)[()]
        if rows is not None:
            offset = offset + rows
        if self.may_misalign and size > 1 and (offset & (size - 1)).any():
            return self._load_bytes(segment, offset, dtype)
        # A view is asked for after the index: finding that may move the data.
        index = segment.index(offset, size.bit_length() - 1)
        return segment.view(dtype)[index]

    def _load_bytes(self, segment: Segment, offset: Value, dtype: np.dtype[Any]) -> Value:
        at = np.asarray(offset)
        each = at[..., None] + np.arange(dtype.itemsize)
        index = segment.index(each, 0)
        return np.ascontiguousarray(segment.view(np.dtype(np.uint8))[index]).view(dtype)[..., 0][()]

    def _load_apart(self, lanes: Active, address: Value, dtype: np.dtype[Any], rows: Value) -> Value:
        """Lanes that read in different segments, or nowhere."""
        at = np.broadcast_to(address, (lanes.width,)) if address.ndim == 0 else address
        out = np.zeros(lanes.width if rows is None else (len(rows), lanes.width), dtype)
        numbers = at >> SHIFT
        size = dtype.itemsize
        active = lanes.whole_mask()
        for number in distinct(numbers[active]):
            segment = self.segments[int(number)] if 0 <= number < len(self.segments) else None
            mine = active & (numbers == number)
            if segment is None:
                self.strays.setdefault(self._near(int(number)), "reads")
                continue
            base = int(number) << SHIFT
            for row in range(1 if rows is None else len(rows)):
                offset = at - base + (0 if rows is None else int(rows[row, 0]))
                inside = mine & (offset >= 0) & (offset <= segment.size_bytes - size)
                if not (inside == mine).all():
                    self.strays.setdefault(segment.name, "reads")
                if inside.any():
                    values = self._load_bytes(segment, offset[inside], dtype)
                    if rows is None:
                        out[inside] = values
                    else:
                        out[row, inside] = values
        return out

    def _near(self, number: int) -> str:
        """Return the buffer that an address before its begin was meant for."""
        after = self.segments[number + 1] if 0 <= number + 1 < len(self.segments) else None
        return after.name if after is not None else "a null or foreign pointer"

    def store(self, lanes: Active, address: Value, value: Value, dtype: np.dtype[Any], rows: Value = None) -> None:
        """Write each active lane's number; of lanes that write to one place the last stays. Elsewhere it is dropped."""
        mask, width = lanes.mask, lanes.width
        if value.dtype != dtype:
            value = value.astype(dtype)
        shape = (width,) if rows is None else (len(rows), width)
        if address.ndim == 0:
            if value.ndim == 0 or (rows is not None and value.shape[-1] == 1):
                shape = (1,) if rows is None else (len(rows), 1)
                mask = None
                address = address.reshape(1)
            else:
                address = np.broadcast_to(address, (width,))
        value = np.broadcast_to(value, shape)
        if mask is not None:
            address, value = address[mask], value[..., mask]
        number = int(address[0]) >> SHIFT
        segment = self.segments[number] if 0 <= number < len(self.segments) else None
        size = dtype.itemsize
        extent = size if rows is None else int(rows.max()) + size
        if segment is not None:
            offset = address - (number << SHIFT)
            outside = (offset < 0) | (offset > segment.size_bytes - extent)
        if segment is None or outside.any():
            self._store_apart(address, value, dtype, rows)
            return
        if rows is not None:
            offset = offset + rows
        self._put(segment, offset, value, dtype)

    def clear(self, lanes: Active, address: Value, size_bytes: int) -> None:
        """Zeros in the memory of the active lanes."""
        rows = np.arange(size_bytes, dtype=np.int64)[:, None]
        self.store(lanes, address, np.zeros((size_bytes, 1), np.uint8), np.dtype(np.uint8), rows)

    def _put(self, segment: Segment, offset: Array, value: Array, dtype: np.dtype[Any]) -> None:
        size = dtype.itemsize
        if self.may_misalign and size > 1 and (offset & (size - 1)).any():
            each = offset[..., None] + np.arange(size)
            parts = np.ascontiguousarray(value)[..., None].view(np.uint8)
            index = segment.index(each, 0)
            segment.view(np.dtype(np.uint8))[index] = parts
            return
        index = segment.index(offset, size.bit_length() - 1)
        segment.view(dtype)[index] = value

    def _store_apart(self, address: Array, value: Array, dtype: np.dtype[Any], rows: Value) -> None:
        numbers = address >> SHIFT
        for number in distinct(numbers):
            segment = self.segments[int(number)] if 0 <= number < len(self.segments) else None
            mine = numbers == number
            if segment is None:
                self.strays.setdefault(self._near(int(number)), "writes")
                continue
            for row in range(1 if rows is None else len(rows)):
                offset = address - (int(number) << SHIFT) + (0 if rows is None else int(rows[row, 0]))
                inside = mine & (offset >= 0) & (offset <= segment.size_bytes - dtype.itemsize)
                if not (inside == mine).all():
                    self.strays.setdefault(segment.name, "writes")
                if inside.any():
                    self._put(segment, offset[inside], value[inside] if rows is None else value[row, inside], dtype)
