"""What compiling an expression gives: code that computes a value for all lanes, or the place that it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.opencl.types import Type
from model.sampling.lanes import Lanes
from model.sampling.taint import Tokens
from model.sampling.values import NO_TAINT, Value

Run = Callable[[Lanes], Value]


@dataclass(frozen=True, slots=True)
class Code:
    """An expression compiled.

    `truth` gives it as booleans, where that is cheaper than comparing with 0. `constant` is its value where that never
    changes. `is_pure`: it may be computed for lanes that do not ask for it. `taint`: see `taint`.
    """

    run: Run
    type: Type
    truth: Run | None = None
    constant: Any = None
    is_pure: bool = True
    taint: frozenset[str] = NO_TAINT


@dataclass(frozen=True, slots=True)
class Place:
    """`slot` or `address`. `picks`: the components that are spoken of, of a vector of type `whole`.

    `index` decides the address, and taints it; `pointer` are the tokens of the address itself. `access` is the number
    of its record; None for variables, which are not counted.
    """

    type: Type
    slot: int | None = None
    address: Run | None = None
    whole: Type | None = None
    picks: tuple[int, ...] = ()
    pointer: Tokens = NO_TAINT
    index: Tokens = NO_TAINT
    access: int | None = None
    is_followed: bool = False  # through a pointer or an index
