"""One iteration of a loop, tried without counting: what changes in it, and how."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from model.errors import AnalysisError
from model.opencl.types import ArrayType, PointerType, Type
from model.work.builder import Builder
from model.work.calls import Calls
from model.work.flow import Exit, Flow
from model.work.machine import LoopFrame
from model.work.symbolic import Atom, Expression
from model.work.trips import Induction
from model.work.values import Memory, Pointer, Value, numbers_in, with_numbers
from model.work.writes import Origin, Spot, Write, distinct_spots, overlaps

MAX_TRIALS = 1_500  # a loop in a call in a loop in a call ... is tried once for each way that leads to it


@dataclass(frozen=True, slots=True)
class Trial:
    """What one iteration does. Expressions are over symbols for the variables at its start."""

    touched: tuple[int, ...]  # keys of the variables that may change
    variables: dict[int, list[Induction]]  # how, component by component, where that can be said
    condition: Expression
    exits: tuple[tuple[Exit, Expression], ...]  # by break and return, with the condition of each
    writes: tuple[Write, ...]
    loaded: dict[Spot, Type]
    fixed: frozenset[Spot]  # places written to that are the same in every iteration
    carried: frozenset[Spot]  # those of them whose value at the end is known
    goes_round: bool  # whether anything but an exit ends an iteration
    steps: int
    has_registers: bool  # private arrays or constant tables, which are registers where the index is known

    @property
    def promoted(self) -> frozenset[Spot]:
        """Places that a register can stand for while the loop runs: always written, and by nothing else touched.

        Source: LLVM's loop-invariant code motion, "scalar promotion of memory".
        """
        if any(w.spot is None for w in self.writes):
            return frozenset()
        unsure = {w.spot for w in self.writes if not w.is_sure}
        others = {*self.loaded, *distinct_spots(list(self.writes))}
        inside: dict[str, list[Spot]] = {}
        for other in others:
            inside.setdefault(other.memory.name, []).append(other)
        aliased = [other for other in others if other.memory.may_alias]

        def is_alone(spot: Spot) -> bool:
            """Distinct objects never overlap, so only those in the same one are looked at, and what may alias."""
            near = inside.get(spot.memory.name, [])
            return not any(
                other != spot and overlaps(other, spot)
                for each in (near, aliased if spot.memory.may_alias else ())
                for other in each
            )

        return frozenset(spot for spot in self.carried - unsure if is_alone(spot))


class Trials(Calls):
    """`trial(node)`."""

    trials = 0
    last_flow: Flow = Flow.NEXT  # how the iteration that was read last is left by those who get furthest in it

    def iteration(self, node: Node) -> Expression:
        raise NotImplementedError

    def trial(self, node: Node) -> Trial:
        self.trials += 1
        if self.trials > MAX_TRIALS:
            text = f"the kernel is too large to analyse (more than {MAX_TRIALS:,} loops, counting those in calls)"
            raise AnalysisError(text, line=self.line + 1)
        touched = [k for k in self._assigned(node) if k in self.values]
        for key in touched:
            self.values[key] = self.completed(self.values[key])
        entry, block, steps = dict(self.values), self.block, self.steps
        marks = (len(self.found), self.writes.mark(), len(self.returned), len(self.exits), len(self.path))
        loaded, self.loaded = self.loaded, {}
        saw_registers, self.saw_registers = self.saw_registers, False
        symbols = {key: self._symbolic(key) for key in touched}
        frame = LoopFrame(self.tick(), {a for atoms in symbols.values() for a in atoms}, Builder(), Builder(1))
        self.block = frame.body
        self.frames.append(frame)
        self.dry += 1
        condition = self.iteration(node)
        goes_round = self.last_flow <= Flow.CONTINUE
        self.dry -= 1
        self.frames.pop()
        variables: dict[int, list[Induction]] = {}
        for key, atoms in symbols.items():
            starts, afters = numbers_in(entry[key]), numbers_in(self.values[key])
            same_memory = _memory(entry[key]) == _memory(self.values[key])
            if len(starts) == len(afters) == len(atoms) and same_memory:
                variables[key] = [Induction(a, s, x) for a, s, x in zip(atoms, starts, afters, strict=True)]
        exits = tuple((e, self.conjunction(e.path[marks[4] :])) for e in self.exits[marks[3] :] if e.leaves_loop)
        writes = tuple(self.writes.since(marks[1]))
        fixed = frozenset(
            s for s in distinct_spots(list(writes)) if s.offset is not None and not self.varies_in(frame, s.offset)
        )
        lasting = ((s, self.writes.last(s, marks[1])) for s in fixed)
        carried = frozenset(
            s for s, w in lasting if w and w.spot == s and w.value is not None and w.origin is not Origin.BARRIER
        )
        self.block = block
        self.lose(marks[0], -1)
        self.writes.cut(marks[1])
        self.loaded, tried = loaded, self.loaded
        saw, self.saw_registers = self.saw_registers, saw_registers or self.saw_registers
        del self.returned[marks[2] :], self.exits[marks[3] :], self.path[marks[4] :]
        return Trial(
            tuple(touched), variables, condition, exits, writes, tried, fixed, carried, goes_round, self.steps - steps,
            saw,
        )  # fmt: skip

    def _symbolic(self, key: int) -> list[Atom]:
        """Give a variable a symbol for its value at the start of an iteration."""
        value = self.values[key]
        atoms = [Atom.new("symbol", (f"phi.{self.tick()}",)) for _ in numbers_in(value)]
        parts = tuple(Expression({(a,): 1}) for a in atoms)
        self.values[key] = with_numbers(value, parts)
        return atoms

    def _assigned(self, node: Node) -> list[int]:
        """Keys of the variables that `node` may change: assigned, stepped, or handed out by address."""
        keys = [
            key for name, of_part in self._assigned_names(node) if (key := self._changed(name, of_part)) is not None
        ]
        keys += [
            m.memory.variable
            for m in self.values.values()
            if isinstance(m, Pointer) and m.memory is not None and m.memory.variable
        ]
        return [k for k in dict.fromkeys(keys) if not isinstance(self.types[k], ArrayType)]

    def _changed(self, name: str, of_part: bool) -> int | None:
        """Return the variable that is assigned to; `p[i] = 0` and `p->x = 0` leave the pointer as it is."""
        key = self.lookup(name)
        return None if key is not None and of_part and isinstance(self.types[key], PointerType) else key

    def _assigned_names(self, node: Node) -> tuple[tuple[str, bool], ...]:
        """Return the names, and whether only a part of what they name is meant."""
        known = self.assigned_in.get(node.id)
        if known is not None:
            return known
        names = self._names_below(node)
        found = self.assigned_in[node.id] = tuple(names)
        return found

    def _names_below(self, node: Node) -> dict[tuple[str, bool], None]:
        names: dict[tuple[str, bool], None] = {}
        stack = node.named_children
        while stack:
            at = stack.pop()
            if at.type in _LOOPS:
                names.update(dict.fromkeys(self._assigned_names(at)))
                continue
            target, of_part = self._target(at)
            if target is not None and target.type == "identifier":
                names[self.reader.text(target), of_part] = None
            stack += at.named_children
        return names

    def _target(self, node: Node) -> tuple[Node | None, bool]:
        """Return the variable that an assignment, a step or `&` is about, and whether it is about a part of it."""
        target, of_part = None, False
        if node.type == "assignment_expression":
            target = node.child_by_field_name("left")
        elif node.type == "update_expression" or (
            node.type == "pointer_expression" and self.reader.operator(node) == "&"
        ):
            target = node.child_by_field_name("argument")
        while target is not None and target.type in _PARTS_OF_VARIABLES:
            of_part = of_part or target.type != "parenthesized_expression"
            target = target.child_by_field_name("argument") or (
                target.named_children[0] if target.named_children else None
            )
        return target, of_part


_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_PARTS_OF_VARIABLES = frozenset({"field_expression", "subscript_expression", "parenthesized_expression"})


def _memory(value: Value) -> Memory | None:
    return value.memory if isinstance(value, Pointer) else None
