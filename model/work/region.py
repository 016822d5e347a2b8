"""The shape of a kernel's work: blocks that run equally often, loops with symbolic trip counts, branches.

Frozen results of the analysis (`Block`, `Loop`, `Branch`) and the one mutable thing that makes them (`Builder`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.symbolic import Atom, Expression

DEFAULT_DATA_TRIPS = 16  # of a loop about which nothing is known


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store in the source. `offset` is in bytes from the buffer's start; None when unknowable."""

    buffer: str
    space: AddressSpace
    is_store: bool
    is_atomic: bool
    line: int
    element_bytes: int
    offset: Expression | None
    is_image: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Straight-line code: costs by source line, and the loops and branches inside."""

    ops: tuple[tuple[int, OpKind, str, float], ...]  # line, kind, element, count per execution
    accesses: tuple[Access, ...]
    barriers: tuple[int, ...]  # the line of each
    inner: tuple[Loop | Branch, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` runs for `counter` = 0 .. trips-1.

    `chain` is the longest run of floating-point operations that each iteration must wait for the one before to
    finish: 1 for `s += a * b`, 0 where iterations are independent of each other.
    """

    trips: Expression
    counter: Atom
    body: Block
    line: int
    chain: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """`then` runs where `condition` is not 0, `otherwise` elsewhere.

    Where the condition depends on data, `share` names the part of work-items that enter `then`.
    """

    condition: Expression
    then: Block
    otherwise: Block
    line: int
    share: Atom | None


def decides(block: Block, atom: Atom) -> bool:
    """Whether `atom` decides how often something in `block` runs."""
    for inner in block.inner:
        leaves = inner.trips.leaves if isinstance(inner, Loop) else inner.condition.leaves
        parts = (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise)
        if atom in leaves or any(decides(part, atom) for part in parts):
            return True
    return False


@dataclass(frozen=True, slots=True)
class DataParameter:
    """Something that only the data know: iterations of a loop, the share of work-items that enter a branch.

    `spread` is the factor by which the runtime may be off when the default is wrong. `{line}` in `name` and `text`
    stands for `line`, which moves as the text around the kernel changes.
    """

    name: str
    default: float
    spread: float
    line: int
    text: str


@dataclass(slots=True, eq=False)
class Builder:
    """A block under construction."""

    ops: Counter[tuple[int, OpKind, str]] = field(default_factory=Counter)
    accesses: list[Access] = field(default_factory=list)
    barriers: list[int] = field(default_factory=list)
    inner: list[Loop | PendingBranch] = field(default_factory=list)

    def freeze(self) -> Block:
        return Block(
            ops=tuple((line, kind, element, count) for (line, kind, element), count in self.ops.items()),
            accesses=tuple(self.accesses),
            barriers=tuple(self.barriers),
            inner=tuple(i if isinstance(i, Loop) else i.freeze() for i in self.inner),
        )


@dataclass(slots=True, eq=False)
class PendingBranch:
    """A branch whose sides may still grow: code after an early return goes on inside the other side."""

    condition: Expression
    then: Builder
    otherwise: Builder
    line: int
    share: Atom | None

    def freeze(self) -> Branch:
        return Branch(self.condition, self.then.freeze(), self.otherwise.freeze(), self.line, self.share)
