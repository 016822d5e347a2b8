"""One iteration of a loop: run as often as it is met, or tried without counting to see what changes in it, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

from model.errors import AnalysisError
from model.opencl.types import ArrayType, PointerType, Type
from model.work.execution.builder import Builder
from model.work.execution.costs import forget_available, varies_in
from model.work.execution.dispatch import run_statement, value_of
from model.work.execution.flow import Exit, Flow, LoopFrame
from model.work.execution.narrow_ids import HeldIds
from model.work.execution.operators import truth_of
from model.work.execution.selection import conjunction, merge_values
from model.work.execution.state import ExecutionState
from model.work.execution.values import Memory, Pointer, Scalar, Value, numbers_in, with_numbers
from model.work.execution.variables import completed, lookup
from model.work.execution.writes import Origin, Spot, Write, distinct_spots, overlaps
from model.work.expressions.symbolic import ONE, Atom, Expression
from model.work.expressions.trips import Induction

MAX_TRIALS = 1_500  # a loop in a call in a loop in a call ... is tried once for each way that leads to it
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_PARTS_OF_VARIABLES = frozenset({"field_expression", "subscript_expression", "parenthesized_expression"})


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
    ids: Mapping[int, HeldIds | None]  # of neighbours, in the variables at the end of the iteration
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


def try_iteration(state: ExecutionState, node: Node) -> Trial:
    """Run one iteration of the loop at `node` without counting; the state is unchanged after it."""
    state.control.trials += 1
    if state.control.trials > MAX_TRIALS:
        text = f"the kernel is too large to analyse (more than {MAX_TRIALS:,} loops, counting those in calls)"
        raise AnalysisError(text, line=state.line + 1)
    touched = [k for k in _assigned(state, node) if k in state.variables.values]
    for key in touched:
        state.variables.values[key] = completed(state, state.variables.values[key])
    entry, block, steps = dict(state.variables.values), state.block, state.steps
    marks = (
        len(state.computed.found),
        state.memory.writes.mark(),
        len(state.control.returned),
        len(state.control.exits),
        len(state.control.path),
    )
    loaded, state.memory.loaded = state.memory.loaded, {}
    saw_registers, state.memory.saw_registers = state.memory.saw_registers, False
    symbols = {key: _symbolic(state, key) for key in touched}
    outside = Builder()
    frame = LoopFrame(state.tick(), {a for atoms in symbols.values() for a in atoms}, outside, outside, Builder(1))
    state.block = frame.body
    state.control.frames.append(frame)
    state.counting_disabled += 1
    condition = run_iteration(state, node, frame)
    goes_round = state.control.last_flow <= Flow.CONTINUE
    state.counting_disabled -= 1
    state.control.frames.pop()
    ids = {key: after.ids for key in touched if isinstance(after := state.variables.values[key], Scalar)}
    variables: dict[int, list[Induction]] = {}
    for key, atoms in symbols.items():
        starts, afters = numbers_in(entry[key]), numbers_in(state.variables.values[key])
        same_memory = _memory(entry[key]) == _memory(state.variables.values[key])
        if len(starts) == len(afters) == len(atoms) and same_memory:
            variables[key] = [Induction(a, s, x) for a, s, x in zip(atoms, starts, afters, strict=True)]
    exits = tuple((e, conjunction(e.path[marks[4] :])) for e in state.control.exits[marks[3] :] if e.leaves_loop)
    writes = tuple(state.memory.writes.since(marks[1]))
    fixed = frozenset(
        s for s in distinct_spots(list(writes)) if s.offset is not None and not varies_in(frame, s.offset)
    )
    lasting = ((s, state.memory.writes.last(s, marks[1])) for s in fixed)
    carried = frozenset(
        s for s, w in lasting if w and w.spot == s and w.value is not None and w.origin is not Origin.BARRIER
    )
    state.block = block
    forget_available(state, marks[0], -1)
    state.memory.writes.cut(marks[1])
    state.memory.loaded, tried = loaded, state.memory.loaded
    saw, state.memory.saw_registers = state.memory.saw_registers, saw_registers or state.memory.saw_registers
    del state.control.returned[marks[2] :], state.control.exits[marks[3] :], state.control.path[marks[4] :]
    return Trial(
        tuple(touched), variables, condition, exits, writes, tried, fixed, carried, ids, goes_round,
        state.steps - steps, saw,
    )  # fmt: skip


def _symbolic(state: ExecutionState, key: int) -> list[Atom]:
    """Give a variable a symbol for its value at the start of an iteration."""
    value = state.variables.values[key]
    atoms = [Atom.new("symbol", (f"phi.{state.tick()}",)) for _ in numbers_in(value)]
    parts = tuple(Expression({(a,): 1}) for a in atoms)
    state.variables.values[key] = with_numbers(value, parts)
    return atoms


def _assigned(state: ExecutionState, node: Node) -> list[int]:
    """Keys of the variables that `node` may change: assigned, stepped, or handed out by address."""
    keys = [
        key for name, of_part in _assigned_names(state, node) if (key := _changed(state, name, of_part)) is not None
    ]
    keys += [
        m.memory.variable
        for m in state.variables.values.values()
        if isinstance(m, Pointer) and m.memory is not None and m.memory.variable
    ]
    return [k for k in dict.fromkeys(keys) if not isinstance(state.variables.types[k], ArrayType)]


def _changed(state: ExecutionState, name: str, of_part: bool) -> int | None:
    """Return the variable that is assigned to; `p[i] = 0` and `p->x = 0` leave the pointer as it is."""
    key = lookup(state, name)
    return None if key is not None and of_part and isinstance(state.variables.types[key], PointerType) else key


def _assigned_names(state: ExecutionState, node: Node) -> tuple[tuple[str, bool], ...]:
    """Return the names, and whether only a part of what they name is meant."""
    known = state.variables.assigned_in.get(node.id)
    if known is not None:
        return known
    names = _names_below(state, node)
    found = state.variables.assigned_in[node.id] = tuple(names)
    return found


def _names_below(state: ExecutionState, node: Node) -> dict[tuple[str, bool], None]:
    names: dict[tuple[str, bool], None] = {}
    stack = node.named_children
    while stack:
        at = stack.pop()
        if at.type in _LOOPS:
            names.update(dict.fromkeys(_assigned_names(state, at)))
            continue
        target, of_part = _target(state, at)
        if target is not None and target.type == "identifier":
            names[state.reader.text(target), of_part] = None
        stack += at.named_children
    return names


def _target(state: ExecutionState, node: Node) -> tuple[Node | None, bool]:
    """Return the variable that an assignment, a step or `&` is about, and whether it is about a part of it."""
    target, of_part = None, False
    if node.type == "assignment_expression":
        target = node.child_by_field_name("left")
    elif node.type == "update_expression" or (node.type == "pointer_expression" and state.reader.operator(node) == "&"):
        target = node.child_by_field_name("argument")
    while target is not None and target.type in _PARTS_OF_VARIABLES:
        of_part = of_part or target.type != "parenthesized_expression"
        target = target.child_by_field_name("argument") or (target.named_children[0] if target.named_children else None)
    return target, of_part


def _memory(value: Value) -> Memory | None:
    return value.memory if isinstance(value, Pointer) else None


def run_iteration(state: ExecutionState, node: Node, frame: LoopFrame | None = None) -> Expression:
    """Run condition, body and update of one iteration; return the condition. Without `frame` the loop is unrolled."""
    update, body = node.child_by_field_name("update"), node.child_by_field_name("body")
    is_do = node.type == "do_statement"
    condition = ONE if is_do else iteration_condition(state, node)
    if frame is not None:
        frame.is_begun = True
    inside, exits, path = state.block, len(state.control.exits), len(state.control.path)
    flow = run_statement(state, body) if body is not None else Flow.NEXT
    state.block = inside
    continued = [e for e in state.control.exits[exits:] if e.flow is Flow.CONTINUE]
    state.control.exits[exits:] = [e for e in state.control.exits[exits:] if e.flow is not Flow.CONTINUE]
    if continued and flow > Flow.CONTINUE:  # nobody gets to the end of the body, but some go round all the same
        flow = Flow.CONTINUE
        state.variables.values = dict(continued[-1].values)
    for left in continued:
        if len(left.path) > path:
            state.variables.values = merge_values(
                state, conjunction(left.path[path:]), left.values, state.variables.values
            )
    if update is not None and flow <= Flow.CONTINUE:
        value_of(state, update)
    if is_do:
        condition = iteration_condition(state, node)
    state.control.last_flow = flow
    return condition


def iteration_condition(state: ExecutionState, node: Node) -> Expression:
    condition = node.child_by_field_name("condition")
    return truth_of(state, value_of(state, condition)) if condition is not None else ONE
