"""A launch: one NDRange of one kernel with its arguments, complete and in plain numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import prod

from model.opencl.options import BuildOptions

Number = int | float


class Origin(StrEnum):
    """Where a launch comes from, in order of precedence (a request on the command line beats all)."""

    REQUEST = "request"
    ANNOTATION = "annotation"
    CONFIG = "config"
    RECORDED = "recorded"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class Fill:
    """What is known of a buffer's contents; arguments are plain numbers, and HI is excluded but in `uniform`.

    `random`, `zeros`, `iota`, `perm`, `const:V`, `uniform:LO:HI`, `randint:LO:HI`; `sorted:LO:HI` ascends;
    of `clustered:LO:HI:RUN` neighbours lie within RUN of each other; of `skewed:LO:HI` low values are far more
    frequent (Zipf's law). `csr_rows:NNZ` are row pointers from 0 to NNZ for rows of random lengths; with
    `csr_rows:NNZ:SKEW` the k-th longest row is as long as k to the power -SKEW: 0 all alike, 1 skewed, 2 very.
    `csr_lengths` are the lengths of the same rows. `mask:SHARE` is 1 for that share of the elements and 0 elsewhere;
    of `choice:V@W,V@W` each V is as frequent as its weight W, and the arguments alternate between the two.
    """

    kind: str
    arguments: tuple[Number, ...] = ()

    @property
    def written(self) -> str:
        """Return the text that parses to this very fill."""
        return self._text(repr)

    def __str__(self) -> str:
        """Return the text to show, with rounded numbers."""
        return self._text(lambda a: f"{a:g}" if isinstance(a, float) else str(a))

    def _text(self, shown: Callable[[Number], str]) -> str:
        return fill_text(self.kind, [shown(argument) for argument in self.arguments])


def fill_text(kind: str, arguments: Sequence[str]) -> str:
    """Return `randint:0:8` or `choice:1@3,2` from its word and arguments; a weight of 1 need not be written."""
    if kind != "choice":
        return ":".join([kind, *arguments])
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    return "choice:" + ",".join(value if weight == "1" else f"{value}@{weight}" for value, weight in pairs)


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something the user did not say and we had to take for granted.

    `spread` is the factor, at least 1, by which the runtime may be off because of it: it widens the interval.
    `line` (from 0) is the source line it is about, if any.
    """

    subject: str  # the name it is about: a parameter, "global", "local", "line 12"
    text: str  # a whole sentence for the hover
    spread: float = 1.0
    line: int | None = None
    is_guess: bool = False  # of a size, or of how often something runs: what the user alone knows


@dataclass(frozen=True)
class Launch:
    """Sizes and arguments in numbers; nothing in here is symbolic.

    `scalars` holds by-value arguments by parameter name (`p.member` for structs); `buffers` counts ELEMENTS
    of the pointee; `images` holds (width, height, depth); `local_bytes` the bytes of each local pointer. `fills` are
    by buffer, or by part of one: `rows`, `rows.start`, `rows[3]`, `rows[3].start`.
    """

    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None = None  # None: the driver chooses
    scalars: tuple[tuple[str, Number], ...] = ()
    buffers: tuple[tuple[str, int], ...] = ()
    images: tuple[tuple[str, tuple[int, int, int]], ...] = ()
    local_bytes: tuple[tuple[str, int], ...] = ()
    fills: tuple[tuple[str, Fill], ...] = ()
    options: BuildOptions = BuildOptions()
    name: str | None = None
    origin: Origin = Origin.REQUEST
    assumptions: tuple[Assumption, ...] = ()
    chosen_local_size: tuple[int, ...] | None = None  # what the driver makes of no local size, see `driver_choice`

    @property
    def work_items(self) -> int:
        return prod(self.global_size)

    @cached_property  # asked for at every keystroke, of every launch of a file
    def key(self) -> str:
        """A short hash of everything that changes what runs (not the name, origin or assumptions)."""
        what = (
            self.global_size,
            self.local_size,
            sorted(self.scalars),
            sorted(self.buffers),
            sorted(self.images),
            sorted(self.local_bytes),
            sorted((n, str(f)) for n, f in self.fills),
            self.options,
        )
        return hashlib.sha256(repr(what).encode()).hexdigest()[:16]

    def describe(self) -> str:
        """`1024x1024 / 16x16`; for tables and hovers."""
        sizes = "x".join(map(str, self.global_size))
        return f"{sizes} / {'x'.join(map(str, self.local_size)) if self.local_size else 'auto'}"
