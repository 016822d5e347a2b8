"""A launch's work apart: by source line, and by what stands around it. Computed when asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

from model.work.counts import AccessCount, LineCount, OpCount
from model.work.features.vectorization_contexts import ContextCount, contexts_of
from model.work.regions.flat_blocks import OpKey, Outline
from model.work.walk.walk import Walk


class Breakdown:
    """Of one launch; `counted` gives the counts of accesses by their identity."""

    def __init__(self, outline: Outline, walk: Walk, counted: Mapping[int, AccessCount], group_items: int) -> None:
        self.outline, self.walk, self.counted, self.group_items = outline, walk, counted, group_items

    @cached_property
    def lines(self) -> tuple[LineCount, ...]:
        """By source line, ascending."""
        ops: dict[int, dict[OpKey, float]] = defaultdict(lambda: defaultdict(float))
        accesses: dict[int, list[AccessCount]] = defaultdict(list)
        barriers: dict[int, float] = defaultdict(float)
        for part in self.outline.parts:
            runs = self.walk.runs.get(id(part.block), 0.0)
            if runs <= 0:
                continue
            for line, kind, element, count, width, function, _ in part.block.ops:
                if count:
                    ops[line][kind, element, width, function] += count * runs
            for line in part.block.barriers:
                barriers[line] += runs / self.group_items
            for access in part.accesses:
                counted = self.counted.get(id(access))
                if counted is not None:
                    accesses[access.line].append(counted)
        return tuple(
            LineCount(
                line,
                tuple(OpCount(k, e, n, w, f) for (k, e, w, f), n in ops[line].items()),
                tuple(accesses[line]),
                barriers[line],
            )
            for line in sorted({*ops, *accesses, *barriers})
        )

    @cached_property
    def contexts(self) -> tuple[ContextCount, ...]:
        """By surroundings, in the order of `Context`."""
        return contexts_of(self.outline, self.walk, self.counted)

    def moved(self, line: Callable[[int], int], accesses: Mapping[AccessCount, AccessCount]) -> Breakdown:
        """With lines where they are now; `accesses` gives for each access as it was the moved one."""
        return _Moved(self, line, accesses)


class _Moved(Breakdown):
    def __init__(
        self, origin: Breakdown, line: Callable[[int], int], accesses: Mapping[AccessCount, AccessCount]
    ) -> None:
        super().__init__(origin.outline, origin.walk, origin.counted, origin.group_items)
        self._origin, self._line, self._accesses = origin, line, accesses

    @cached_property
    def lines(self) -> tuple[LineCount, ...]:
        return tuple(
            replace(cost, line=self._line(cost.line), accesses=tuple(self._accesses[a] for a in cost.accesses))
            for cost in self._origin.lines
        )

    @cached_property
    def contexts(self) -> tuple[ContextCount, ...]:
        return self._origin.contexts
