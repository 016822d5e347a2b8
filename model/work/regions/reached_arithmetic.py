"""Where work-items come to arithmetic that the launch alone decides."""

from __future__ import annotations

from typing import NamedTuple

from model.work.expressions.symbolic import Expression
from model.work.regions.launch_arithmetic import Arithmetic, is_of_launch
from model.work.regions.region import Block, Loop

Guards = tuple[tuple[Expression, bool], ...]


class ReachedArithmetic(NamedTuple):
    """Arithmetic, and the conditions on the launch under which work-items come to it: each with what it must be."""

    arithmetic: Arithmetic
    guards: Guards


def reached_arithmetic(root: Block) -> tuple[ReachedArithmetic, ...]:
    """Return what is noted in `root` and the blocks inside, once for each set of conditions."""
    found: dict[ReachedArithmetic, None] = {}
    stack: list[tuple[Block, Guards]] = [(root, ())]
    while stack:
        block, guards = stack.pop()
        found |= dict.fromkeys(ReachedArithmetic(one, guards) for one in block.arithmetic)
        for inner in block.inner:
            if isinstance(inner, Loop):
                stack.append((inner.body, _with(guards, inner.trips, holds=True)))
            else:
                stack.append((inner.then, _with(guards, inner.condition, holds=True)))
                stack.append((inner.otherwise, _with(guards, inner.condition, holds=False)))
    return tuple(found)


def _with(guards: Guards, condition: Expression, *, holds: bool) -> Guards:
    return (*guards, (condition, holds)) if is_of_launch(condition) else guards
