"""Loops of the source: one iteration is tried to see what changes and how, then counted once as a `Loop`."""

from __future__ import annotations

from enum import IntEnum

from tree_sitter import Node

from model.opencl.types import ArrayType, StructType, Type
from model.work.calls import Calls
from model.work.chain import chain_length
from model.work.counts import OpKind
from model.work.machine import LoopFrame, likelihood
from model.work.operators import components
from model.work.region import DEFAULT_DATA_TRIPS, Builder, Loop, PendingBranch
from model.work.symbolic import ONE, ZERO, Atom, Expression, number, operation
from model.work.trips import Induction, trip_count, upper_bound
from model.work.values import Aggregate, Memory, Other, Pointer, Scalar, Value, Vector, is_float

MAX_LOOP_DEPTH = 24
LOST_CHAIN = 2


class Flow(IntEnum):
    """How a statement ends: on to the next one, or not."""

    NEXT = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


class Loops(Calls):
    """`run_loop(node)` for every kind of loop."""

    def run(self, node: Node) -> Flow:
        raise NotImplementedError

    def declaration(self, node: Node) -> None:
        raise NotImplementedError

    def run_loop(self, node: Node) -> None:
        self.scopes.append({})
        initializer = node.child_by_field_name("initializer")
        if initializer is not None:
            if initializer.type == "declaration":
                self.declaration(initializer)
            else:
                self.value(initializer)
        self.at(node)
        line = self.line
        if len(self.frames) < MAX_LOOP_DEPTH:
            self._whole_loop(node, line)
        self.line = line
        self.scopes.pop()

    def _whole_loop(self, node: Node, line: int) -> None:
        entry = dict(self.values)
        touched, stored, variables, condition, breaks = self._trial(node)
        self.values = {**entry, **{k: self.completed(entry[k]) for k in touched}}
        counter_atom = Atom.of("symbol", f"loop.{self.tick()}")
        counter = Expression({(counter_atom,): 1})
        trips = self._trips(node, condition, variables, breaks, line)
        is_do = node.type == "do_statement"
        if is_do:
            trips = operation("max", ONE, trips + ONE) if condition.constant is None else trips
        frame = LoopFrame(self.tick(), {counter_atom}, self.block, Builder())
        for name in stored:  # later than the frame's clock: what is loaded from there may differ in each iteration
            self.versions[name] = self.tick()
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
            chain = self._chain(touched, variables)
            outer.inner.append(Loop(trips, counter_atom, frame.body.freeze(), line, chain))
        self._leave(touched, variables, entry, trips)
        self.line = line
        self._survivors(frame.returns, line)

    def _chain(self, touched: list[int], variables: dict[int, list[Induction]]) -> int:
        """How many float operations each iteration waits for; a carried value that is lost sight of counts a few."""
        floats = [k for k in touched if _holds_floats(self.types[k])]
        followed = [v for k in floats for v in variables.get(k, ())]
        lost = len(floats) > len([k for k in floats if k in variables]) or any(v.after.has("unknown") for v in followed)
        return max(chain_length(followed), LOST_CHAIN if lost else 0)

    def _survivors(self, returns: list[Expression], line: int) -> None:
        """What follows a loop that the data may return from runs for some of the work-items only."""
        if all(r.evaluable and not r.has("load") for r in returns):
            return
        survive = min(1 - likelihood(r) for r in returns)
        text = "the data decide which work-items return from the loop on line {line}"
        text = f"{text}: taken for {(1 - survive) * 100:.0f} % of them"
        share = self.data_parameter("share.{line}", survive, 1.5, text)
        side = Builder()
        self.block.inner.append(PendingBranch(Expression({(share,): 1}), side, Builder(), line, share))
        self.block = side

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
        for key in touched:
            self.values[key] = self.completed(self.values[key])
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
        return [k for k in dict.fromkeys(keys) if k is not None and not isinstance(self.types[k], ArrayType)]

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
                at = induction.at(counter, symbols - {induction.symbol})
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
                at = induction.at(trips, symbols - {induction.symbol})
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
            text = (
                "the data decide when the loop on line {line} is left: taken to run half its iterations, "
                f"at most {DEFAULT_DATA_TRIPS}"
            )
            share = self.data_parameter("loop.{line}", 0.5, 3.0, text)
            half = operation("product", bound, Expression({(share,): 1}))
            return operation("min", half, number(DEFAULT_DATA_TRIPS))
        text = f"the data decide how often the loop on line {{line}} runs: taken for {DEFAULT_DATA_TRIPS} times"
        return Expression({(self.data_parameter("loop.{line}", DEFAULT_DATA_TRIPS, 4.0, text),): 1})


def _numbers(value: Value) -> tuple[Expression, ...]:
    """All numbers in a value, those of a struct's members in order."""
    if isinstance(value, Aggregate):
        return tuple(n for _, member in value.members for n in _numbers(member))
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
        case Aggregate():
            members, at = [], 0
            for name, member in value.members:
                count = len(_numbers(member))
                members.append((name, _with_numbers(member, parts[at : at + count])))
                at += count
            return Aggregate(tuple(members), value.type)
        case _:
            return value


def _holds_floats(kind: Type) -> bool:
    if isinstance(kind, StructType):
        return any(_holds_floats(member) for _, member in kind.members)
    return is_float(kind)
