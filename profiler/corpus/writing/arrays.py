"""Kernels over arrays: a family gives what is done for one element, here come the arguments and the launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from model.launch.launch import Number
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import cost
from profiler.corpus.family import Draft, Sized, Wish
from profiler.corpus.writing.hand import Hand
from profiler.corpus.writing.literals import BITS, split_type
from profiler.corpus.writing.plane import Area, Plane, plane
from profiler.corpus.writing.sizes import draft, sized
from profiler.corpus.writing.walk import Walk, walk

Words = tuple[str | Number, ...]  # of a fill
Values = Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class Array:
    """`length` from the number of elements (of a plane: width, height) and the scalars; `per` of them for each else."""

    name: str
    type: str
    is_written: bool = False
    per: int = 1
    length: Callable[[tuple[int, ...], Values], int] | None = None
    fill: Words | Callable[[Draw, int], Words] | None = None  # from the array's length
    element_bytes: int = 0  # where the type is not one of OpenCL's
    space: str = ""  # another address space than the hand's for buffers

    @property
    def bytes_each(self) -> int:
        return self.element_bytes or type_bytes(self.type)

    def declared(self, habits: Hand) -> str:
        if self.space:
            return f"{self.space} {self.type} *{self.name}"
        return (habits.gives if self.is_written else habits.takes)(self.type, self.name)


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar argument, drawn for each launch."""

    name: str
    type: str
    value: Callable[[Draw], Number]


@dataclass(frozen=True, slots=True)
class Elements:
    """A kernel but for its signature: `body` for one element `i` of `n`, or `x`, `y` of `width` x `height`.

    `operations` for each element, from the scalars; None: counted in the body.
    """

    name: str
    arrays: Sequence[Array]
    body: str
    values: Sequence[Value] = ()
    operations: Callable[[Values], float] | None = None
    before: str = ""
    inside: str = ""  # of the kernel, ahead of the walk
    options: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()


def type_bytes(type: str) -> int:
    """Return the size of a type; a vector of three takes the room of four."""
    base, width = split_type(type)
    bits = BITS.get(base.removeprefix("u"), 32 if base == "float" else 64)
    return bits // 8 * (4 if width == 3 else width)


def line_draft(draw: Draw, habits: Hand, what: Elements, way: Walk | None = None) -> Draft:
    """Over a line of elements, in any way to walk it or the one given."""
    way = way or walk(draw, habits)
    each = _operations(what)
    turns = way.per_item if way.kind == "strided" else 1  # each with a test, also where nothing is left to do

    def launch(draw: Draw, wish: Wish) -> Sized:
        values = {v.name: v.value(draw) for v in what.values}
        size = way.size(wish, _bytes(what))
        buffers, fills = _buffers(draw, what, (size.count,), values)
        return sized(
            size.global_size,
            size.local_size,
            size.done * each(values) + 2.0 * size.global_size * turns,
            buffers,
            {**values, "n": size.count},
            fills,
        )

    return _drafted(draw, habits, what, way.write(what.body), ["n"], launch)


def plane_draft(draw: Draw, habits: Hand, what: Elements, way: Plane | None = None) -> Draft:
    """Over a plane, row by row in memory."""
    way = way or plane(draw, habits)
    each = _operations(what)

    def launch(draw: Draw, wish: Wish) -> Sized:
        values = {v.name: v.value(draw) for v in what.values}
        area: Area = way.size(draw, wish, _bytes(what))
        buffers, fills = _buffers(draw, what, (area.width, area.height), values)
        scalars = {**values, "width": area.width, "height": area.height}
        operations = area.done * each(values) + 2.0 * prod(area.global_size)
        return sized(area.global_size, area.local_size, operations, buffers, scalars, fills)

    return _drafted(draw, habits, what, way.write(what.body), ["width", "height"], launch)


def _operations(what: Elements) -> Callable[[Values], float]:
    """Besides what the family says or the body shows: every word of memory, and every lane of a vector."""
    lanes = max([1, *(split_type(a.type)[1] for a in what.arrays if not a.element_bytes)])
    counted = cost(what.body) * lanes
    words = 1.0 + sum(a.bytes_each * a.per / 4 for a in what.arrays if a.length is None)
    stated = what.operations
    return lambda values: words + (stated(values) * lanes if stated else counted)


def _bytes(what: Elements) -> float:
    return max(1.0, sum(a.bytes_each * a.per for a in what.arrays if a.length is None or a.per != 1)) * 1.05


def _buffers(
    draw: Draw, what: Elements, shape: tuple[int, ...], values: Values
) -> tuple[dict[str, int], dict[str, Words]]:
    buffers, fills = {}, {}
    count = 1
    for part in shape:
        count *= part
    slack = draw.weighted({0: 7.0, 1: 1.0, 64: 1.0, 1000: 1.0})
    for array in what.arrays:
        length = array.length(shape, values) if array.length else count * array.per
        fill = array.fill(draw, length) if callable(array.fill) else array.fill
        if fill is not None:
            fills[array.name] = fill
        buffers[array.name] = max(1, length) + (slack if fill is None and array.length is None else 0)
    return buffers, fills


def _drafted(
    draw: Draw,
    habits: Hand,
    what: Elements,
    walked: str,
    counts: Sequence[str],
    launch: Callable[[Draw, Wish], Sized],
) -> Draft:
    arrays = [a.declared(habits) for a in what.arrays]
    scalars = [habits.number(v.name, v.type) for v in what.values]
    numbers = [habits.number(name) for name in counts]
    parameters = draw.choose(
        ([*arrays, *scalars, *numbers], [*arrays, *numbers, *scalars], [*numbers, *arrays, *scalars])
    )
    body = f"{what.inside.rstrip()}\n{walked}" if what.inside else walked
    return draft(
        habits, what.name, parameters, body, launch, before=what.before, options=what.options, in_place=what.in_place
    )
