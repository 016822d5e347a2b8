"""One piece of advice: what it is about, why, and what heeding it would gain; and how it says figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def bytes_text(count: float) -> str:
    """`4.19 MB`; decimal prefixes."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"


def sizes_text(sizes: Sequence[int]) -> str:
    """`16x16`, without dimensions of 1 at the end."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


def times_text(factor: float) -> str:
    """`16`, `4.4`."""
    return f"{factor:.0f}" if factor >= 10 or factor == int(factor) else f"{factor:.1f}"


def names_text(names: Sequence[str]) -> str:
    """`` `a`, `b` and `c` ``."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
