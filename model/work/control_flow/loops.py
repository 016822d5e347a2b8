"""Loops of the source: tried once to see what changes and how, then counted once as a loop, or unrolled."""

from __future__ import annotations

from tree_sitter import Node

from model.opencl.syntax import find
from model.opencl.types import PointerType, ScalarType, StructType, Type, VectorType
from model.work.control_flow.branches import go_on_unless
from model.work.control_flow.declarations import run_declaration
from model.work.control_flow.dependent_loads import mark_dependent
from model.work.control_flow.loop_trips import Trips, over_counter, trips_of
from model.work.control_flow.trial import Trial, iteration_condition, run_iteration, try_iteration
from model.work.counts import OpKind
from model.work.execution.builder import Builder, PendingBranch, PendingLoop, PendingOp
from model.work.execution.costs import forget_available, new_block
from model.work.execution.dispatch import value_of
from model.work.execution.findings import data_parameter, unknown_number
from model.work.execution.flow import Exit, Flow, LoopFrame
from model.work.execution.loads import load_from
from model.work.execution.lvalues import Location
from model.work.execution.narrow_ids import stepped_ids
from model.work.execution.reuse import carried
from model.work.execution.selection import conjunction, merge_values
from model.work.execution.state import ExecutionState
from model.work.execution.stores import store_access
from model.work.execution.values import Other, Scalar, Value, is_float, numbers_in, with_numbers
from model.work.execution.variables import completed, fresh_value
from model.work.execution.writes import Origin, Spot, Write
from model.work.expressions.chains import chain_length, whole_chain_length
from model.work.expressions.operations import less, operation
from model.work.expressions.symbolic import ZERO, Atom, Expression
from model.work.regions.enclosing_scopes import CARRIED
from model.work.regions.region import Event

MAX_LOOP_DEPTH = 24
MAX_UNROLLED_STEPS = 700  # nodes of the source over all iterations, as compilers bound what they unroll
LOOP_OPERATIONS = 3  # the counter's step, its comparison and the jump: GPUs' compilers, once asked, leave few of them
FEW_TRIPS = 4  # that are always followed
LOST_CHAIN = 2
Links = list[tuple[Atom, int, int]]  # a value of a variable at the start of an iteration: variable, component


def run_loop(state: ExecutionState, node: Node) -> Flow:
    state.variables.scopes.append({})
    initializer = node.child_by_field_name("initializer")
    if initializer is not None:
        if initializer.type == "declaration":
            run_declaration(state, initializer)
        else:
            value_of(state, initializer)
    state.at(node)
    line = state.line
    flow = _whole_loop(state, node, line) if len(state.control.frames) < MAX_LOOP_DEPTH else Flow.NEXT
    state.line = line
    state.variables.scopes.pop()
    return flow


def _copies(state: ExecutionState, node: Node, length: int | None) -> int:
    """Return how many iterations a pragma or an attribute before the loop asks to put one behind the other."""
    times = state.reader.masked.unroll_hint(node.start_byte)
    if times is None:
        return 1
    if length is None:  # asked for all of them, compilers choose
        return max(1, times)
    return max(1, min(times or length, length))


def _whole_loop(state: ExecutionState, node: Node, line: int) -> Flow:
    entry, available = dict(state.variables.values), len(state.computed.found)
    tried = try_iteration(state, node)
    state.variables.values = {**entry, **{k: completed(state, entry[k]) for k in tried.touched}}
    trips = trips_of(state, node, tried, line)
    length = trips.count.constant
    if length == 0:
        state.variables.values = entry
        if node.child_by_field_name("condition") is not None:
            iteration_condition(state, node)
        return Flow.NEXT
    if length is not None and not state.counting_disabled and _is_followed(length, tried):
        state.control.unrolled.update(range(line, line + node.end_point[0] - node.start_point[0] + 1))
        return _unrolled(state, node, length)
    counter_atom = Atom.new("symbol", (f"loop.{state.tick()}",))
    unrolls = length is not None and length * tried.steps <= MAX_UNROLLED_STEPS
    if unrolls:
        state.computed.constants.add(counter_atom)
    before = _carry(state, tried)
    mark = state.memory.writes.mark()
    outer = state.block
    begun = outer if length is not None or trips.leaves is not None else new_block(state)
    frame = LoopFrame(state.tick(), {counter_atom}, outer, begun, new_block(state), promoted=tried.promoted)
    kept = _memory_at_start(state, tried, before)
    links = _enter(state, tried, Expression({(counter_atom,): 1}))
    loop: PendingLoop | None = None
    if not state.counting_disabled:
        state.block = frame.body
        state.control.frames.append(frame)
        state.line = line
        start = state.steps
        condition = _in_region(state, node, frame)
        state.lifetimes.loops.append((start, state.steps))
        state.control.frames.pop()
        state.block = outer
        if not unrolls:
            frame.body.ops.append(PendingOp(line, OpKind.BRANCH, "i32", "", 1, ()))
            frame.body.fused += LOOP_OPERATIONS * (1 - 1 / _copies(state, node, length))
        conditions = (condition, *(c for _, c in tried.exits))
        leaves = over_counter(trips.leaves, tried, Expression({(counter_atom,): 1})) if trips.leaves else None
        if trips.leaves is None:
            stepped = None if unrolls else state.memory.stepped
            around = (*outer.accesses, *begun.accesses)
            begun.accesses += carried(frame.body, around, counter_atom, stepped, _unaliased(state))
        loop = PendingLoop(trips.count, counter_atom, frame.body, line, _chain(state, tried), conditions, leaves)
        loop.accumulators, loop.site = _accumulators(state, tried), state.site(node)
        if begun is not outer and (begun.ops or begun.accesses):
            outer.inner.append(_if_begun(state, node, trips.count, begun, loop))
        outer.inner.append(loop)
    _link(state, links, tried, kept, entry)
    if loop is not None and links:
        mark_dependent(frame.body, {atom for atom, _, _ in links}, state.rests)
    forget_available(state, available, outer.level)
    _leave(state, tried, entry, trips.count)
    _memory_after(state, tried, kept, trips.count, mark, node)
    if loop is not None and trips.leaves is not None and (trips.leaves.ends_in_header or _asks_memory(state, node)):
        # Once more than the body: the time it fails.
        loop.conditions = (*loop.conditions, iteration_condition(state, node))
    state.line = line
    return _returned(state, node, trips, tried, line)


def _asks_memory(state: ExecutionState, node: Node) -> bool:
    """Return whether an atomic operation is part of a condition that is asked once more than the loop runs."""
    condition = node.child_by_field_name("condition") if node.type != "do_statement" else None
    calls = list(find(condition, "call_expression")) if condition is not None else []
    functions = [function for call in calls if (function := call.child_by_field_name("function")) is not None]
    return any(state.reader.text(function).startswith(("atomic_", "atom_")) for function in functions)


def _in_region(state: ExecutionState, node: Node, frame: LoopFrame) -> Expression:
    """Return one iteration, after which only what leaves the function still counts as left."""
    path, exits = len(state.control.path), len(state.control.exits)
    condition = run_iteration(state, node, frame)
    del state.control.path[path:], state.control.exits[exits:]
    return condition


def _unrolled(state: ExecutionState, node: Node, length: int) -> Flow:
    """Run iteration after iteration, with what is known in each."""
    path, exits, block = len(state.control.path), len(state.control.exits), state.block
    flow = Flow.NEXT
    for _ in range(length):
        run_iteration(state, node)
        flow = state.control.last_flow
        state.block = block
        del state.control.path[path:]
        if flow > Flow.CONTINUE:
            break
    if node.type != "do_statement" and flow <= Flow.CONTINUE:
        iteration_condition(state, node)
    left = [e for e in state.control.exits[exits:] if e.flow is Flow.BREAK]
    if left and flow > Flow.CONTINUE:
        flow = Flow.BREAK
        state.variables.values = dict(left[-1].values)
    for exit_ in left:
        state.variables.values = merge_values(
            state, conjunction(exit_.path[path:]), exit_.values, state.variables.values
        )
    state.control.exits[exits:] = [e for e in state.control.exits[exits:] if e.flow is Flow.RETURN]
    if flow is Flow.RETURN:
        return flow
    if state.control.exits[exits:]:
        go_on_unless(state, node, [conjunction(e.path[path:]) for e in state.control.exits[exits:]])
    return Flow.NEXT


def _chain(state: ExecutionState, tried: Trial) -> float:
    """Return how many additions of floats each iteration waits for; integer operations count as what they take.

    A carried float that is lost sight of counts a few.
    """
    floats = [k for k in tried.touched if _holds_floats(state.variables.types[k])]
    followed = [v for k in floats for v in tried.variables.get(k, ())]
    known = [k for k in floats if k in tried.variables]
    lost = len(floats) > len(known) or any(v.after.has("unknown") for v in followed)
    whole = [v for k, found in tried.variables.items() if k not in floats for v in found]
    return max(chain_length(followed), LOST_CHAIN if lost else 0, whole_chain_length(whole))


def _accumulators(state: ExecutionState, tried: Trial) -> int:
    """Return how many sums and products are carried side by side, each waiting for itself alone."""
    floats = (k for k in tried.touched if _holds_floats(state.variables.types[k]))
    return sum(1 for k in floats for v in tried.variables.get(k, ()) if chain_length([v]))


def _returned(state: ExecutionState, node: Node, trips: Trips, tried: Trial, line: int) -> Flow:
    """Return what follows a loop that returns from the function runs for those that did not."""
    if not any(e.flow is Flow.RETURN for e, _ in tried.exits):
        return Flow.NEXT
    condition, share = trips.returned, None
    if condition is None:
        text = "the data decide which work-items return from the loop on line {line}"
        text = f"{text}: assumed for {trips.likely_return * 100:.0f} % of them"
        share = data_parameter(state, "share.{line}", 1 - trips.likely_return, 1.5, text)
        condition = operation("not", Expression({(share,): 1}))
    if condition.constant == 0:
        return Flow.NEXT
    if condition.constant is not None:
        state.control.exits.append(Exit(Flow.RETURN, tuple(state.control.path), {}))
        return Flow.RETURN
    state.control.exits.append(Exit(Flow.RETURN, (*state.control.path, condition), {}))
    stays = operation("not", condition)
    state.control.path.append(stays)
    side = new_block(state)
    branch = PendingBranch(stays, side, new_block(state), line, share, state.site(node), Event.COMPLETED)
    state.block.inner.append(branch)
    state.block = side
    return Flow.NEXT


def _enter(state: ExecutionState, tried: Trial, counter: Expression) -> Links:
    """Values at the start of iteration `counter`."""
    symbols = frozenset(v.symbol for vs in tried.variables.values() for v in vs)
    links: Links = []
    for key in tried.touched:
        value = state.variables.values[key]
        inductions = tried.variables.get(key)
        if inductions is None or isinstance(value, Other):
            state.variables.values[key] = fresh_value(state, state.variables.types[key], CARRIED)
        else:
            parts = []
            for induction in inductions:
                at = induction.at(counter, symbols - {induction.symbol})
                parts.append(at if at is not None else unknown_number(state, CARRIED))
            value = with_numbers(value, tuple(parts))
            if isinstance(value, Scalar) and value.ids:
                value = value._replace(ids=stepped_ids(value.ids, tried.ids.get(key)))
            state.variables.values[key] = value
        for index, part in enumerate(numbers_in(state.variables.values[key])):
            if part.atom is not None and part.atom.kind in ("unknown", "iterate"):
                links.append((part.atom, key, index))
    return links


def _link(
    state: ExecutionState, links: Links, tried: Trial, kept: dict[Spot, tuple[Expression, ...]], entry: dict[int, Value]
) -> None:
    """Note that an iteration starts with what the one before ended with, or with what was before all."""
    keys = dict.fromkeys(key for _, key, _ in links)
    bounds = {key: (numbers_in(entry[key]), numbers_in(state.variables.values[key])) for key in keys}
    for atom, key, index in links:
        starts, ends = bounds[key]
        same = index < len(starts) and index < len(ends) and key in tried.variables
        state.rests[atom] = (starts[index], ends[index]) if same else (*starts, *ends)
    for spot, parts in kept.items():
        last = state.memory.writes.last(spot)
        for part in parts:
            if part.atom is not None and last is not None and last.value is not None:
                state.rests[part.atom] = (*state.rests.get(part.atom, ()), *last.value)


def _leave(state: ExecutionState, tried: Trial, entry: dict[int, Value], trips: Expression) -> None:
    symbols = frozenset(v.symbol for vs in tried.variables.values() for v in vs)
    for key in tried.touched:
        value, inductions = completed(state, entry[key]), tried.variables.get(key)
        starts, ends = numbers_in(value), numbers_in(state.variables.values[key])
        at_exits = _set_at_exits(tried, key)
        if inductions is None or at_exits or isinstance(value, Other):
            state.variables.values[key] = fresh_value(
                state, state.variables.types[key], "set in a loop", rests=(*starts, *ends, *at_exits)
            )
            continue
        parts = []
        for index, induction in enumerate(inductions):
            at = induction.at(trips, symbols - {induction.symbol})
            same = len(ends) == len(starts) == len(inductions)
            rests = (starts[index], ends[index]) if same else (*starts, *ends)
            if at is not None and at.atom is not None and at.atom.kind == "iterate":
                state.rests[at.atom] = rests
            parts.append(at if at is not None else unknown_number(state, "set in a loop", *rests))
        state.variables.values[key] = with_numbers(value, tuple(parts))
    for key in [k for k in state.variables.values if k not in entry]:
        del state.variables.values[key]


def _set_at_exits(tried: Trial, key: int) -> tuple[Expression, ...]:
    """Return the values that a variable has after a `break` only, and after no other iteration.

    After `found = 1; break;` the code behind the loop must not take `found` for what it was before.
    """
    inductions = tried.variables.get(key, ())
    usual = {expression for each in inductions for expression in (Expression({(each.symbol,): 1}), each.after)}
    values = (e.values[key] for e, _ in tried.exits if e.flow is Flow.BREAK and key in e.values)
    return tuple(part for value in values for part in numbers_in(value) if part not in usual)


def _carry(state: ExecutionState, tried: Trial) -> dict[Spot, tuple[Expression, ...]]:
    """Load before the loop what each iteration would load only to find what the one before stored."""
    before = {}
    state.accessed = None
    for spot in tried.carried:
        kind = tried.loaded.get(spot)
        if isinstance(kind, ScalarType | VectorType) and spot.offset is not None:
            before[spot] = numbers_in(load_from(state, spot.memory, spot.offset, kind, spot.size))
        else:
            before[spot] = state.memory.writes.held(spot) or ()
    return before


def _if_begun(
    state: ExecutionState, node: Node, trips: Expression, block: Builder, loop: PendingLoop | None = None
) -> PendingBranch:
    """Return a branch into `block` for those who begin an iteration of the loop at `node`."""
    condition, site = less(ZERO, trips), state.site(node)
    return PendingBranch(condition, block, new_block(state), state.line, None, site, Event.ENTERED, loop)


def _unaliased(state: ExecutionState) -> set[str]:
    parameters = state.kernel.parameters
    return {p.name for p in parameters if isinstance(p.type, PointerType) and p.type.is_restrict}


def _memory_at_start(
    state: ExecutionState, tried: Trial, before: dict[Spot, tuple[Expression, ...]]
) -> dict[Spot, tuple[Expression, ...]]:
    """Return what memory holds at the start of an iteration; gives what is carried from one to the next."""
    _clobber(state, tried)
    kept = {}
    for spot in tried.carried:
        held = next(w.value for w in reversed(tried.writes) if w.spot == spot and w.value is not None)
        parts = tuple(unknown_number(state, "kept in memory", *before[spot]) for _ in held)
        kept[spot] = parts
        state.memory.writes.add(Write(state.tick(), spot, parts, origin=Origin.LOOP))
    return kept


def _clobber(state: ExecutionState, tried: Trial) -> None:
    for write in tried.writes:
        spot = write.spot
        if spot is not None and spot not in tried.fixed:
            spot = Spot(spot.memory, None, spot.size, spot.element)
        state.memory.writes.add(Write(state.tick(), spot, None, origin=Origin.LOOP))


def _memory_after(
    state: ExecutionState,
    tried: Trial,
    kept: dict[Spot, tuple[Expression, ...]],
    trips: Expression,
    mark: int,
    node: Node,
) -> None:
    state.accessed = None
    last = {spot: state.memory.writes.held(spot) or parts for spot, parts in kept.items()}
    state.memory.writes.cut(mark)
    _clobber(state, tried)
    block, promoted = state.block, tried.promoted
    if promoted and trips.constant is None and not state.counting_disabled:
        begun = new_block(state)
        state.block.inner.append(_if_begun(state, node, trips, begun))
        state.block = begun
    for spot, value in last.items():
        if spot in promoted and spot.offset is not None:
            store_access(state, Location(spot.memory, spot.offset, _kind_of(spot)), spot.size, value)
    state.block = block
    for spot, value in last.items():
        after = tuple(unknown_number(state, "kept in memory", *kept[spot], part) for part in value)
        state.memory.writes.add(Write(state.tick(), spot, after, origin=Origin.LOOP))


def _is_followed(length: int, tried: Trial) -> bool:
    """Return whether to go through the iterations one by one, where arrays become registers then.

    Elsewhere it is enough to know that compilers unroll, and so know the counter.
    """
    if any(condition.constant is None for _, condition in tried.exits) and length > 1:
        return False
    if length == 1:
        return True
    return length * tried.steps <= MAX_UNROLLED_STEPS and (tried.has_registers or length <= FEW_TRIPS)


def _kind_of(spot: Spot) -> Type:
    return spot.memory.type


def _holds_floats(kind: Type) -> bool:
    if isinstance(kind, StructType):
        return any(_holds_floats(member) for member in {of for _, of in kind.members})
    return is_float(kind)
