"""Statements of the source -> blocks, loops and branches."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from model.opencl.builtin_types import INT
from model.opencl.types import AddressSpace, ArrayType, PointerType, ScalarType, Type, VectorType
from model.work.counts import OpKind
from model.work.loops import Flow, Loops
from model.work.region import Builder, PendingBranch
from model.work.symbolic import ONE, ZERO, Expression, equal, number, operation
from model.work.unknowns import UnknownKind
from model.work.values import Aggregate, Memory, Pointer, Scalar, Value, Vector, expression_of


class Statements(Loops):
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
                self.declaration(node)
            case "expression_statement":
                for child in node.named_children:
                    self.value(child)
            case "if_statement":
                return self._if(node)
            case "for_statement" | "while_statement" | "do_statement":
                self.run_loop(node)
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
                self.unreadable(UnknownKind.GOTO)
                self.assume("line {line}", "`goto` on line {line} is not followed", 1.5)
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
                self.declare(declared.name, kind, self._initial(kind, declared.value, declared.name))

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
        if len(self.frames) <= self.frames_outside:
            return  # not in a loop of this function: a helper's `return` leaves no loop of its caller
        leaves = {Flow.RETURN} if len(self.frames) <= self.frames_unbroken else {Flow.BREAK, Flow.RETURN}
        for flow, holds in ((yes, condition), (no, operation("not", condition))):
            if flow in leaves:
                self.frames[-1].breaks.append(holds)
            if flow is Flow.RETURN:
                self.frames[-1].returns.append(holds)

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
            case Aggregate(), Aggregate() if a.type == b.type:
                return self.selected(condition, a, b)
            case _:
                return self.fresh_value(a.type, "a value that a branch decides")

    def _switch(self, node: Node) -> Flow:
        condition_node, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition_node is None or body is None:
            return Flow.NEXT
        chosen = expression_of(self.value(condition_node))
        cases = [c for c in body.named_children if c.type == "case_statement"]
        outer, unbroken = self.block, self.frames_unbroken
        self.frames_unbroken = len(self.frames)
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
            self._case(case, label, condition, outer)
            self.block = outer
        self.frames_unbroken = unbroken
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
