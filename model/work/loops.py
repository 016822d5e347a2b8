"""Loops of the source: tried once to see what changes and how, then counted once as a loop, or unrolled."""

from __future__ import annotations

from tree_sitter import Node

from model.opencl.types import PointerType, ScalarType, StructType, Type, VectorType
from model.work.builder import Builder, PendingAccess, PendingBranch, PendingLoop, PendingOp
from model.work.chain import chain_length
from model.work.comparisons import less
from model.work.counts import OpKind
from model.work.flow import Exit, Flow
from model.work.loop_trips import LoopTrips, Trips, over_counter
from model.work.machine import LoopFrame
from model.work.operations import operation
from model.work.places import Location
from model.work.region import Event
from model.work.reuse import carried
from model.work.symbolic import ONE, ZERO, Atom, Expression
from model.work.trial import Trial
from model.work.uniform import CARRIED
from model.work.values import Other, Value, is_float, numbers_in, with_numbers
from model.work.writes import Origin, Spot, Write

MAX_LOOP_DEPTH = 24
MAX_UNROLLED_STEPS = 700  # nodes of the source over all iterations, as compilers bound what they unroll
LOOP_OPERATIONS = 3  # the counter's step, its comparison and the jump: GPUs' compilers, once asked, leave few of them
FEW_TRIPS = 4  # that are always followed
LOST_CHAIN = 2

Links = list[tuple[Atom, int, int]]  # a value of a variable at the start of an iteration: variable, component


class Loops(LoopTrips):
    """`run_loop(node)` for every kind of loop."""

    def run(self, node: Node) -> Flow:
        raise NotImplementedError

    def declaration(self, node: Node) -> None:
        raise NotImplementedError

    def go_on_unless(self, node: Node, left: list[Expression]) -> None:
        raise NotImplementedError

    def run_loop(self, node: Node) -> Flow:
        self.scopes.append({})
        initializer = node.child_by_field_name("initializer")
        if initializer is not None:
            if initializer.type == "declaration":
                self.declaration(initializer)
            else:
                self.value(initializer)
        self.at(node)
        line = self.line
        flow = self._whole_loop(node, line) if len(self.frames) < MAX_LOOP_DEPTH else Flow.NEXT
        self.line = line
        self.scopes.pop()
        return flow

    def _copies(self, node: Node, length: int | None) -> int:
        """Return how many iterations a pragma or an attribute before the loop asks to put one behind the other."""
        times = self.reader.masked.unroll_hint(node.start_byte)
        if times is None:
            return 1
        if length is None:  # asked for all of them, compilers choose
            return max(1, times)
        return max(1, min(times or length, length))

    def _whole_loop(self, node: Node, line: int) -> Flow:
        entry, available = dict(self.values), len(self.found)
        tried = self.trial(node)
        self.values = {**entry, **{k: self.completed(entry[k]) for k in tried.touched}}
        trips = self.trips(node, tried, line)
        length = trips.count.constant
        if length == 0:
            self.values = entry
            if node.child_by_field_name("condition") is not None:
                self.iteration_condition(node)
            return Flow.NEXT
        if length is not None and not self.dry and _is_followed(length, tried):
            self.unrolled.update(range(line, line + node.end_point[0] - node.start_point[0] + 1))
            return self._unrolled(node, length)
        counter_atom = Atom.new("symbol", (f"loop.{self.tick()}",))
        unrolls = length is not None and length * tried.steps <= MAX_UNROLLED_STEPS
        if unrolls:
            self.constants.add(counter_atom)
        before = self._carry(tried)
        mark = self.writes.mark()
        outer = self.block
        frame = LoopFrame(self.tick(), {counter_atom}, outer, self.new_block(), promoted=tried.promoted)
        kept = self._memory_at_start(tried, before)
        links = self._enter(tried, Expression({(counter_atom,): 1}))
        loop: PendingLoop | None = None
        if not self.dry:
            self.block = frame.body
            self.frames.append(frame)
            self.line = line
            start = self.steps
            condition = self._in_region(node)
            self.lifetimes.loops.append((start, self.steps))
            self.frames.pop()
            self.block = outer
            if not unrolls:
                frame.body.ops.append(PendingOp(line, OpKind.BRANCH, "i32", "", 1, ()))
                frame.body.fused += LOOP_OPERATIONS * (1 - 1 / self._copies(node, length))
            conditions = (condition, *(c for _, c in tried.exits))
            leaves = over_counter(trips.leaves, tried, Expression({(counter_atom,): 1})) if trips.leaves else None
            if trips.leaves is None:
                self._load_before(
                    carried(frame.body, outer, counter_atom, None if unrolls else self.stepped, self._unaliased()),
                    trips.count,
                    node,
                )
            loop = PendingLoop(trips.count, counter_atom, frame.body, line, self._chain(tried), conditions, leaves)
            loop.accumulators, loop.site = self._accumulators(tried), self.site(node)
            outer.inner.append(loop)
        self._link(links, tried, kept, entry)
        self.lose(available, outer.level)
        self._leave(tried, entry, trips.count)
        self._memory_after(tried, kept, trips.count, mark, node)
        if trips.leaves is not None and trips.leaves.ends_in_header and loop is not None:
            # Once more than the body: the time it fails.
            loop.conditions = (*loop.conditions, self.iteration_condition(node))
        self.line = line
        return self._returned(node, trips, tried, line)

    def _in_region(self, node: Node) -> Expression:
        """Return one iteration, after which only what leaves the function still counts as left."""
        path, exits = len(self.path), len(self.exits)
        condition = self.iteration(node)
        del self.path[path:], self.exits[exits:]
        return condition

    def _unrolled(self, node: Node, length: int) -> Flow:
        """Iteration after iteration, with what is known in each."""
        path, exits, block = len(self.path), len(self.exits), self.block
        flow = Flow.NEXT
        for _ in range(length):
            self.iteration(node)
            flow = self.last_flow
            self.block = block
            del self.path[path:]
            if flow > Flow.CONTINUE:
                break
        if node.type != "do_statement" and flow <= Flow.CONTINUE:
            self.iteration_condition(node)
        left = [e for e in self.exits[exits:] if e.flow is Flow.BREAK]
        if left and flow > Flow.CONTINUE:
            flow = Flow.BREAK
            self.values = dict(left[-1].values)
        for exit_ in left:
            self.values = self.merged(self.conjunction(exit_.path[path:]), exit_.values, self.values)
        self.exits[exits:] = [e for e in self.exits[exits:] if e.flow is Flow.RETURN]
        if flow is Flow.RETURN:
            return flow
        if self.exits[exits:]:
            self.go_on_unless(node, [self.conjunction(e.path[path:]) for e in self.exits[exits:]])
        return Flow.NEXT

    def _chain(self, tried: Trial) -> int:
        """Return how many float operations each iteration waits for; a carried value that is lost sight of counts a
        few."""
        floats = [k for k in tried.touched if _holds_floats(self.types[k])]
        followed = [v for k in floats for v in tried.variables.get(k, ())]
        known = [k for k in floats if k in tried.variables]
        lost = len(floats) > len(known) or any(v.after.has("unknown") for v in followed)
        return max(chain_length(followed), LOST_CHAIN if lost else 0)

    def _accumulators(self, tried: Trial) -> int:
        """Return how many sums and products are carried side by side, each waiting for itself alone."""
        floats = (k for k in tried.touched if _holds_floats(self.types[k]))
        return sum(1 for k in floats for v in tried.variables.get(k, ()) if chain_length([v]))

    def _returned(self, node: Node, trips: Trips, tried: Trial, line: int) -> Flow:
        """Return what follows a loop that returns from the function runs for those that did not."""
        if not any(e.flow is Flow.RETURN for e, _ in tried.exits):
            return Flow.NEXT
        condition, share = trips.returned, None
        if condition is None:
            text = "the data decide which work-items return from the loop on line {line}"
            text = f"{text}: taken for {trips.likely_return * 100:.0f} % of them"
            share = self.data_parameter("share.{line}", 1 - trips.likely_return, 1.5, text)
            condition = operation("not", Expression({(share,): 1}))
        if condition.constant == 0:
            return Flow.NEXT
        if condition.constant is not None:
            self.exits.append(Exit(Flow.RETURN, tuple(self.path), {}))
            return Flow.RETURN
        self.exits.append(Exit(Flow.RETURN, (*self.path, condition), {}))
        stays = operation("not", condition)
        self.path.append(stays)
        side = self.new_block()
        branch = PendingBranch(stays, side, self.new_block(), line, share, self.site(node), Event.COMPLETED)
        self.block.inner.append(branch)
        self.block = side
        return Flow.NEXT

    # --- an iteration ------------------------------------------------------------------------------------

    def iteration(self, node: Node) -> Expression:
        """Condition, body and update of one iteration, as often as they are met; gives the condition."""
        update, body = node.child_by_field_name("update"), node.child_by_field_name("body")
        is_do = node.type == "do_statement"
        condition = ONE if is_do else self.iteration_condition(node)
        inside, exits, path = self.block, len(self.exits), len(self.path)
        flow = self.run(body) if body is not None else Flow.NEXT
        self.block = inside
        continued = [e for e in self.exits[exits:] if e.flow is Flow.CONTINUE]
        self.exits[exits:] = [e for e in self.exits[exits:] if e.flow is not Flow.CONTINUE]
        if continued and flow > Flow.CONTINUE:  # nobody gets to the end of the body, but some go round all the same
            flow = Flow.CONTINUE
            self.values = dict(continued[-1].values)
        for left in continued:
            if len(left.path) > path:
                self.values = self.merged(self.conjunction(left.path[path:]), left.values, self.values)
        if update is not None and flow <= Flow.CONTINUE:
            self.value(update)
        if is_do:
            condition = self.iteration_condition(node)
        self.last_flow = flow
        return condition

    def iteration_condition(self, node: Node) -> Expression:
        condition = node.child_by_field_name("condition")
        return self.truth(self.value(condition)) if condition is not None else ONE

    # --- variables ---------------------------------------------------------------------------------------

    def _enter(self, tried: Trial, counter: Expression) -> Links:
        """Values at the start of iteration `counter`."""
        symbols = frozenset(v.symbol for vs in tried.variables.values() for v in vs)
        links: Links = []
        for key in tried.touched:
            value = self.values[key]
            inductions = tried.variables.get(key)
            if inductions is None or isinstance(value, Other):
                self.values[key] = self.fresh_value(self.types[key], CARRIED)
            else:
                parts = []
                for induction in inductions:
                    at = induction.at(counter, symbols - {induction.symbol})
                    parts.append(at if at is not None else self.unknown(CARRIED))
                self.values[key] = with_numbers(value, tuple(parts))
            for index, part in enumerate(numbers_in(self.values[key])):
                if part.atom is not None and part.atom.kind in ("unknown", "iterate"):
                    links.append((part.atom, key, index))
        return links

    def _link(
        self, links: Links, tried: Trial, kept: dict[Spot, tuple[Expression, ...]], entry: dict[int, Value]
    ) -> None:
        """What an iteration starts with rests on what the one before ended with, and on what was before all."""
        keys = dict.fromkeys(key for _, key, _ in links)
        bounds = {key: (numbers_in(entry[key]), numbers_in(self.values[key])) for key in keys}
        for atom, key, index in links:
            starts, ends = bounds[key]
            same = index < len(starts) and index < len(ends) and key in tried.variables
            self.rests[atom] = (starts[index], ends[index]) if same else (*starts, *ends)
        for spot, parts in kept.items():
            last = self.writes.last(spot)
            for part in parts:
                if part.atom is not None and last is not None and last.value is not None:
                    self.rests[part.atom] = (*self.rests.get(part.atom, ()), *last.value)

    def _leave(self, tried: Trial, entry: dict[int, Value], trips: Expression) -> None:
        symbols = frozenset(v.symbol for vs in tried.variables.values() for v in vs)
        for key in tried.touched:
            value, inductions = self.completed(entry[key]), tried.variables.get(key)
            starts, ends = numbers_in(value), numbers_in(self.values[key])
            if inductions is None or isinstance(value, Other):
                self.values[key] = self.fresh_value(self.types[key], "set in a loop", rests=(*starts, *ends))
                continue
            parts = []
            for index, induction in enumerate(inductions):
                at = induction.at(trips, symbols - {induction.symbol})
                same = len(ends) == len(starts) == len(inductions)
                rests = (starts[index], ends[index]) if same else (*starts, *ends)
                if at is not None and at.atom is not None and at.atom.kind == "iterate":
                    self.rests[at.atom] = rests
                parts.append(at if at is not None else self.unknown("set in a loop", *rests))
            self.values[key] = with_numbers(value, tuple(parts))
        for key in [k for k in self.values if k not in entry]:
            del self.values[key]

    # --- memory ------------------------------------------------------------------------------------------

    def _carry(self, tried: Trial) -> dict[Spot, tuple[Expression, ...]]:
        """Load before the loop what each iteration would load only to find what the one before stored."""
        before = {}
        self.accessed = None
        for spot in tried.carried:
            kind = tried.loaded.get(spot)
            if isinstance(kind, ScalarType | VectorType) and spot.offset is not None:
                before[spot] = numbers_in(self.load_from(spot.memory, spot.offset, kind, spot.size))
            else:
                before[spot] = self.writes.held(spot) or ()
        return before

    def _load_before(self, loads: list[PendingAccess], trips: Expression, node: Node) -> None:
        """What only the first iteration loads, if there is one."""
        if not loads:
            return
        block = self.block if trips.constant is not None else self._if_begun(node, trips)
        block.accesses += loads

    def _if_begun(self, node: Node, trips: Expression) -> Builder:
        """Return a block for those who begin an iteration of the loop at `node`."""
        block = self.new_block()
        condition, line, site = less(ZERO, trips), self.line, self.site(node)
        self.block.inner.append(PendingBranch(condition, block, self.new_block(), line, None, site, Event.ENTERED))
        return block

    def _unaliased(self) -> set[str]:
        parameters = self.kernel.parameters
        return {p.name for p in parameters if isinstance(p.type, PointerType) and p.type.is_restrict}

    def _memory_at_start(
        self, tried: Trial, before: dict[Spot, tuple[Expression, ...]]
    ) -> dict[Spot, tuple[Expression, ...]]:
        """Return what memory holds at the start of an iteration; gives what is carried from one to the next."""
        self._clobber(tried)
        kept = {}
        for spot in tried.carried:
            held = next(w.value for w in reversed(tried.writes) if w.spot == spot and w.value is not None)
            parts = tuple(self.unknown("kept in memory", *before[spot]) for _ in held)
            kept[spot] = parts
            self.writes.add(Write(self.tick(), spot, parts, origin=Origin.LOOP))
        return kept

    def _clobber(self, tried: Trial) -> None:
        for write in tried.writes:
            spot = write.spot
            if spot is not None and spot not in tried.fixed:
                spot = Spot(spot.memory, None, spot.size, spot.element)
            self.writes.add(Write(self.tick(), spot, None, origin=Origin.LOOP))

    def _memory_after(
        self, tried: Trial, kept: dict[Spot, tuple[Expression, ...]], trips: Expression, mark: int, node: Node
    ) -> None:
        self.accessed = None
        last = {spot: self.writes.held(spot) or parts for spot, parts in kept.items()}
        self.writes.cut(mark)
        self._clobber(tried)
        block, promoted = self.block, tried.promoted
        if promoted and trips.constant is None and not self.dry:
            self.block = self._if_begun(node, trips)
        for spot, value in last.items():
            if spot in promoted and spot.offset is not None:
                self.store_access(Location(spot.memory, spot.offset, _kind_of(spot)), spot.size, value)
        self.block = block
        for spot, value in last.items():
            after = tuple(self.unknown("kept in memory", *kept[spot], part) for part in value)
            self.writes.add(Write(self.tick(), spot, after, origin=Origin.LOOP))


def _is_followed(length: int, tried: Trial) -> bool:
    """Return whether to go through the iterations one by one: where arrays become registers then. Elsewhere it is
    enough to know that compilers unroll, and so know the counter."""
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
