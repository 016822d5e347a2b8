"""Loops: lanes leave one by one, and those that stay are run alone when many have left."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tree_sitter import Node

from model.opencl.syntax import LOOP_EXITS, find
from model.sampling.code import Run
from model.sampling.compiler import Compiler, Step
from model.sampling.conversions import truth_of
from model.sampling.dispatch import expression, statement
from model.sampling.estimate import Unfinished
from model.sampling.lanes import Compacted
from model.sampling.tickets import remaining_draws
from model.sampling.upper_bounds import Remaining, remaining_iterations
from model.sampling.values import NO_TAINT, BudgetEnded, Value

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_NARROW = 48  # lanes below which it does not pay to leave any away
_KEPT_SHARE = 0.75
_SHARE = 0.7  # of the remaining steps: the most that a loop may use, unless it is nested in another
_EXCHANGES = frozenset({"atomic_xchg", "atom_xchg", "atomic_exchange", "atomic_exchange_explicit"})


@dataclass(slots=True)
class _Loop:
    site: int
    first: Run | None
    truth: Run | None
    update: Run | None
    body: Step
    checks_first: bool
    slots: tuple[int, ...]
    cost: int
    remaining: Remaining | None
    has_exits: bool
    in_turns: bool

    def run(self, f: Lanes) -> bool:
        record = f.context.sites[self.site]
        record.begun += f.active
        if self.first is not None:
            self.first(f)
        mask, active, returned, continued = f.mask, f.active, f.returned, f.continued
        f.continued = None
        trace, context = _Trace(f.active), f.context
        limit, still_inside = f.meter.limit, 0
        if not f.loops:  # what follows is to be run as well
            f.meter.limit = f.meter.spent + _SHARE * max(0.0, limit - f.meter.spent)
        f.loops += 1
        try:
            if self.in_turns and f.active > 1:
                self.iterate_in_turns(f, record, trace)
            else:
                self.iterate(f, record, trace, is_first=not self.checks_first)
        except BudgetEnded:
            f.unfinished.append(trace.unfinished(record, context, self.site, has_exits=self.has_exits))
            if f.loops > 1 or f.meter.why != "steps" or f.meter.spent > limit:
                raise
            still_inside = trace.lanes  # counted as completed when the loop is scaled up
            f.cut_short()
        finally:
            f.loops -= 1
            f.meter.limit = limit
        f.continued = continued
        if f.returned is None or f.returned is returned:
            f.mask, f.active = mask, active
        else:
            left = ~f.returned if mask is None else mask & ~f.returned
            f.active = int(np.count_nonzero(left))
            if not f.active:
                return True
            f.mask = left
        record.completed += max(0, f.active - still_inside)
        return False

    def iterate_in_turns(self, f: Lanes, record: Value, trace: _Trace) -> None:
        """Run one lane after the other, each until it is through.

        For loops that go on until an exchange finds nothing, as those that stand for an atomic addition of floats do:
        of lanes in step each finds what the one before it has just put there, and all but one begin anew. Work-items
        that run one after the other find nothing, as those of a GPU mostly do where not all want one place.
        """
        for lane in np.flatnonzero(f.whole_mask()):
            mask = np.zeros(f.width, np.bool_)
            mask[lane] = True
            f.mask, f.active = mask, 1
            alone = Compacted(f, self.slots)
            try:
                self.iterate(f, record, trace, is_first=not self.checks_first)
            finally:
                alone.restore(f)

    def iterate(self, f: Lanes, record: Value, trace: _Trace, *, is_first: bool) -> None:
        """Run until no lane is left; `is_first`: the next iteration begins without a look at the condition."""
        truth, update, body = self.truth, self.update, self.body
        since, taken_by = 0, f.mask  # iterations that were not noted yet, all by these lanes
        is_inside = False  # an iteration that is counted and has not stepped yet
        try:
            while True:
                f.meter.spend(self.cost, f.width)
                if truth is not None and not is_first:
                    goes_on = truth(f)
                    if goes_on.ndim == 0:
                        if not goes_on:
                            return
                    else:
                        if f.mask is not None:
                            goes_on = goes_on & f.mask
                        count = int(np.count_nonzero(goes_on))
                        if not count:
                            return
                        if count != f.active:
                            f.mask, f.active = goes_on, count
                is_first = False
                if f.active < f.width * _KEPT_SHARE and f.width > _NARROW:
                    if since:
                        record.take(f, taken_by, since)
                        since = 0
                    alone = Compacted(f, self.slots)
                    try:
                        self.iterate(f, record, trace, is_first=True)
                    finally:
                        alone.restore(f)
                    return
                if f.mask is not taken_by:
                    if since:
                        record.take(f, taken_by, since)
                        since = 0
                    taken_by = f.mask
                since += 1
                record.taken += f.active
                trace.note(f.active)
                is_inside = True
                left = body(f)
                if f.continued is not None:
                    f.mask = f.continued if left else f.whole_mask() | f.continued
                    f.continued = None
                    f.active = int(np.count_nonzero(f.mask))
                elif left:
                    return
                if update is not None:
                    update(f)
                is_inside = False
        except BudgetEnded:
            trace.end(f, self.remaining, begun=1 if is_inside else 0)
            raise
        finally:
            if since:
                record.take(f, taken_by, since)


class _Trace:
    """How many lanes were in a loop, iteration by iteration, as far as an estimate of the rest needs it."""

    __slots__ = ("begun", "bound", "is_ended", "iterations", "lane_iterations", "lanes", "marks")

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self.lanes = begun
        self.bound: float | None = None
        self.is_ended = False
        self.iterations = 0
        self.lane_iterations = 0.0
        self.marks: list[tuple[int, int]] = [(0, begun)]  # at powers of two

    def note(self, lanes: int) -> None:
        self.lanes = lanes
        self.iterations += 1
        self.lane_iterations += lanes
        if self.iterations & (self.iterations - 1) == 0:
            self.marks.append((self.iterations, lanes))

    def end(self, f: Lanes, remaining: Remaining | None, *, begun: int) -> None:
        """End the loop, as the budget is spent.

        Look how far its lanes would go, those that are in it alone, beyond what they have `begun`.
        """
        if not self.is_ended and remaining is not None:
            with suppress(BudgetEnded, ValueError, IndexError):  # a value of lanes that were left away
                far = remaining(f)
                self.bound = max(0.0, far - begun) if far is not None else None
        self.is_ended = True

    def unfinished(self, record: Value, context: Value, site: int, *, has_exits: bool) -> Unfinished:
        half = [m for m in self.marks if m[0] <= max(1, self.iterations // 2)][-1]
        return Unfinished(
            record, context, site, self.begun, self.lanes, self.iterations, self.lane_iterations, half, self.bound,
            has_exits,
        )  # fmt: skip


def loop(c: Compiler, node: Node) -> Step:
    """Compile `for`, `while` and `do`."""
    with c.scope(), c.slots_of() as slots:
        first = None
        initial = node.child_by_field_name("initializer")
        if initial is not None:
            first = statement(c, initial) if initial.type == "declaration" else expression(c, initial).run
        outer_cost, c.cost = c.cost, 4
        condition_node, update_node = node.child_by_field_name("condition"), node.child_by_field_name("update")
        condition = expression(c, condition_node) if condition_node is not None else None
        body_node = node.child_by_field_name("body")
        if body_node is None:
            raise c.refuse("a loop has no body", node)
        with c.scope():
            body = statement(c, body_node)
        update = expression(c, update_node).run if update_node is not None else None
        is_endless = condition is None or (condition.constant is not None and bool(condition.constant))
        taint = condition.taint if condition is not None else NO_TAINT
        c.ending_taints |= taint
        site = c.site(node, taint)
        is_joined = condition_node is not None and "&&" in c.reader.text(condition_node)
        has_exits = is_joined or any(find(body_node, *LOOP_EXITS))
        remaining = remaining_iterations(c, condition_node, node)
        if remaining is None:
            remaining = remaining_draws(c, node, body_node)
            has_exits = has_exits and remaining is None  # the one exit is what the estimate rests on
        in_turns = condition_node is not None and any(
            _is_exchange(c, call) for call in find(condition_node, "call_expression")
        )
        c.takes_turns |= in_turns
        cost, c.cost = c.cost, outer_cost  # each iteration is charged when it runs
    truth = truth_of(condition) if condition is not None and not is_endless else None
    return _Loop(
        site, first, truth, update, body, node.type != "do_statement", tuple(sorted(slots)), cost, remaining,
        has_exits, in_turns,
    ).run  # fmt: skip


def _is_exchange(c: Compiler, call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and c.reader.text(function) in _EXCHANGES
