"""Operators that evaluate an operand for some lanes only: && and ||, and ?:."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import INT
from model.opencl.types import PointerType, ScalarType, StructType, Type, VectorType
from model.sampling.code import Code, Run
from model.sampling.compiler import Compiler
from model.sampling.conversions import truth_of
from model.sampling.places import assigned_as
from model.sampling.values import Value, common_type, dtype_of, element_of, integer_like, with_element

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

Later = Callable[[], Code]


def short_circuit(c: Compiler, sign: str, left: Code, compile_right: Later, node: Node) -> Code:
    """Compile `a && b` or `a || b`; of vectors both sides are evaluated."""
    right = compile_right()
    taint = left.taint | right.taint
    if isinstance(left.type, VectorType) or isinstance(right.type, VectorType):
        return _of_vectors(sign, left, right, taint)
    site = c.site(node, left.taint)
    c.cost += 3
    first, second = truth_of(left), truth_of(right)
    run = _either(site, first, second, is_or=sign == "||", is_pure=right.is_pure)
    known = _known(sign, left, right)
    return Code(lambda f: run(f).astype(np.int32), INT, run, known, left.is_pure and right.is_pure, taint)


def _known(sign: str, left: Code, right: Code) -> Value:
    if left.constant is None:
        return None
    if bool(left.constant) == (sign == "||"):
        return np.int32(sign == "||")
    return None if right.constant is None else np.int32(bool(right.constant))


def _either(site: int, first: Run, second: Run, *, is_or: bool, is_pure: bool) -> Run:
    def run(f: Lanes) -> Value:
        record = f.context.sites[site]
        active, mask = f.active, f.mask
        record.begun += active
        record.completed += active
        known = first(f)
        goes_on = ~known if is_or else known
        if goes_on.ndim == 0:
            if not goes_on:
                return known
            record.taken += active
            record.take(f, mask)
            return second(f)
        if mask is not None:
            goes_on = goes_on & mask
        count = int(np.count_nonzero(goes_on))
        if not count:
            return known
        record.taken += count
        if count == active:
            record.take(f, mask)
            return second(f)
        record.take(f, goes_on)
        if is_pure:
            other = second(f)
        else:
            f.mask, f.active = goes_on, count
            other = second(f)
            f.mask, f.active = mask, active
        return known | (goes_on & other) if is_or else goes_on & other

    return run


def _of_vectors(sign: str, left: Code, right: Code, taint: frozenset[str]) -> Code:
    kind = common_type(left.type, right.type)
    whole = with_element(kind, integer_like(element_of(kind)))
    dtype, a, b = dtype_of(element_of(whole)), left.run, right.run
    is_or = sign == "||"

    def run(f: Lanes) -> Value:
        x, y = a(f) != 0, b(f) != 0
        return -((x | y) if is_or else (x & y)).astype(dtype)

    return Code(run, whole, None, None, left.is_pure and right.is_pure, taint)


def conditional(c: Compiler, chooser: Code, compile_yes: Later, compile_no: Later, node: Node) -> Code:
    """Compile `a ? b : c`."""
    yes, no = compile_yes(), compile_no()
    kind = _result(c, yes.type, no.type, node)
    taint = chooser.taint | yes.taint | no.taint
    c.cost += 3
    if isinstance(chooser.type, VectorType):
        kind = kind if isinstance(kind, VectorType) else VectorType(element_of(kind), chooser.type.width)
        a, b, choose = assigned_as(yes, kind).run, assigned_as(no, kind).run, chooser.run
        pure = yes.is_pure and no.is_pure and chooser.is_pure
        return Code(lambda f: np.where(choose(f) < 0, a(f), b(f)), kind, None, None, pure, taint)
    a, b = (_as(yes, kind).run, _as(no, kind).run)
    pure = yes.is_pure and no.is_pure
    run = _chosen(c.site(node, chooser.taint), truth_of(chooser), a, b, is_pure=pure)
    known = None
    if chooser.constant is not None:
        known = (_as(yes, kind) if chooser.constant else _as(no, kind)).constant
    return Code(run, kind, None, known, pure and chooser.is_pure, taint)


def _as(value: Code, kind: Type) -> Code:
    return value if isinstance(kind, StructType) or kind.name == "void" else assigned_as(value, kind)


def _result(c: Compiler, yes: Type, no: Type, node: Node) -> Type:
    if isinstance(yes, PointerType) or isinstance(no, PointerType):
        return yes if isinstance(yes, PointerType) else no
    if isinstance(yes, ScalarType | VectorType) and isinstance(no, ScalarType | VectorType):
        return common_type(yes, no)
    if yes == no or yes.name == no.name:
        return yes
    raise c.refuse(f"`?:` between `{yes.name}` and `{no.name}`", node)


def _chosen(site: int, truth: Run, yes: Run, no: Run, *, is_pure: bool) -> Run:
    def run(f: Lanes) -> Value:
        record = f.context.sites[site]
        active, mask = f.active, f.mask
        record.begun += active
        record.completed += active
        chosen = truth(f)
        if chosen.ndim == 0:
            if not chosen:
                return no(f)
            record.taken += active
            record.take(f, mask)
            return yes(f)
        met = chosen if mask is None else chosen & mask
        count = int(np.count_nonzero(met))
        if not count:
            return no(f)
        record.taken += count
        if count == active:
            record.take(f, mask)
            return yes(f)
        record.take(f, met)
        if is_pure:
            return np.where(met, yes(f), no(f))
        f.mask, f.active = met, count
        a = yes(f)
        f.mask, f.active = (~chosen if mask is None else mask & ~chosen), active - count
        b = no(f)
        f.mask, f.active = mask, active
        return a if a is None or b is None else np.where(met, a, b)

    return run
