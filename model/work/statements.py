"""Statements of the source -> blocks, loops and branches."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from tree_sitter import Node

from model.opencl.builtin_types import INT
from model.opencl.types import AddressSpace, ArrayType, PointerType, ScalarType, StructType, Type, VectorType
from model.work.calls import Calls
from model.work.counts import OpKind
from model.work.machine import LoopFrame
from model.work.operators import components
from model.work.region import Builder, Loop, PendingBranch
from model.work.symbolic import ONE, ZERO, Atom, Expression, equal, number, operation
from model.work.trips import Induction, trip_count, upper_bound
from model.work.values import Memory, Other, Pointer, Scalar, Value, Vector, expression_of, is_float

DEFAULT_DATA_TRIPS = 16
MAX_LOOP_DEPTH = 24


class Flow(IntEnum):
    """How a statement ends: on to the next one, or not."""

    NEXT = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


class Statements(Calls):
    """`run(node)` for every kind of statement node."""

    def run_all(self, nodes: Iterable[Node]) -> Flow:
        for node in nodes:
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
                self._declaration(node)
            case "expression_statement":
                for child in node.named_children:
                    self.value(child)
            case "if_statement":
                return self._if(node)
            case "for_statement" | "while_statement" | "do_statement":
                self._loop(node)
            case "switch_statement":
                return self._switch(node)
            case "return_statement":
                self.returned.append(self.value(node.named_children[0]) if node.named_children else None)
                return Flow.RETURN
            case "break_statement":
                return Flow.BREAK
            case "continue_statement":
                return Flow.CONTINUE
            case "labeled_statement":
                return self.run_all(node.named_children[1:])
            case "goto_statement":
                self.assume(f"line {self.line + 1}", f"`goto` on line {self.line + 1} is not followed", 1.5)
            case "type_definition":
                self.reader.read_typedef(node)
            case "ERROR":
                self.assume(f"line {self.line + 1}", f"line {self.line + 1} could not be read and is not counted", 1.3)
            case _:
                pass
        return Flow.NEXT

    # --- declarations ------------------------------------------------------------------------------------

    def _declaration(self, node: Node) -> None:
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
                self.declare(declared.name, kind, self._initial(kind, declared.value, declared.name))

    def _initial(self, kind: Type, value: Node | None, name: str) -> Value:
        if value is None:
            return self.fresh_value(kind, f"`{name}` before it is set", name)
        if value.type == "initializer_list":
            return self.braced(value, kind)
        result = self.value(value)
        return self.convert(result, kind) if isinstance(kind, ScalarType | VectorType | PointerType) else result

    def _array(self, name: str, kind: ArrayType, space: AddressSpace, value: Node | None) -> None:
        unique = name if space is AddressSpace.LOCAL else f"{name} (private)"
        memory = Memory(unique, space, kind)
        self.memories[unique] = memory
        if space is AddressSpace.LOCAL:
            self.local_bytes[name] = kind.size_bytes or None
        elif space is AddressSpace.PRIVATE:
            self.private_bytes[name] = kind.size_bytes
        self.declare(name, kind, Pointer(memory, ZERO, PointerType(kind.element, space)))
        if value is not None and value.type == "initializer_list" and space is AddressSpace.PRIVATE:
            self.braced(value, kind)

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
        self.cost(OpKind.BRANCH, INT)
        return self.branch(condition, then_node, otherwise_node)

    def _side(self, node: Node) -> Flow:
        return self.run_all(node.named_children) if node.type == "else_clause" else self.run(node)

    def branch(self, condition: Expression, then_node: Node, otherwise_node: Node | None) -> Flow:
        """Both sides; where one side leaves, what follows goes on inside the other."""
        outer, before, known, line = self.block, dict(self.values), set(self.available), self.line
        versions = dict(self.versions)
        yes, no = Builder(), Builder()
        branch = PendingBranch(condition, yes, no, line, self.share_of(condition))
        outer.inner.append(branch)

        self.block = yes
        yes_flow = self._side(then_node)
        after_yes, yes_end = self.values, self.block
        self.values, self.available, self.block = dict(before), set(known), no
        self.versions, yes_versions = dict(versions), self.versions
        no_flow = self._side(otherwise_node) if otherwise_node is not None else Flow.NEXT
        self.available = known
        self.versions = {
            n: max(self.versions.get(n, 0), yes_versions.get(n, 0)) for n in {*self.versions, *yes_versions}
        }

        self._note_breaks(condition, yes_flow, no_flow)
        if yes_flow is not Flow.NEXT and no_flow is not Flow.NEXT:
            self.block = outer
            return max(yes_flow, no_flow)
        if yes_flow is not Flow.NEXT:
            return Flow.NEXT  # go on inside `no`: what follows runs only there
        if no_flow is not Flow.NEXT:
            self.values, self.block = after_yes, yes_end
            return Flow.NEXT
        self.values = self._merged(condition, after_yes, self.values)
        self.block = outer
        return Flow.NEXT

    def _note_breaks(self, condition: Expression, yes: Flow, no: Flow) -> None:
        if self.frames and yes in (Flow.BREAK, Flow.RETURN):
            self.frames[-1].breaks.append(condition)
        if self.frames and no in (Flow.BREAK, Flow.RETURN):
            self.frames[-1].breaks.append(operation("not", condition))

    def _merged(self, condition: Expression, yes: dict[int, Value], no: dict[int, Value]) -> dict[int, Value]:
        merged = dict(no)
        for key, a in yes.items():
            b = no.get(key)
            if b is not None and a != b:
                merged[key] = self._either(condition, a, b)
        return merged

    def _either(self, condition: Expression, a: Value, b: Value) -> Value:
        match a, b:
            case Scalar(), Scalar():
                return Scalar(operation("select", condition, a.value, b.value), a.type)
            case Vector(), Vector() if a.type == b.type:
                parts = (operation("select", condition, x, y) for x, y in zip(a.components, b.components, strict=True))
                return Vector(tuple(parts), a.type)
            case Pointer(), Pointer():
                memory = a.memory if a.memory == b.memory else None
                return Pointer(memory, operation("select", condition, a.offset, b.offset), a.type)
            case _:
                return self.fresh_value(a.type, "a value that a branch decides")

    def _switch(self, node: Node) -> Flow:
        condition_node, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition_node is None or body is None:
            return Flow.NEXT
        chosen = expression_of(self.value(condition_node))
        cases = [c for c in body.named_children if c.type == "case_statement"]
        outer, frames = self.block, self.frames
        labels: list[Expression] = []
        for position, case in enumerate(cases):
            label = case.child_by_field_name("value")
            if label is not None:
                labels.append(equal(chosen, expression_of(self.value(label))))
            if label is not None and not [c for c in case.named_children if c != label] and position + 1 < len(cases):
                continue  # falls through to the next label
            condition = ONE if label is None else labels[-1]
            if label is not None:
                for other in labels[:-1]:
                    condition = operation("or", condition, other)
                labels.clear()
            elif outer.inner and labels == []:
                condition = self._none_of(cases, chosen)
            self.frames = []  # a `break` here leaves the switch, not a loop
            self._case(case, label, condition, outer)
            self.frames = frames
            self.block = outer
        return Flow.NEXT

    def _none_of(self, cases: list[Node], chosen: Expression) -> Expression:
        condition = ONE
        for case in cases:
            label = case.child_by_field_name("value")
            value = self.reader.constant(label) if label is not None else None
            if value is not None:
                condition = operation("and", condition, operation("not", equal(chosen, number(value))))
        return condition

    def _case(self, case: Node, label: Node | None, condition: Expression, outer: Builder) -> None:
        if condition.constant == 0:
            return
        body = [c for c in case.named_children if c != label]
        before = dict(self.values)
        side = Builder()
        if condition.constant is None:
            outer.inner.append(PendingBranch(condition, side, Builder(), self.line, self.share_of(condition)))
            self.block = side
        self.run_all(body)
        if condition.constant is None:
            self.values = self._merged(condition, self.values, before)

    # --- loops -------------------------------------------------------------------------------------------

    def _loop(self, node: Node) -> None:
        self.scopes.append({})
        initializer = node.child_by_field_name("initializer")
        if initializer is not None:
            if initializer.type == "declaration":
                self._declaration(initializer)
            else:
                self.value(initializer)
        self.at(node)
        line, outer = self.line, self.block
        if len(self.frames) < MAX_LOOP_DEPTH:
            self._run_loop(node, line)
        self.block = outer
        self.line = line
        self.scopes.pop()

    def _run_loop(self, node: Node, line: int) -> None:
        entry = dict(self.values)
        touched, stored, variables, condition, breaks = self._trial(node)
        self.values = dict(entry)
        for name in stored:
            self.versions[name] = self.tick()
        counter_atom = Atom.of("symbol", f"loop.{self.tick()}")
        counter = Expression({(counter_atom,): 1})
        trips = self._trips(node, condition, variables, breaks, line)
        is_do = node.type == "do_statement"
        if is_do:
            trips = operation("max", ONE, trips + ONE) if condition.constant is None else trips
        frame = LoopFrame(self.tick(), {counter_atom}, self.block, Builder())
        self._enter(touched, variables, counter)
        known = set(self.available)
        outer, self.block = self.block, frame.body
        self.frames.append(frame)
        self.line = line
        self._iteration(node)
        self.frames.pop()
        self.block, self.available = outer, known
        if not self.dry:
            frame.body.ops[line, OpKind.BRANCH, "i32"] += 1
            outer.inner.append(Loop(trips, counter_atom, frame.body.freeze(), line))
        self._leave(touched, variables, entry, trips)

    def _iteration(self, node: Node) -> Expression:
        """Condition, body and update of one iteration, as often as they are met; gives the condition."""
        condition_node, update, body = (node.child_by_field_name(f) for f in ("condition", "update", "body"))
        condition = ONE
        inside = self.block
        if condition_node is not None and node.type != "do_statement":
            condition = self.truth(self.value(condition_node))
        if body is not None:
            self.run(body)
        self.block = inside
        if update is not None:
            self.value(update)
        if condition_node is not None and node.type == "do_statement":
            condition = self.truth(self.value(condition_node))
        return condition

    def _trial(
        self, node: Node
    ) -> tuple[list[int], list[str], dict[int, list[Induction]], Expression, list[Expression]]:
        """Run one iteration without counting, to see what changes and how.

        Gives the variables that change, the memories stored to, for each variable its components' induction,
        the condition over their symbols, and the conditions of breaks.
        """
        touched = [k for k in self._assigned(node) if k in self.values]
        entry, saved = dict(self.values), (self.block, self.available, dict(self.versions), len(self.returned))
        symbols: dict[int, list[Atom]] = {}
        for key in touched:
            symbols[key] = self._symbolic(key)
        frame = LoopFrame(self.tick(), {a for atoms in symbols.values() for a in atoms}, Builder(), Builder())
        self.block, self.available = frame.body, set(self.available)
        self.frames.append(frame)
        self.dry += 1
        condition = self._iteration(node)
        self.dry -= 1
        self.frames.pop()
        stored = [name for name, version in self.versions.items() if version >= frame.clock]
        variables: dict[int, list[Induction]] = {}
        for key, atoms in symbols.items():
            starts, afters = _numbers(entry[key]), _numbers(self.values[key])
            same_memory = _memory(entry[key]) == _memory(self.values[key])
            if len(starts) == len(afters) == len(atoms) and same_memory:
                variables[key] = [Induction(a, s, x) for a, s, x in zip(atoms, starts, afters, strict=True)]
        self.block, self.available, self.versions = saved[0], saved[1], saved[2]
        del self.returned[saved[3] :]
        return touched, stored, variables, condition, frame.breaks

    def _symbolic(self, key: int) -> list[Atom]:
        """Give a variable a symbol for its value at the start of an iteration."""
        value = self.values[key]
        atoms = [Atom.of("symbol", f"phi.{self.tick()}") for _ in _numbers(value)]
        parts = tuple(Expression({(a,): 1}) for a in atoms)
        self.values[key] = _with_numbers(value, parts)
        return atoms

    def _assigned(self, node: Node) -> list[int]:
        """Keys of the variables that `node` may change: assigned, stepped, or handed out by address."""
        names: dict[str, None] = {}
        stack = [node]
        while stack:
            at = stack.pop()
            target = None
            if at.type == "assignment_expression":
                target = at.child_by_field_name("left")
            elif at.type == "update_expression" or (
                at.type == "pointer_expression" and self.reader.operator(at) == "&"
            ):
                target = at.child_by_field_name("argument")
            while target is not None and target.type in (
                "field_expression",
                "subscript_expression",
                "parenthesized_expression",
            ):
                target = target.child_by_field_name("argument") or (
                    target.named_children[0] if target.named_children else None
                )
            if target is not None and target.type == "identifier":
                names[self.reader.text(target)] = None
            stack.extend(at.named_children)
        keys = [self.lookup(n) for n in names]
        keys += [
            m.memory.variable
            for m in self.values.values()
            if isinstance(m, Pointer) and m.memory is not None and m.memory.variable
        ]
        return [
            k for k in dict.fromkeys(keys) if k is not None and not isinstance(self.types[k], ArrayType | StructType)
        ]

    def _enter(self, touched: list[int], variables: dict[int, list[Induction]], counter: Expression) -> None:
        """Values at the start of iteration `counter`."""
        symbols = frozenset(v.symbol for vs in variables.values() for v in vs)
        for key in touched:
            value = self.values[key]
            inductions = variables.get(key)
            if inductions is None or isinstance(value, Other):
                self.values[key] = self.fresh_value(self.types[key], "changes from iteration to iteration")
                continue
            parts = []
            for induction in inductions:
                at = (
                    None
                    if is_float(value.type) and not isinstance(value, Pointer)
                    else induction.at(counter, symbols - {induction.symbol})
                )
                parts.append(at if at is not None else self.unknown("changes from iteration to iteration"))
            self.values[key] = _with_numbers(value, tuple(parts))

    def _leave(
        self, touched: list[int], variables: dict[int, list[Induction]], entry: dict[int, Value], trips: Expression
    ) -> None:
        symbols = frozenset(v.symbol for vs in variables.values() for v in vs)
        for key in touched:
            value, inductions = entry[key], variables.get(key)
            if inductions is None or isinstance(value, Other):
                self.values[key] = self.fresh_value(self.types[key], "set in a loop")
                continue
            parts = []
            for induction in inductions:
                at = (
                    None
                    if is_float(value.type) and not isinstance(value, Pointer)
                    else induction.at(trips, symbols - {induction.symbol})
                )
                parts.append(at if at is not None else self.unknown("set in a loop"))
            self.values[key] = _with_numbers(value, tuple(parts))
        for key in [k for k in self.values if k not in entry]:
            del self.values[key]

    def _trips(
        self,
        node: Node,
        condition: Expression,
        variables: dict[int, list[Induction]],
        breaks: list[Expression],
        line: int,
    ) -> Expression:
        """The trip count; where the data decide, a named parameter with a default, never a silent guess."""
        flat = [v for vs in variables.values() for v in vs]
        self.line = line
        header = (
            trip_count(condition, flat) if condition.constant is None else ZERO if condition.constant == 0 else None
        )
        for left in breaks:
            stay = operation("not", left)
            bound = trip_count(stay, flat)
            if bound is not None and header is None:
                header = bound + ONE
                breaks = [b for b in breaks if b is not left]
        early = [b for b in breaks if not b.evaluable or b.has("load")]
        if header is not None and not early:
            return header
        bound = header if header is not None else upper_bound(condition, flat)
        if bound is not None:
            text = f"the data decide when the loop on line {line + 1} is left: taken to run half its iterations"
            share = self.data_parameter(f"loop.{line + 1}", 0.5, 1.7, text)
            return operation("product", bound, Expression({(share,): 1}))
        text = f"the data decide how often the loop on line {line + 1} runs: taken for {DEFAULT_DATA_TRIPS} times"
        return Expression({(self.data_parameter(f"loop.{line + 1}", DEFAULT_DATA_TRIPS, 4.0, text),): 1})


def _numbers(value: Value) -> tuple[Expression, ...]:
    return components(value) if isinstance(value, Scalar | Vector | Pointer) else ()


def _memory(value: Value) -> Memory | None:
    return value.memory if isinstance(value, Pointer) else None


def _with_numbers(value: Value, parts: tuple[Expression, ...]) -> Value:
    match value:
        case Scalar():
            return Scalar(parts[0], value.type)
        case Vector():
            return Vector(parts, value.type)
        case Pointer():
            return Pointer(value.memory, parts[0], value.type)
        case _:
            return value
