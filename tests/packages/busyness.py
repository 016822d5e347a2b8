"""How much of a kernel its launch puts to work: one that does nothing is measured easily, and says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model.launch.launch import Launch
from model.opencl.kernel import ParameterKind
from model.work.regions.region import Block, Loop
from model.work.walk.walk import Walk
from model.work.work import Work


@dataclass(frozen=True)
class Busyness:
    """As the analysis expects it, over the whole launch."""

    stores: float  # into buffers and images, executed
    idle_lines: tuple[int, ...]  # of loops and branches with accesses to memory that no work-item enters


def busyness(work: Work, launch: Launch) -> Busyness:
    """`stores` is 1 for a kernel that has none in its source."""
    walk = work.walk(launch)
    shared = {p.name for p in work.kernel.of_kind(ParameterKind.BUFFER, ParameterKind.IMAGE)}
    stores = [access for access in work.accesses() if access.is_store and access.buffer in shared]
    executed = sum(walk.extents[id(access)].count for access in stores if id(access) in walk.extents)
    return Busyness(executed if stores else 1.0, tuple(sorted(set(_idle(work.root, walk)))))


def _idle(block: Block, walk: Walk) -> Iterator[int]:
    for inner in block.inner:
        for part in (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise):
            if walk.runs.get(id(part), 0):
                yield from _idle(part, walk)
            elif _touches_memory(part):
                yield inner.line + 1


def _touches_memory(block: Block) -> bool:
    parts = [part for i in block.inner for part in ((i.body,) if isinstance(i, Loop) else (i.then, i.otherwise))]
    return bool(block.accesses) or any(_touches_memory(part) for part in parts)
