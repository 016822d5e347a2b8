"""What became of the kernels of public programs, as a table by program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kernel: `code` is empty where it was predicted, else that of the error, or `timeout` or `crash`."""

    reference: str
    kernel: str
    code: str
    message: str
    took_s: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Tally:
    """All outcomes of one program."""

    name: str
    outcomes: list[Outcome]

    @property
    def answered(self) -> int:
        return sum(not outcome.code for outcome in self.outcomes)

    @property
    def errors(self) -> str:
        found = Counter(outcome.code for outcome in self.outcomes if outcome.code)
        return ", ".join(f"{code} {number}" for code, number in sorted(found.items()))

    @property
    def slowest(self) -> Outcome:
        return max(self.outcomes, key=lambda outcome: outcome.took_s)

    def percentile_ms(self, share: float) -> float:
        times = sorted(outcome.took_s for outcome in self.outcomes)
        return 1000 * times[min(len(times) - 1, int(share * len(times)))]

    def line(self) -> str:
        """One row of the table."""
        slowest = self.slowest
        cells = (
            self.name, f"{len(self.outcomes)}", f"{self.answered}", self.errors or "-",
            f"{1000 * slowest.took_s:.0f} ({slowest.kernel})", f"{self.percentile_ms(0.95):.0f}",
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def table(tallies: Sequence[Tally]) -> str:
    """By program, and all together in the last row."""
    head = [
        "| program | kernels | answered | errors | slowest [ms] | p95 [ms] |",
        "| --- | ---: | ---: | --- | --- | ---: |",
    ]
    if not tallies:
        return "no programs, no kernels"
    whole = Tally(f"all {len(tallies)}", [outcome for tally in tallies for outcome in tally.outcomes])
    return "\n".join([*head, *(tally.line() for tally in tallies), whole.line()])
