"""One piece of advice: what it is about, why, and what heeding it would gain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from model.account import TimeAccount


class AdviceCode(StrEnum):
    """What there are rules for. The words are part of the settings, so they stay."""

    UNCOALESCED_ACCESS = "uncoalesced-access"
    BANK_CONFLICTS = "bank-conflicts"
    DIVERGENT_BARRIER = "divergent-barrier"
    TOO_FEW_GROUPS = "too-few-groups"
    LOCAL_SIZE_MULTIPLE = "local-size-multiple"
    PRECISE_FUNCTION = "precise-function"
    LOCAL_TILE = "local-tile"
    REPEATED_LOAD = "repeated-load"
    POSSIBLE_ALIASING = "possible-aliasing"
    ONLY_READ = "only-read"
    RELAXED_MATH = "relaxed-math"
    ROLLED_LOOP = "rolled-loop"
    UNKNOWN_GROUP_SIZE = "unknown-group-size"
    SCALAR_ACCESS = "scalar-access"
    UNFUSED_PRODUCT = "unfused-product"
    SMALL_WORK_ITEM = "small-work-item"
    NARROW_INDEX = "narrow-index"


# Codes whose fixes were faster by 5 % or more in less than 70 % of the kernels that they were predicted to help, or
# that were measured on too few, see docs/pages/advice.md: off unless the user asks for them.
UNPROVEN = frozenset(
    {
        AdviceCode.POSSIBLE_ALIASING,
        AdviceCode.ONLY_READ,
        AdviceCode.RELAXED_MATH,
        AdviceCode.ROLLED_LOOP,
        AdviceCode.UNKNOWN_GROUP_SIZE,
    }
)


@dataclass(frozen=True, slots=True)
class Advice:
    """`message` is whole sentences in the user's names, with the figure that the advice rests on."""

    code: AdviceCode
    message: str
    line: int | None = None  # from 0; None: the kernel and its launch as a whole
    gain_us: float | None = None  # how much sooner the launch would be done, where the analytical model can tell
    is_fault: bool = False  # more than slow: the standard leaves undefined what happens
    resources: tuple[str, ...] = ()  # whose time it would save; none: of the launch as a whole


def relevant(advice: Iterable[Advice], account: TimeAccount, factor: float = 1.0) -> tuple[Advice, ...]:
    """Return the advice that is about a good part of the time, with gains of no more than that part.

    `factor` is by how much the time is longer now than when the gains were reckoned. Faults are always told.
    """
    return tuple(
        replace(each, gain_us=_most(each, account, each.gain_us * factor)) if each.gain_us is not None else each
        for each in advice
        if each.is_fault or account.is_critical(*each.resources)
    )


def _most(advice: Advice, account: TimeAccount, gain_us: float) -> float:
    return min(gain_us, account.time_of(*advice.resources) if advice.resources else account.runtime_us)
