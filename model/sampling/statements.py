"""Statements -> closures that say whether no lane is left to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import VOID
from model.opencl.jumps import Jump
from model.opencl.syntax import LOOP_EXITS, find, is_in_loop
from model.opencl.types import AddressSpace, ArrayType, OpaqueType, PointerType, StructType, Type
from model.sampling.code import Code, Run
from model.sampling.compiler import LOCAL_BASE, PRIVATE_BASE, Compiler, Step, Variable, field
from model.sampling.conversions import truth_of
from model.sampling.dispatch import block, charged_when_run, expression, nothing, statement
from model.sampling.initialisers import braced, completed, initialise
from model.sampling.loops import loop
from model.sampling.places import assigned_as, place_of_variable, stored
from model.sampling.switches import switch
from model.sampling.values import NotInterpreted, Value, zero_of

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes


def _compound(c: Compiler, node: Node) -> Step:
    with c.scope():
        return block(c, node.named_children)


def block_value(c: Compiler, node: Node) -> Code:
    """`({ ...; value; })`, of GNU C."""
    nodes = [n for n in node.named_children if n.type != "comment"]
    with c.scope():
        if not nodes or nodes[-1].type != "expression_statement" or not nodes[-1].named_children:
            steps, value = block(c, nodes), Code(lambda _: np.int32(0), VOID)
        else:
            steps, value = block(c, nodes[:-1]), expression(c, nodes[-1].named_children[0])
    run = value.run

    def both(f: Lanes) -> Value:
        steps(f)
        return run(f)

    return Code(both, value.type, is_pure=False, taint=value.taint)


def _expression(c: Compiler, node: Node) -> Step:
    nodes = [n for n in node.named_children if n.type != "comment"]
    if not nodes:
        return nothing
    run = expression(c, nodes[0]).run

    def step(f: Lanes) -> bool:
        run(f)
        return False

    return step


# --- declarations ------------------------------------------------------------------------------------------


def _declaration(c: Compiler, node: Node) -> Step:
    before = node.prev_sibling
    since = before.end_byte if before is not None else max(0, node.start_byte - 12)
    steps: list[Run] = []
    for declared in c.reader.declared(node, since):
        kind = declared.type
        if isinstance(kind, ArrayType):
            kind = completed(c, kind, declared.value)
        if isinstance(kind, OpaqueType) and kind.is_unknown:
            raise c.refuse(f"the type `{kind.name[:40]}` is not known", node)
        space = declared.space or AddressSpace.PRIVATE
        in_memory = isinstance(kind, ArrayType | StructType) or declared.name in c.in_memory
        if space is AddressSpace.LOCAL and not isinstance(kind, PointerType):
            variable = _in_memory(c, declared.name, kind, LOCAL_BASE)
        elif in_memory:
            # The initialiser may speak of an outer variable of this name.
            steps += _with_value(c, declared.name, kind, declared.value)
            continue
        else:
            value = _initial(c, kind, declared.value)
            variable = c.declare(declared.name, kind)
            steps.append(_fresh(c, variable, value))
            continue
        if declared.value is not None:
            steps += initialise(c, place_of_variable(variable), declared.value)
    if not steps:
        return nothing

    def step(f: Lanes) -> bool:
        for each in steps:
            each(f)
        return False

    return step


def _with_value(c: Compiler, name: str, kind: Type, value: Node | None) -> list[Run]:
    if value is not None and value.type not in ("initializer_list", "string_literal"):
        compiled = assigned_as(expression(c, value), kind)
        return [stored(c, place_of_variable(_in_memory(c, name, kind, PRIVATE_BASE)), compiled)]
    place = place_of_variable(_in_memory(c, name, kind, PRIVATE_BASE))
    return initialise(c, place, value) if value is not None else []


def _initial(c: Compiler, kind: Type, value: Node | None) -> Code | None:
    if value is None:
        return None
    return assigned_as(braced(c, value, kind) if value.type == "initializer_list" else expression(c, value), kind)


def _fresh(c: Compiler, variable: Variable, value: Code | None) -> Run:
    """Return the start of a variable, which forgets what other lanes held there."""
    slot, zero = variable.slot, zero_of(variable.type)
    if slot is None:
        raise NotInterpreted(f"`{variable.name}` is not a plain variable")
    c.cost += 1
    if value is None:

        def clear(f: Lanes) -> None:
            f.declared[slot] = f.active
            f.values[slot] = zero

        return clear
    c.flows.assigned(f"${slot}", value.taint)
    run = value.run

    def begin(f: Lanes) -> None:
        f.values[slot] = run(f)
        f.declared[slot] = f.active

    return begin


def _in_memory(c: Compiler, name: str, kind: Type, base: int) -> Variable:
    is_local = base == LOCAL_BASE
    at = np.int64(c.layout.local(kind) if is_local else c.layout.private(kind))
    c.used.add(base)
    tokens = frozenset((f"&%{'local' if is_local else 'private'} {at} {name}",))
    variable = c.scopes[-1][name] = Variable(name, kind, None, lambda f: f.values[base] + at, tokens, base)
    if is_local:
        c.has_barriers = True
    return variable


def copied_to_memory(c: Compiler, parameter: Variable) -> Run:
    """Return a parameter of which the address is taken, or a struct: its value is copied to where it has an address."""
    slot = parameter.slot or 0
    value = Code(lambda f: f.values[slot], parameter.type, taint=frozenset((f"${slot}",)))
    return stored(c, place_of_variable(_in_memory(c, parameter.name, parameter.type, PRIVATE_BASE)), value)


# --- branches ----------------------------------------------------------------------------------------------


def _if(c: Compiler, node: Node) -> Step:
    condition = expression(c, field(c, node, "condition"))
    site = c.site(node, condition.taint)
    c.cost += 3
    if is_in_loop(node) and any(find(node, *LOOP_EXITS)):
        c.ending_taints |= condition.taint

    def consequence() -> Step:
        with c.scope():
            return statement(c, field(c, node, "consequence"))

    def alternative() -> Step:
        if other is None:
            return nothing
        with c.scope():
            return block(c, other.named_children) if other.type == "else_clause" else statement(c, other)

    yes = charged_when_run(c, consequence)
    other = node.child_by_field_name("alternative")
    return _branch(site, truth_of(condition), yes, charged_when_run(c, alternative))


def _branch(site: int, truth: Run, yes: Step, no: Step) -> Step:
    def one_side(f: Lanes, record: Value, taken: bool) -> bool:
        if taken:
            record.taken += f.active
            record.take(f, f.mask)
        if yes(f) if taken else no(f):
            return True
        record.completed += f.active
        return False

    def run(f: Lanes) -> bool:
        record = f.context.sites[site]
        active, mask = f.active, f.mask
        record.begun += active
        chosen = truth(f)
        if chosen.ndim == 0:
            return one_side(f, record, bool(chosen))
        met = chosen if mask is None else chosen & mask
        count = int(np.count_nonzero(met))
        if count in (0, active):
            return one_side(f, record, count != 0)
        record.taken += count
        record.take(f, met)
        f.mask, f.active = met, count
        yes_left = yes(f)
        yes_mask, yes_active = f.mask, f.active
        others = ~met if mask is None else mask & ~met
        f.mask, f.active = others, active - count
        if no(f):
            if yes_left:
                return True
            f.mask, f.active = yes_mask, yes_active
        elif not yes_left:
            if yes_mask is met and f.mask is others:
                f.mask, f.active = mask, active
            else:
                f.mask, f.active = yes_mask | f.mask, yes_active + f.active
        record.completed += f.active
        return False

    return run


# --- leaving -----------------------------------------------------------------------------------------------


def _return(c: Compiler, node: Node) -> Step:
    nodes = [n for n in node.named_children if n.type != "comment"]
    slot, kind = c.result
    run: Run | None = None
    if nodes:
        value = expression(c, nodes[0])
        if kind.name != "void":
            value = assigned_as(value, kind)
            c.flows.assigned(f"${slot}", value.taint)
        run = value.run
    c.used.add(slot)
    keeps = run is not None and kind.name != "void"

    def leave(f: Lanes) -> bool:
        if run is not None:
            value = run(f)
            if keeps:
                f.assign(slot, value)
        mask = f.whole_mask()
        f.returned = mask if f.returned is None else f.returned | mask
        return True

    return leave


def _break(_c: Compiler, _node: Node) -> Step:
    return lambda _f: True


def _continue(_c: Compiler, _node: Node) -> Step:
    def leave(f: Lanes) -> bool:
        mask = f.whole_mask()
        f.continued = mask if f.continued is None else f.continued | mask
        return True

    return leave


def _typedef(c: Compiler, node: Node) -> Step:
    c.reader.read_typedef(node)
    return nothing


def _labelled(c: Compiler, node: Node) -> Step:
    return block(c, [n for n in node.named_children if n.type != "statement_identifier"])


def _specified(c: Compiler, node: Node) -> Step:
    c.reader.specified(node)
    return nothing


def _goto(c: Compiler, node: Node) -> Step:
    match c.jumps.of(node):
        case Jump.AGAIN:
            return _continue(c, node)
        case Jump.BEYOND:
            return _break(c, node)
    raise c.refuse("`goto` is not interpreted", node)


def _error(c: Compiler, node: Node) -> Step:
    raise c.refuse("the source could not be read", node)


STATEMENTS: dict[str, Callable[[Compiler, Node], Step]] = {
    "compound_statement": _compound,
    "expression_statement": _expression,
    "declaration": _declaration,
    "if_statement": _if,
    "for_statement": loop,
    "while_statement": loop,
    "do_statement": loop,
    "switch_statement": switch,
    "return_statement": _return,
    "break_statement": _break,
    "continue_statement": _continue,
    "labeled_statement": _labelled,
    "type_definition": _typedef,
    "struct_specifier": _specified,
    "union_specifier": _specified,
    "enum_specifier": _specified,
    "goto_statement": _goto,
    "ERROR": _error,
    ";": lambda _c, _n: nothing,
    "comment": lambda _c, _n: nothing,
}
