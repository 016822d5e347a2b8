"""Advice on barriers that only part of a work-group comes to."""

from __future__ import annotations

from collections.abc import Iterator

from model.advice.advice import Advice, AdviceCode
from model.advice.situation import Situation
from model.work.expressions.symbolic import LOCAL_ID, LOCAL_SIZE, Expression
from model.work.regions.region import Block, Loop

_LONGEST_QUOTED = 60


def divergent_barrier(situation: Situation) -> Iterator[Advice]:
    """Yield a barrier within a condition, or a loop, that is not the same for all work-items of a group.

    OpenCL C 3.0, section 6.15.8: all work-items of the group must reach it, or none. It is a fault, whatever the
    device and however short the launch.

    Silent unless some group is sure to be divided: nothing is said of conditions on data, nor, where part of the
    launch was assumed, of conditions on more than local ids.
    """
    for barrier in situation.counts.facts.barriers:
        where = barrier.divergent_line
        if where is None:
            continue
        if situation.launch.assumptions and not _is_local(situation.work.root, where):
            continue
        yield Advice(
            AdviceCode.DIVERGENT_BARRIER,
            f"not all {situation.group_items} work-items of a group come to this barrier: {_quoted(situation, where)} "
            "divides them by their ids; that is undefined (some devices hang, others compute nonsense), so put the "
            "barrier where all of them pass",
            barrier.line,
            is_fault=True,
        )


def _quoted(situation: Situation, line: int) -> str:
    text = " ".join(situation.source_line(line).split()).rstrip("{ ")
    if not text:
        return "a condition around it"
    return f"`{text if len(text) <= _LONGEST_QUOTED else text[:_LONGEST_QUOTED] + '...'}`"


def _is_local(block: Block, line: int) -> bool:
    """Return whether what divides work-items on `line` are local ids and sizes alone."""
    own: set[object] = {*LOCAL_ID, *LOCAL_SIZE}
    found = list(_deciding(block, line))
    return bool(found) and all(expression.leaves and expression.leaves <= own for expression in found)


def _deciding(block: Block, line: int) -> Iterator[Expression]:
    for part in block.inner:
        if part.line == line:
            yield part.trips if isinstance(part, Loop) else part.condition
        for inner in (part.body,) if isinstance(part, Loop) else (part.then, part.otherwise):
            yield from _deciding(inner, line)
