"""Control flow under execution: the loops around a statement, how it is left, and the sides of a branch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from model.work.execution.builder import Builder
from model.work.execution.values import Value
from model.work.execution.writes import Spot, Write
from model.work.expressions.symbolic import Atom, Expression


class Flow(IntEnum):
    """How a statement ends: on to the next one, or not."""

    NEXT = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


@dataclass(frozen=True, slots=True)
class Exit:
    """A break, continue or return, reached where all of `path` holds, with what the variables held then."""

    flow: Flow
    path: tuple[Expression, ...]
    values: dict[int, Value]

    @property
    def leaves_loop(self) -> bool:
        return self.flow in (Flow.BREAK, Flow.RETURN)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a branch begins: the block, the variables, and how much of each record there was."""

    block: Builder
    values: dict[int, Value]
    path: int
    exits: int
    found: int
    writes: int


@dataclass(frozen=True, slots=True)
class Way:
    """One side of a branch, run to its end."""

    flow: Flow
    builder: Builder  # where it began
    end: Builder  # where what follows would go
    values: dict[int, Value]
    path: list[Expression]
    found: list[tuple[Expression, int]]
    writes: list[Write]


@dataclass(slots=True, eq=False)
class LoopFrame:
    """A loop being executed. What came into being since `clock` varies from iteration to iteration.

    Loop-invariant work of the condition moves to `outer`, the block around; that of the body to `begun`, which those
    execute who begin an iteration. `outside` is where work moves to now.
    """

    clock: int
    counters: set[Atom]
    outer: Builder
    begun: Builder
    body: Builder
    promoted: frozenset[Spot] = frozenset()  # kept in a register while the loop runs, stored after it
    is_begun: bool = False

    @property
    def outside(self) -> Builder:
        return self.begun if self.is_begun else self.outer
