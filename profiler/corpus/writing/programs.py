"""What families of programs share: kernels as plain templates, and launches put together from plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from textwrap import dedent

from model.launch.launch import Fill, Launch, Number
from profiler.corpus.family import Sized


def written(template: str, **words: object) -> str:
    """Put `words` into the places `$name` of a kernel's text. Raises KeyError where one is missing."""
    return Template(dedent(template).strip() + "\n").substitute({name: str(word) for name, word in words.items()})


def sized(
    operations: float,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    buffers: Mapping[str, int],
    scalars: Mapping[str, Number] | None = None,
    fills: Mapping[str, Fill] | None = None,
    local_bytes: Mapping[str, int] | None = None,
) -> Sized:
    """Put a launch together; `operations` as in `Sized`, `buffers` in elements."""
    launch = Launch(
        global_size,
        local_size,
        scalars=tuple((scalars or {}).items()),
        buffers=tuple(buffers.items()),
        local_bytes=tuple((local_bytes or {}).items()),
        fills=tuple((fills or {}).items()),
    )
    return Sized(launch, operations)


def up_to(value: float, step: int) -> int:
    """Round up to a multiple of `step`, which is the least."""
    return max(1, -(-int(value) // step)) * step


def within(value: float, low: int, high: int) -> int:
    return max(low, min(high, int(value)))


def side(elements: float, low: int, high: int) -> int:
    """Return the side of a square with about this number of elements."""
    return within(elements**0.5, low, high)


def uniform(low: float = 0.0, high: float = 1.0) -> Fill:
    return Fill("uniform", (low, high))


def randint(low: int, high: int) -> Fill:
    return Fill("randint", (low, high))
