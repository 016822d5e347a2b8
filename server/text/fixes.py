"""Fixes in words: what one promises to gain, and what measuring it proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model.errors import KernelcastError
from server.text.format import format_duration_us

if TYPE_CHECKING:
    from profiler.side_by_side import SideBySide
    from profiler.turns import Difference
    from server.analysis.fix_gains import PredictedFix

ULPS = 4  # what two floating-point results may lie apart, unless the user says otherwise


def speed_up_text(factor: float) -> str:
    """`2.3x faster`, `15 % faster`; `1.2x slower` below 1."""
    if factor < 1:
        return f"{1 / factor:.2g}x slower" if factor < 0.8 else f"{100 * (1 / factor - 1):.0f} % slower"
    return f"{factor:.2g}x faster" if factor >= 1.25 else f"{100 * (1 - 1 / factor):.0f} % faster"


def fix_title(each: PredictedFix) -> str:
    """Return the fix with its predicted gain, as a menu shows it."""
    return f"{each.fix.title} (predicted {speed_up_text(each.speed_up)})"


def fix_json(each: PredictedFix) -> dict[str, Any]:
    """Return a fix as JSON; its line counts from 1, its edits are in bytes of the UTF-8 text."""
    return {
        "code": str(each.fix.code),
        "title": each.fix.title,
        "line": each.line,
        "promise": each.fix.promise,
        "exact": each.fix.is_exact,
        "predicted_us": each.after_us,
        "gain_percent": 100 * each.gain,
        "edits": [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in each.fix.edits],
    }


@dataclass(frozen=True, slots=True)
class Proof:
    """What measuring a launch before and after a fix, in turns, and comparing its outputs proved.

    `speed_up` has its 95 % interval. `is_equal`: all outputs agree within the tolerance, integers exactly.
    """

    speed_up: float
    low: float
    high: float
    before_us: float
    after_us: float
    is_equal: bool
    max_ulps: int | None
    results: str  # in words

    @property
    def is_faster(self) -> bool:
        return self.low > 1

    @property
    def is_kept(self) -> bool:
        """Whether the fix may stay: it is measurably faster, and its results are the same."""
        return self.is_faster and self.is_equal

    @property
    def text(self) -> str:
        """`2.3x faster (1.9 ms -> 0.83 ms), results equal`."""
        times = f"{format_duration_us(self.before_us)} -> {format_duration_us(self.after_us)}"
        if self.is_faster or self.high < 1:
            return f"{speed_up_text(self.speed_up)} ({times}), {self.results}"
        return f"not measurably faster ({times}), {self.results}"

    def as_json(self) -> dict[str, Any]:
        return {
            "before_us": self.before_us,
            "after_us": self.after_us,
            "speed_up": {"median": self.speed_up, "ci95": [self.low, self.high]},
            "faster": self.is_faster,
            "equal": self.is_equal,
            "max_ulps": self.max_ulps,
            "text": self.text,
        }


def proof_of(side: SideBySide, ulps: int) -> Proof:
    """Return what the first two versions prove: before and after. Raises what kept either from being measured."""
    before, after = side.versions[0], side.versions[1]
    error = before.error or after.error
    ratio = side.ratio(1)
    if error is not None or ratio is None or before.median_us is None or after.median_us is None:
        raise error or KernelcastError("there were too few runs to compare")
    is_equal, results = _results(after.difference, ulps, is_repeatable=side.is_repeatable)
    return Proof(
        1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low, before.median_us, after.median_us, is_equal, after.max_ulps,
        results,
    )  # fmt: skip


def _results(difference: Difference | None, ulps: int, *, is_repeatable: bool) -> tuple[bool, str]:
    if difference is None or difference.equal is None:
        return False, "results could not be compared"
    if difference.equal:
        return True, "results equal"
    if difference.within(ulps):
        return True, f"results differ by {difference.max_ulps} ulps at most"
    again = "" if is_repeatable else ", as do two runs of the original"
    more = f" ({difference.max_ulps} ulps)" if difference.max_ulps is not None else ""
    return False, f"results differ{again}: {difference.example}{more}"
