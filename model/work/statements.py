"""Statements of the source -> blocks, loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from model.opencl.builtin_types import INT, VOID
from model.opencl.jumps import Jump
from model.opencl.types import AddressSpace, ArrayType, PointerType, ScalarType, Type, VectorType
from model.work.builder import Builder, PendingBranch, PendingOp, cheap_enough
from model.work.comparisons import any_of, either_holds, equal
from model.work.counts import OpKind
from model.work.flow import Exit, Flow, Start, Way
from model.work.loops import Loops
from model.work.operations import operation
from model.work.region import Event
from model.work.symbolic import ONE, ZERO, Expression, number
from model.work.tables import completed_type, table_of
from model.work.unknowns import UnknownKind
from model.work.values import Memory, Other, Pointer, Value, element_name, expression_of, scalar_of
from model.work.writes import Origin, Spot, Stored, Write, distinct_spots, overlaps

MAX_FOLLOWED = 64  # elements of an initialised array that are followed one by one

UNFOLLOWED_LOOP_SPREAD = 32.0


class Statements(Loops):
    """`run(node)` for every kind of statement node."""

    def run_all(self, nodes: Iterable[Node]) -> Flow:
        for node in self.jumps.structured(list(nodes)):
            flow = self.run(node)
            if flow is not Flow.NEXT:
                return flow
        return Flow.NEXT

    def run(self, node: Node) -> Flow:
        self.at(node)
        match node.type:
            case "compound_statement":
                self.scopes.append({})
                flow = self.run_all(node.named_children)
                self.scopes.pop()
                return flow
            case "declaration":
                self.declaration(node)
            case "expression_statement":
                for child in node.named_children:
                    self.value(child)
            case "if_statement":
                return self._if(node)
            case "for_statement" | "while_statement" | "do_statement":
                return self.run_loop(node)
            case "switch_statement":
                return self._switch(node)
            case "return_statement":
                if node.named_children:
                    value = self.value(node.named_children[0])
                    self.returned.append((tuple(self.path), value))
                return self._exit(Flow.RETURN)
            case "break_statement":
                return self._exit(Flow.BREAK)
            case "continue_statement":
                return self._exit(Flow.CONTINUE)
            case "labeled_statement":
                return self.run_all(node.named_children[1:])
            case "goto_statement":
                return self._goto(node)
            case "type_definition":
                self.reader.read_typedef(node)
            case "ERROR":
                self.unreadable(UnknownKind.SYNTAX)
                self.assume("line {line}", "line {line} could not be read and is not counted", 1.3)
            case "comment" | ";":
                pass
            case other:
                self.unreadable(UnknownKind.STATEMENT, other)
        return Flow.NEXT

    def _goto(self, node: Node) -> Flow:
        match self.jumps.of(node):
            case Jump.AGAIN:
                return self._exit(Flow.CONTINUE)
            case Jump.BEYOND:
                return self._exit(Flow.BREAK)
            case Jump.BACK:
                text = "`goto` on line {line} leads back, and how often is not known: what it repeats is counted once"
                self.assume("line {line}", text, UNFOLLOWED_LOOP_SPREAD, is_guess=True)
            case Jump.AWAY:
                self.assume("line {line}", "`goto` on line {line} is not followed", 1.5)
        self.unreadable(UnknownKind.GOTO)
        return Flow.NEXT

    def _exit(self, flow: Flow) -> Flow:
        self.exits.append(Exit(flow, tuple(self.path), dict(self.values)))
        return flow

    def block_value(self, node: Node) -> Value:
        """`({ ...; value; })`, an extension of GNU C that OpenCL compilers know: its last expression is its value."""
        self.scopes.append({})
        last = next((n for n in reversed(node.named_children) if n.type != "comment"), None)
        value: Value = Other("", VOID)
        if last is not None and last.type == "expression_statement" and last.named_children:
            self.run_all(n for n in node.named_children if n != last)
            value = self.value(last.named_children[0])
        else:
            self.run_all(node.named_children)
        self.scopes.pop()
        return value

    # --- declarations ------------------------------------------------------------------------------------

    def declaration(self, node: Node) -> None:
        before = node.prev_sibling
        since = before.end_byte if before is not None else node.start_byte - 12
        for declared in self.reader.declared(node, since):
            self.at(node)
            kind = declared.type
            if isinstance(kind, ArrayType):
                self._array(declared.name, kind, declared.space or AddressSpace.PRIVATE, declared.value)
            elif declared.space is AddressSpace.LOCAL and not isinstance(kind, PointerType):
                memory = Memory(declared.name, AddressSpace.LOCAL, kind)
                self.memories[declared.name] = memory
                self.local_bytes[declared.name] = kind.size_bytes
                self.declare(
                    declared.name, ArrayType(kind, 1), Pointer(memory, ZERO, PointerType(kind, AddressSpace.LOCAL))
                )
                self.types[self.lookup(declared.name) or 0] = kind
            else:
                initial = self._initial(kind, declared.value, declared.name)
                self.lifetimes.declared(self.declare(declared.name, kind, initial), initial, self.steps)

    def _initial(self, kind: Type, value: Node | None, name: str) -> Value:
        if value is None:
            return self.fresh_value(kind, f"`{name}` before it is set", name)
        if value.type == "initializer_list":
            return self.braced(value, kind)
        result = self.value(value)
        return self.convert(result, kind) if isinstance(kind, ScalarType | VectorType | PointerType) else result

    def _array(self, name: str, kind: ArrayType, space: AddressSpace, value: Node | None) -> None:
        if kind.length is None and value is None:
            self.unreadable(UnknownKind.LENGTH, name)
        kind = completed_type(kind, value)
        unique = name if space is AddressSpace.LOCAL else f"{name} (private)"
        memory = Memory(unique, space, kind)
        self.memories[unique] = memory
        if space is AddressSpace.LOCAL:
            self.local_bytes[name] = kind.size_bytes or None
        elif space is AddressSpace.PRIVATE:
            self.private_bytes[name] = kind.size_bytes
        array = Pointer(memory, ZERO, PointerType(kind.element, space))
        self.lifetimes.declared(self.declare(name, kind, array), array, self.steps)
        if value is not None and value.type == "initializer_list" and space is not AddressSpace.LOCAL:
            self._initialise(memory, kind, value)

    def _initialise(self, memory: Memory, kind: ArrayType, value: Node) -> None:
        """Compilers copy short arrays from constants, or make registers of them: no store is counted."""
        table = table_of(value, kind, self.initial, is_whole=memory.space is AddressSpace.CONSTANT)
        if table is None:
            self.stored(Spot(memory, None, 1, "i8"))
        elif memory.space is AddressSpace.CONSTANT:
            self.tables[memory.name] = table
        elif len(table) <= MAX_FOLLOWED:
            scalar = scalar_of(kind)
            for at, held in table.items():
                size = scalar.size_bytes
                self.writes.add(Write(self.tick(), Spot(memory, number(at), size, element_name(scalar)), (held,)))

    # --- branches ----------------------------------------------------------------------------------------

    def _if(self, node: Node) -> Flow:
        condition_node, then_node = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        otherwise_node = node.child_by_field_name("alternative")
        if condition_node is None or then_node is None:
            return Flow.NEXT
        condition = self.truth(self.value(condition_node))
        if condition.constant is not None:
            chosen = then_node if condition.constant else otherwise_node
            return self._side(chosen) if chosen is not None else Flow.NEXT
        return self.branch(node, condition, then_node, otherwise_node)

    def _side(self, node: Node) -> Flow:
        return self.run_all(node.named_children) if node.type == "else_clause" else self.run(node)

    def branch(self, node: Node, condition: Expression, then_node: Node, otherwise_node: Node | None) -> Flow:
        """Both sides; where one side leaves, what follows goes on inside the other."""

        def no_side() -> Flow:
            return self._side(otherwise_node) if otherwise_node is not None else Flow.NEXT

        return self.fork(node, condition, lambda: self._side(then_node), no_side)

    def fork(
        self,
        node: Node,
        condition: Expression,
        then: Callable[[], Flow],
        otherwise: Callable[[], Flow],
        *,
        may_speculate: bool = True,
    ) -> Flow:
        """Return a branch at `node` whose sides are run by `then` and `otherwise`."""
        start = Start(self.block, self.values, len(self.path), len(self.exits), len(self.found), self.writes.mark())
        line = self.line
        yes = self._way(start, condition, then)
        no = self._way(start, operation("not", condition), otherwise)
        self.line = line
        self.block = start.block
        branch = PendingBranch(condition, yes.builder, no.builder, line, None, self.site(node))
        both_go_on = yes.flow is Flow.NEXT and no.flow is Flow.NEXT
        left = self.exits[start.exits :]
        if may_speculate and both_go_on and not left and cheap_enough(yes.builder, no.builder):
            self.block.ops += yes.builder.ops + no.builder.ops
            self.cost(OpKind.INTEGER, INT)
            for op in yes.builder.ops + no.builder.ops:
                self.find(op.results, self.block)
        else:
            if not self.dry:
                self.block.ops.append(PendingOp(line, OpKind.BRANCH, "i32", "", 1, ()))
            branch.share = self.share_of(condition)
            self.block.inner.append(branch)
        if both_go_on:
            self._meet(start, condition, yes, no)
            if left:
                self.go_on_unless(node, [self.conjunction(e.path[start.path :]) for e in left])
            return Flow.NEXT
        if yes.flow is not Flow.NEXT and no.flow is not Flow.NEXT:
            return min(yes.flow, no.flow)  # some get as far as that: they still run a loop's update, or what follows it
        self._go_on_in(no if yes.flow is not Flow.NEXT else yes)
        return Flow.NEXT

    def _way(self, start: Start, condition: Expression, run: Callable[[], Flow]) -> Way:
        """Run one side from `start`; gives its end, and leaves the machine as it was but for exits."""
        builder = Builder(start.block.level + 1)
        self.block, self.values = builder, dict(start.values)
        self.path.append(condition)
        flow = run()
        way = Way(
            flow, builder, self.block, self.values, self.path[start.path :], self.found[start.found :],
            self.writes.cut(start.writes),
        )  # fmt: skip
        self.values = start.values
        del self.path[start.path :]
        self.lose(start.found, start.block.level)
        return way

    def _go_on_in(self, way: Way) -> None:
        """The other side has left: what follows is part of this one."""
        self.block, self.values = way.end, way.values
        self.path += way.path
        for value, level in way.found:
            if value not in self.available:
                self.available.add(value)
                self.found.append((value, level))
        for write in way.writes:
            self.writes.add(write)

    def _meet(self, start: Start, condition: Expression, yes: Way, no: Way) -> None:
        """Both sides go on: values are chosen between, and what both have made is at hand."""
        self.values = self.merged(condition, yes.values, no.values)
        in_no = {value for value, _ in no.found}
        self.find(tuple(value for value, _ in yes.found if value in in_no), start.block)
        if not yes.writes and not no.writes:
            return
        after_yes, after_no = (self._held_after(way.writes, [*yes.writes, *no.writes]) for way in (yes, no))
        for write in (*yes.writes, *no.writes):
            if write.spot is None:
                self.forget_shared()
        for spot, a in after_yes.items():
            b = after_no[spot]
            value = None
            if a is not None and b is not None and len(a) == len(b):
                value = tuple(operation("select", condition, x, y) for x, y in zip(a, b, strict=True))
            stored = _stored_by_some(spot, condition, yes.writes, no.writes)
            self.writes.add(Write(self.tick(), spot, value, is_sure=False, stored=stored))

    def _held_after(self, writes: list[Write], all_writes: list[Write]) -> dict[Spot, tuple[Expression, ...] | None]:
        mark = self.writes.mark()
        for write in writes:
            self.writes.add(write)
        held = {spot: self.writes.held(spot) for spot in distinct_spots(all_writes)}
        self.writes.cut(mark)
        return held

    def go_on_unless(self, node: Node, left: list[Expression]) -> None:
        """What follows runs for those that did not leave `node` by one of the ways in `left`."""
        stays = operation("not", any_of(left))
        self.path.append(stays)
        side = self.new_block()
        share, site = self.share_of(stays), self.site(node)
        branch = PendingBranch(stays, side, self.new_block(), self.line, share, site, Event.COMPLETED)
        self.block.inner.append(branch)
        self.block = side

    # --- switch ------------------------------------------------------------------------------------------

    def _switch(self, node: Node) -> Flow:
        """Return a chain of ifs, in the order of the source: each case is entered by its labels, or from the one
        before."""
        condition_node, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition_node is None or body is None:
            return Flow.NEXT
        chosen = expression_of(self.value(condition_node))
        groups = self._case_groups(body)
        known = [label for labels, _, _, _ in groups for label in labels]
        outer, path, exits = self.block, len(self.path), len(self.exits)
        falls: Expression = ZERO
        self.scopes.append({})
        flows = []
        for labels, is_default, nodes, case in groups:
            enters = any_of([equal(chosen, label) for label in labels])
            if is_default:
                others = [label for label in known if label not in labels]
                enters = operation("not", any_of([equal(chosen, label) for label in others]))
            condition = either_holds(enters, falls)
            falls, flow = self._case(case, condition, nodes)
            flows.append(flow)
        self.scopes.pop()
        self.block = outer
        del self.path[path:]
        remaining = [e for e in self.exits[exits:] if e.flow is not Flow.BREAK]
        breaks = len(self.exits) - exits > len(remaining)
        self.exits[exits:] = remaining
        if any(is_default for _, is_default, _, _ in groups) and not breaks and falls.constant == 0:
            return min(f for f in flows if f is not Flow.NEXT)
        if remaining:
            self.go_on_unless(node, [self.conjunction(e.path[path:]) for e in remaining])
        return Flow.NEXT

    def _case_groups(self, body: Node) -> list[tuple[list[Expression], bool, list[Node], Node]]:
        """(labels, whether `default` is one, statements, where) for each run of labels that stand together."""
        groups: list[tuple[list[Expression], bool, list[Node], Node]] = []
        labels: list[Expression] = []
        is_default = False
        cases = [c for c in body.named_children if c.type == "case_statement"]
        for case in cases:
            label = case.child_by_field_name("value")
            if label is None:
                is_default = True
            else:
                labels.append(expression_of(self.value(label)))
            statements = [c for c in case.named_children if c != label and c.type != "comment"]
            if statements or case is cases[-1]:
                groups.append((labels, is_default, statements, case))
                labels, is_default = [], False
        return groups

    def _case(self, case: Node, condition: Expression, nodes: list[Node]) -> tuple[Expression, Flow]:
        """Run one case's statements; gives when the next case is fallen into, and how this one ends."""
        if condition.constant == 0:
            return ZERO, Flow.BREAK
        exits, path, outer = len(self.exits), len(self.path), self.block
        if condition.constant is not None:
            flow = self.run_all(nodes)
        else:
            flow = Flow.NEXT

            def statements() -> Flow:
                nonlocal flow
                mine = len(self.exits)
                flow = self.run_all(nodes)
                leaves = [e for e in self.exits[mine:] if e.flow is Flow.BREAK]
                for left in leaves:
                    if left.values:
                        self.values = self.merged(self.conjunction(left.path[path:]), left.values, self.values)
                return Flow.NEXT if flow is Flow.BREAK else flow

            self.fork(case, condition, statements, lambda: Flow.NEXT, may_speculate=False)
        self.block = outer
        del self.path[path:]
        if flow is not Flow.NEXT:
            return ZERO, flow
        left_early = [self.conjunction(e.path[path:]) for e in self.exits[exits:]]
        stays = operation("not", any_of(left_early)) if left_early else ONE
        return operation("and", condition, stays) if stays is not ONE else condition, flow


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
