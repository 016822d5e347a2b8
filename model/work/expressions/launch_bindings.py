"""What one launch says of symbols, memory and data, and what was worked out from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.launch.launch import Fill
from model.work.expressions.contents import Contents, Interval
from model.work.expressions.linear_sums import Slopes
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression


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


@dataclass(frozen=True, slots=True)
class LaunchBindings:
    """What holds for a whole launch: fixed symbols, contents of buffers, defaults of data parameters.

    `simulated` keeps what running loops gave, and `steps` how much of that was done: see `_run`; `estimated` holds
    those run for a part of the work-items only, or not to their end. `fixed` keeps what only fixed symbols decide: of
    what thousands of points are asked for, most is the same at all of them.
    """

    symbols: Mapping[Atom, Value]
    contents: Mapping[str, Contents]
    parameters: Mapping[Atom, DataParameter]
    simulated: dict[tuple[Atom | Value | None, ...], Value | None] = field(default_factory=dict)
    last: dict[Atom, Value | None] = field(default_factory=dict)
    steps: list[int] = field(default_factory=lambda: [0])
    estimated: set[Atom] = field(default_factory=set)
    fixed: dict[Atom, Value | None] = field(default_factory=dict)
    sums: dict[Expression, Slopes | None] = field(default_factory=dict)  # see `slopes_of`
    drawn: dict[tuple[str, Fill | None, int, int], list[Value]] = field(default_factory=dict)  # see `chances`
    iterated: dict[tuple[object, ...], Interval | None] = field(default_factory=dict)  # of what loops make
    uniform: frozenset[Atom] = frozenset()  # unknown values that all lanes share

    def is_fixed(self, atom: Atom) -> bool:
        """Return whether neither ids nor counters nor data decide it."""
        return not atom.varies and self.symbols.keys() >= atom.leaves
