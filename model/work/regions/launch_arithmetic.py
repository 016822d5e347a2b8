"""Integer arithmetic that a launch alone decides: what is divided by, and sums and products that 32 bits must hold.

Expressions hold whole numbers of any size and forget their types. What a launch's scalars may break is noted here
with its type, where the source computes it.
"""

from __future__ import annotations

from typing import NamedTuple

from model.opencl.types import ScalarKind, ScalarType
from model.work.expressions.symbolic import Atom, Expression

_OF_THE_LAUNCH = ("arg.", "name.", "image.", "global_size.", "local_size.", "num_groups.", "work_dim")
_DIVISIONS = frozenset({"div", "mod", "floordiv", "floormod"})
_GROWING = frozenset({"+", "-", "*", "<<"})
_WORD_BYTES = 4  # of `int` and `uint`: what is smaller is computed in `int`


class Arithmetic(NamedTuple):
    """An operation on integers of `bits` bits that nothing but the launch decides, or a division by a plain 0.

    `value` is the divisor where it `divides`, else the result. It is computed if `result` is needed.
    """

    line: int
    value: Expression
    result: Expression
    divides: bool
    bits: int
    is_signed: bool


def is_of_launch(expression: Expression) -> bool:
    """Return whether scalars and sizes of the launch alone decide a value; not for plain numbers."""
    return expression.leaf_kinds == 1 and all(map(_names_launch, expression.leaves))


def _names_launch(atom: Atom) -> bool:
    return str(atom.arguments[0]).startswith(_OF_THE_LAUNCH)


def noted(operator: str, kind: ScalarType, right: Expression, result: Expression) -> Arithmetic | None:
    """Return what is to be noted of `result`, that an operator made with `right` on its right side, if anything.

    The line is left to the caller: finding it out takes long.
    """
    if operator in _GROWING:
        value, divides = result, False
        if kind.size_bytes != _WORD_BYTES:
            return None
    elif operator in ("/", "%"):
        atom = result.atom
        if atom is None or atom.kind not in _DIVISIONS:
            return None
        value, divides = right, True
    else:
        return None
    if not is_of_launch(value) and not (divides and value.constant == 0):
        return None
    return Arithmetic(0, value, result, divides, 8 * kind.size_bytes, kind.kind is ScalarKind.SIGNED)
