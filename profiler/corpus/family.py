"""What a family of kernels is: a function from seeded choices to a draft of one kernel and of its launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from model.launch.launch import Launch
from profiler.corpus.draw import Draw


@dataclass(frozen=True, slots=True)
class Wish:
    """What a launch should be like, as far as the kernel allows.

    `items` is the number of work-items, `data` the number of elements that the kernel is to work on: for one item an
    element the count that its guard compares with, for a grid-stride loop the loop's end, for a matrix its elements.
    Neither follows from the other. `local` is the number of work-items in a group; None leaves it to the driver.
    """

    items: int
    data: int
    local: int | None


@dataclass(frozen=True, slots=True)
class Sized:
    """A launch and roughly how many simple operations all of its work-items do: loads, stores and arithmetic.

    A special function counts as 10. The figure decides only which of several launches is kept.
    """

    launch: Launch
    operations: float


@dataclass(frozen=True, slots=True)
class Draft:
    """One kernel as a family wrote it.

    `launch` may draw whatever a `Wish` leaves open: scalars, shapes, contents, lengths beyond what is needed. It must
    give the same `global_size` for the same `items` and `local` whatever `data` is, or the kernel counts as tied.
    `in_place` names buffers that a run changes so that the next run would take another time (sorted, marked as
    visited): their contents are put back before each run.
    """

    source: str  # OpenCL C; other kernels may stand beside this one
    kernel: str  # its name
    launch: Callable[[Draw, Wish], Sized]
    options: tuple[str, ...] = ()  # build options, such as ("-DTILE=16", "-cl-fast-relaxed-math")
    in_place: tuple[str, ...] = ()


Write = Callable[[Draw], Draft]


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a family's launches are: simple operations of a launch (see `Sized`), and bytes of all its buffers."""

    fewest_operations: float
    most_operations: float
    most_bytes: int


KERNEL = Scale(3e3, 2e8, 192 << 20)  # from the launch floor to 50 to 500 ms
PROGRAM = Scale(3e5, 3e9, 512 << 20)  # what programs launch: 10 us to 1 s, most of it above 1 ms


@dataclass(frozen=True, slots=True)
class Family:
    """`group` is what a programmer would look under: reductions, stencils, sparse ..."""

    name: str
    group: str
    write: Write
    scale: Scale = KERNEL


FAMILIES: dict[str, Family] = {}


def family(name: str, group: str, scale: Scale = KERNEL) -> Callable[[Write], Write]:
    """Register a function under a name of its own."""

    def register(write: Write) -> Write:
        assert name not in FAMILIES, name
        FAMILIES[name] = Family(name, group, write, scale)
        return write

    return register
