"""How far the outputs of two versions of a kernel lie apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """What a version's outputs have other than the first version's.

    `max_ulps` is the greatest distance of two floating-point numbers in units in the last place, `max_relative` that
    relative to the first version's number, or to the root mean square of its buffer where the number is smaller. Both
    are 0 where nothing differs, and None where integers or bytes differ, or only one of two numbers is a NaN: no
    tolerance covers that.
    """

    compared: tuple[str, ...] = ()  # names of the outputs, as the first version has them
    not_compared: tuple[str, ...] = ()  # outputs that one of both lacks, or that have another length
    differing: tuple[str, ...] = ()
    max_ulps: int | None = 0
    max_relative: float | None = 0.0
    example: str = ""  # "`C[12]` is 3.5 instead of 3.25"

    @property
    def equal(self) -> bool | None:
        """Return whether all outputs have the same values; None where some were not compared."""
        if self.differing:
            return False
        return None if self.not_compared or not self.compared else True

    def within(self, ulps: int = 0, relative: float = 0.0) -> bool:
        """Return whether all outputs were compared and differ by no more than either tolerance."""
        if self.not_compared or not self.compared or self.max_ulps is None or self.max_relative is None:
            return False
        return self.max_ulps <= ulps or self.max_relative <= relative
