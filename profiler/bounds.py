"""From the address of a fault to the user's words: which buffer, which element, which side. Opens no device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from model.opencl.types import StructType, Type
from profiler.inferred_args import UNKNOWN, Guess, advice, listed, taken, written

NULL_BYTES = 1 << 16  # no system maps the first pages: an address in there is a null pointer with an index
MAX_BYTES = 256 << 20  # of one buffer: an index that wants more has gone astray, and no length is the remedy
NEAR_BYTES = 1 << 32  # further from a buffer, an address says nothing about it


@dataclass(frozen=True, slots=True)
class Room:
    """Where a buffer of `length` elements lies [byte addresses], and how far its guards reach to both sides.

    Of an image the elements are its texels, and `image_size` says how many there are in each dimension, x first.
    """

    name: str
    element: Type
    length: int
    start: int
    guarded_from: int
    guarded_to: int
    image_size: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        return self.start + self.length * self.element.size_bytes


@dataclass(frozen=True, slots=True)
class Cause:
    """What the source says of an access.

    Its `line` (from 1), what to write of the buffers that its index is read from, and what of the launch was guessed
    and may be in its index. Empty where that is not known.
    """

    line: int | None = None
    index_fills: tuple[Guess, ...] = ()
    guessed: tuple[Guess, ...] = ()


@dataclass(frozen=True, slots=True)
class Overrun:
    """An access to element `index` of a buffer that has none such; `is_store` None where nobody can tell."""

    room: Room
    offset_bytes: int  # from the buffer's start, negative in front of it
    is_store: bool | None = None

    @property
    def index(self) -> int:
        return self.offset_bytes // self.room.element.size_bytes

    @property
    def member(self) -> str:
        """`.mass`, where the element is a struct and the byte is one of a member's."""
        element, at = self.room.element, self.offset_bytes % self.room.element.size_bytes
        if not isinstance(element, StructType) or element.is_union:
            return ""
        members = zip(element.members, element.offsets(), strict=True)
        return next((f".{name}" for (name, kind), begin in members if 0 <= at - begin < kind.size_bytes), "")

    def sentence(self, reached: tuple[int, int], cause: Cause | None = None) -> str:
        """Return what happened and what to write; `reached` are the lowest and the highest index seen."""
        cause = cause or Cause()
        room, index = self.room, self.index
        verb = {True: "written", False: "read", None: "accessed"}[self.is_store]
        side = "in front of its beginning" if index < 0 else "past its end"
        at = f" on line {cause.line}" if cause.line else ""
        if room.image_size:
            what = f"image `{room.name}` is {verb} outside of its {'x'.join(map(str, room.image_size))} texels{at}"
            return f"{what}; guard the coordinates, or make it larger, as in // kernelcast: {self._larger_image()}"
        elements = "1 element" if room.length == 1 else f"{room.length} elements"
        what = f"`{room.name}[{index}]{self.member}` is {verb} {side}{at}: buffer `{room.name}` has {elements}"
        return f"{what}; {self._remedy(reached, cause)}"

    def _larger_image(self) -> str:
        return f"{self.room.name}=({', '.join(str(2 * extent) for extent in self.room.image_size)})"

    def _remedy(self, reached: tuple[int, int], cause: Cause) -> str:
        lowest, highest = reached
        if cause.index_fills:
            return _remedy_of_fills(cause)
        has_strayed = (highest + 1) * self.room.element.size_bytes > MAX_BYTES and highest > 2 * self.room.length
        if lowest >= 0 and not has_strayed:
            return f"give it more: // kernelcast: {self.room.name}={highest + 1}, or guard the index"
        return f"{advice(cause.guessed)}, or guard the index" if cause.guessed else "guard the index"


def _remedy_of_fills(cause: Cause) -> str:
    fills = cause.index_fills
    is_sure = all(fill.value != UNKNOWN for fill in fills)
    parts = fills if is_sure else (*fills, *cause.guessed)  # the fill alone may not be to blame
    source = f"its index comes from {listed([fill.key.removeprefix('fill.') for fill in fills])}"
    if len(parts) > len(fills):
        source += f", and {taken(cause.guessed)}"
    what = "what that holds" if len(parts) == 1 else "what they hold"
    return f"{source}: say {what}: // kernelcast: {written(parts)}, or guard the index"


def overrun_at(address: int, rooms: Iterable[Room], is_store: bool | None = None) -> Overrun | None:
    """Return the overrun that an access to `address` is; None if it lies in no guard."""
    for room in rooms:
        if room.guarded_from <= address < room.start or room.end <= address < room.guarded_to:
            return Overrun(room, address - room.start, is_store)
    return None


def whereabouts(address: int, rooms: Iterable[Room]) -> str:
    """Return what can be said of an address outside of all guards; empty if nothing."""
    if 0 <= address < NULL_BYTES:
        return "at a null pointer; pointers inside structs are null in a measurement"
    far, nearest = min(((_distance(address, room), room) for room in rooms), key=lambda p: p[0], default=(0, None))
    if nearest is None or far > NEAR_BYTES:
        return ""
    index = (address - nearest.start) // nearest.element.size_bytes
    return f"at what would be `{nearest.name}[{index}]`, of {nearest.length} elements"


def _distance(address: int, room: Room) -> int:
    return max(room.start - address, address - room.end, 0)
