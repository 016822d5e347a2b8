"""One piece of advice: what it is about, why, and what heeding it would gain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AdviceCode(StrEnum):
    """What there are rules for. The words are part of the settings, so they stay."""

    UNCOALESCED_ACCESS = "uncoalesced-access"
    BANK_CONFLICTS = "bank-conflicts"
    DIVERGENT_BARRIER = "divergent-barrier"
    TOO_FEW_GROUPS = "too-few-groups"
    LOCAL_SIZE_MULTIPLE = "local-size-multiple"
    PRECISE_FUNCTION = "precise-function"
    LOCAL_TILE = "local-tile"


@dataclass(frozen=True, slots=True)
class Advice:
    """`message` is whole sentences in the user's names, with the figure that the advice rests on."""

    code: AdviceCode
    message: str
    line: int | None = None  # from 0; None: the kernel and its launch as a whole
    gain_us: float | None = None  # how much sooner the launch would be done, where the laws can tell
    is_fault: bool = False  # more than slow: the standard leaves undefined what happens
