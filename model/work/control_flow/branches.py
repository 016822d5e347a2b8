"""Branches: both sides run, then what they have made meets again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from model.opencl.builtin_types import INT
from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.execution.builder import Builder, PendingBranch, PendingOp, cheap_enough
from model.work.execution.costs import count_operations, forget_available, make_available, new_block
from model.work.execution.dispatch import run_statement
from model.work.execution.findings import share_of
from model.work.execution.flow import Flow, Start, Way
from model.work.execution.selection import conjunction, merge_values
from model.work.execution.state import ExecutionState
from model.work.execution.stores import forget_shared
from model.work.execution.writes import Origin, Spot, Stored, Write, distinct_spots, overlaps
from model.work.expressions.operations import any_of, operation
from model.work.expressions.symbolic import Expression
from model.work.regions.region import Event


def run_statements(state: ExecutionState, nodes: Iterable[Node]) -> Flow:
    """Run statements until one of them leaves."""
    for node in state.control.jumps.structured(list(nodes)):
        flow = run_statement(state, node)
        if flow is not Flow.NEXT:
            return flow
    return Flow.NEXT


def fork(
    state: ExecutionState,
    node: Node,
    condition: Expression,
    then: Callable[[], Flow],
    otherwise: Callable[[], Flow],
    *,
    may_speculate: bool = True,
) -> Flow:
    """Run a branch at `node` whose sides are `then` and `otherwise`.

    Where one side leaves, what follows is counted inside the other.
    """
    start = Start(
        state.block,
        state.variables.values,
        len(state.control.path),
        len(state.control.exits),
        len(state.computed.found),
        state.memory.writes.mark(),
    )
    line = state.line
    yes = _way(state, start, condition, then)
    no = _way(state, start, operation("not", condition), otherwise)
    state.line = line
    state.block = start.block
    branch = PendingBranch(condition, yes.builder, no.builder, line, None, state.site(node))
    both_go_on = yes.flow is Flow.NEXT and no.flow is Flow.NEXT
    left = state.control.exits[start.exits :]
    if may_speculate and both_go_on and not left and cheap_enough(yes.builder, no.builder):
        state.block.ops += yes.builder.ops + no.builder.ops
        count_operations(state, OpKind.INTEGER, INT)
        for op in yes.builder.ops + no.builder.ops:
            make_available(state, op.results, state.block)
    else:
        if not state.counting_disabled:
            state.block.ops.append(PendingOp(line, OpKind.BRANCH, "i32", "", 1, ()))
        branch.share = share_of(state, condition)
        state.block.inner.append(branch)
    if both_go_on:
        _meet(state, start, condition, yes, no)
        if left:
            go_on_unless(state, node, [conjunction(e.path[start.path :]) for e in left])
        return Flow.NEXT
    if yes.flow is not Flow.NEXT and no.flow is not Flow.NEXT:
        return min(yes.flow, no.flow)  # some get as far as that: they still run a loop's update, or what follows it
    _go_on_in(state, no if yes.flow is not Flow.NEXT else yes)
    return Flow.NEXT


def _way(state: ExecutionState, start: Start, condition: Expression, run: Callable[[], Flow]) -> Way:
    """Run one side from `start`; gives its end, and leaves the state unchanged but for exits."""
    builder = Builder(start.block.level + 1)
    state.block, state.variables.values = builder, dict(start.values)
    state.control.path.append(condition)
    flow = run()
    path, found = state.control.path[start.path :], state.computed.found[start.found :]
    writes = state.memory.writes.cut(start.writes)
    way = Way(flow, builder, state.block, state.variables.values, path, found, writes)
    state.variables.values = start.values
    del state.control.path[start.path :]
    forget_available(state, start.found, start.block.level)
    return way


def _go_on_in(state: ExecutionState, way: Way) -> None:
    """Go on inside one side, since the other has left."""
    state.block, state.variables.values = way.end, way.values
    state.control.path += way.path
    for value, level in way.found:
        if value not in state.computed.available:
            state.computed.available.add(value)
            state.computed.found.append((value, level))
    for write in way.writes:
        state.memory.writes.add(write)


def _meet(state: ExecutionState, start: Start, condition: Expression, yes: Way, no: Way) -> None:
    """Both sides go on: values are chosen between, and what both have made is at hand."""
    state.variables.values = merge_values(state, condition, yes.values, no.values)
    in_no = {value for value, _ in no.found}
    make_available(state, tuple(value for value, _ in yes.found if value in in_no), start.block)
    if not yes.writes and not no.writes:
        return
    after_yes, after_no = (_held_after(state, way.writes, [*yes.writes, *no.writes]) for way in (yes, no))
    for write in (*yes.writes, *no.writes):
        if write.spot is None:
            forget_shared(state)
    for spot, a in after_yes.items():
        b = after_no[spot]
        value = None
        if a is not None and b is not None and len(a) == len(b):
            value = tuple(operation("select", condition, x, y) for x, y in zip(a, b, strict=True))
        stored = _stored_by_some(spot, condition, yes.writes, no.writes)
        state.memory.writes.add(Write(state.tick(), spot, value, is_sure=False, stored=stored))


def _held_after(
    state: ExecutionState, writes: list[Write], all_writes: list[Write]
) -> dict[Spot, tuple[Expression, ...] | None]:
    mark = state.memory.writes.mark()
    for write in writes:
        state.memory.writes.add(write)
    held = {spot: state.memory.writes.held(spot) for spot in distinct_spots(all_writes)}
    state.memory.writes.cut(mark)
    return held


def go_on_unless(state: ExecutionState, node: Node, left: list[Expression]) -> None:
    """Go on with those work-items that did not leave `node` by one of the ways in `left`."""
    stays = operation("not", any_of(left))
    state.control.path.append(stays)
    side = new_block(state)
    share, site = share_of(state, stays), state.site(node)
    branch = PendingBranch(stays, side, new_block(state), state.line, share, site, Event.COMPLETED)
    state.block.inner.append(branch)
    state.block = side


def _stored_by_some(spot: Spot, condition: Expression, yes: list[Write], no: list[Write]) -> Stored | None:
    """Return what is stored on one side of a branch, while the other leaves that place alone."""
    if spot.memory.space is not AddressSpace.LOCAL:
        return None
    mine, met = (yes, condition) if any(w.spot == spot for w in yes) else (no, operation("not", condition))
    others = no if mine is yes else yes
    if any(w.spot is None for w in (*yes, *no)) or any(w.spot is not None and overlaps(w.spot, spot) for w in others):
        return None
    last = next(w for w in reversed(mine) if w.spot is not None and overlaps(w.spot, spot))
    if last.spot != spot or last.origin is Origin.LOOP:
        return None
    if last.stored is not None:
        return Stored(last.stored.value, (met, *last.stored.conditions))
    return Stored(last.value, (met,)) if last.value is not None else None
