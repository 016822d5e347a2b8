"""Where an access goes, as a sum: constant + coefficient x id + coefficient x loop counter ..., in bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, ZERO, Atom, Expression
from model.work.regions.region import Access


class Obstacle(StrEnum):
    """Why an index is no such sum."""

    DATA = "data"  # it goes through what a buffer holds: `x[col[i]]`
    UNKNOWN = "unknown"  # nobody knows the value
    POINTER = "pointer"  # the pointer is not followed
    IMAGE = "image"
    DIVISION = "division"  # or a shift to the right
    MODULO = "modulo"  # or a mask
    BITS = "bits"  # xor, or, variable shifts
    CHOICE = "choice"  # ?:, min, max, clamp, abs
    PRODUCT = "product"  # of two ids or counters
    RECURRENCE = "recurrence"  # a loop's variable that does not grow by a constant


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient` x `variable`: an id or a loop counter; the coefficient holds scalars and sizes only [bytes]."""

    variable: Atom
    coefficient: Expression


@dataclass(frozen=True, slots=True)
class AffineIndex:
    """`constant` + the sum of `terms`; where `obstacle` is set there is no such form, and the rest is empty.

    Loop counters run from 0 in steps of 1, whatever the loop's own variable does.
    """

    constant: Expression
    terms: tuple[Term, ...]
    obstacle: Obstacle | None = None
    through: str = ""  # the buffer whose contents decide, for Obstacle.DATA

    def coefficient(self, variable: Atom) -> Expression:
        return next((t.coefficient for t in self.terms if t.variable is variable), ZERO)


@dataclass(frozen=True, slots=True)
class LoopName:
    """What a user calls a loop's variable, and the value it has in iteration `counter`: start + step x counter."""

    name: str
    start: Expression
    step: int


_IDS = {
    **{a: f"get_global_id({d})" for d, a in enumerate(GLOBAL_ID)},
    **{a: f"get_local_id({d})" for d, a in enumerate(LOCAL_ID)},
    **{a: f"get_group_id({d})" for d, a in enumerate(GROUP_ID)},
}
_OBSTACLES = {
    "div": Obstacle.DIVISION, "floordiv": Obstacle.DIVISION, "ceildiv": Obstacle.DIVISION, "shr": Obstacle.DIVISION,
    "mod": Obstacle.MODULO, "floormod": Obstacle.MODULO, "bitand": Obstacle.MODULO,
    "bitor": Obstacle.BITS, "bitxor": Obstacle.BITS, "shl": Obstacle.BITS,
    "min": Obstacle.CHOICE, "max": Obstacle.CHOICE, "select": Obstacle.CHOICE, "abs": Obstacle.CHOICE,
    "not": Obstacle.CHOICE, "and": Obstacle.CHOICE, "or": Obstacle.CHOICE, "lt0": Obstacle.CHOICE,
    "eq0": Obstacle.CHOICE, "compare": Obstacle.CHOICE,
    "trips": Obstacle.RECURRENCE, "iterate": Obstacle.RECURRENCE, "product": Obstacle.PRODUCT,
}  # fmt: skip


def affine_index(access: Access) -> AffineIndex:
    """Return the affine form of an access's byte offset, or why it has none."""
    offset = access.offset
    if access.is_image:
        return _none(Obstacle.IMAGE)
    if offset is None:
        return _none(Obstacle.POINTER)
    loads = [leaf for leaf in offset.leaves if leaf.kind == "load"]
    if loads:
        first = min(loads, key=lambda a: (a.depth, str(a.arguments[0])))  # the same in every process
        return _none(Obstacle.DATA, str(first.arguments[0]))
    if any(leaf.kind == "unknown" for leaf in offset.leaves):
        return _none(Obstacle.UNKNOWN)
    constant: dict[tuple[Atom, ...], int] = {}
    terms: dict[Atom, dict[tuple[Atom, ...], int]] = {}
    for monomial, coefficient in offset.terms:
        varying = [a for a in monomial if any(is_variable(leaf) for leaf in a.leaves)]
        strange = next((a for a in varying if not is_variable(a)), None)
        if strange is not None:
            return _none(_OBSTACLES.get(strange.kind, Obstacle.UNKNOWN))
        if len(varying) > 1:
            return _none(Obstacle.PRODUCT)
        if varying:
            rest = tuple(a for a in monomial if a is not varying[0])
            terms.setdefault(varying[0], {})[rest] = coefficient
        else:
            constant[monomial] = coefficient
    return AffineIndex(Expression(constant), tuple(Term(a, Expression(t)) for a, t in terms.items()))


def _none(obstacle: Obstacle, through: str = "") -> AffineIndex:
    return AffineIndex(ZERO, (), obstacle, through)


def is_variable(atom: Atom) -> bool:
    """Return whether it is an id or a loop's counter."""
    return atom in _IDS or (atom.kind == "symbol" and str(atom.arguments[0]).startswith("loop."))


# --- in words --------------------------------------------------------------------------------------------


def index_text(index: AffineIndex, element_bytes: int, names: Mapping[Atom, LoopName], ids: Mapping[Atom, str]) -> str:
    """As a user would write it, in elements: `row*n + k`; empty where there is no form.

    `names` gives loops' variables by counter, `ids` what the source calls an id.
    """
    if index.obstacle is not None:
        return ""
    whole = index.constant
    shown: list[tuple[str, Expression]] = []
    for term in index.terms:
        loop = names.get(term.variable)
        if loop is not None and _divides(loop.step, term.coefficient):
            each = _over(term.coefficient, loop.step)
            whole = whole - each * loop.start
            shown.append((loop.name, each))
        else:
            shown.append((ids.get(term.variable) or _IDS.get(term.variable, "iteration"), term.coefficient))
    if not all(_divides(element_bytes, e) for e in (whole, *(e for _, e in shown))):
        return ""
    parts = [_product(name, _over(e, element_bytes), ids) for name, e in shown]
    if whole.terms or not parts:
        parts.append(_sum_text(_over(whole, element_bytes), ids))
    return " + ".join(parts).replace("+ -", "- ")


def _divides(divisor: int, expression: Expression) -> bool:
    return divisor != 0 and all(c % divisor == 0 for _, c in expression.terms)


def _over(expression: Expression, divisor: int) -> Expression:
    return Expression({m: c // divisor for m, c in expression.terms})


def _product(name: str, times: Expression, ids: Mapping[Atom, str]) -> str:
    if times.constant == 1:
        return name
    text = _sum_text(times, ids)
    return f"{name}*({text})" if len(times.terms) > 1 else f"{name}*{text}"


def _sum_text(expression: Expression, ids: Mapping[Atom, str]) -> str:
    parts = [_monomial(m, c, ids) for m, c in expression.terms]
    return " + ".join(parts).replace("+ -", "- ") or "0"


def _monomial(atoms: Iterable[Atom], coefficient: int, ids: Mapping[Atom, str]) -> str:
    names = [ids.get(a) or _atom_text(a) for a in atoms]
    if coefficient == -1 and names:
        return "-" + "*".join(names)
    return "*".join([*([str(coefficient)] if coefficient != 1 or not names else []), *names])


def _atom_text(atom: Atom) -> str:
    if atom in _IDS:
        return _IDS[atom]
    if atom.kind != "symbol":
        return f"({atom!r})"
    kind, _, name = str(atom.arguments[0]).partition(".")
    return {
        "arg": name, "name": name, "global_size": f"get_global_size({name})", "local_size": f"get_local_size({name})",
        "num_groups": f"get_num_groups({name})",
    }.get(kind, f"{kind}.{name}")  # fmt: skip
