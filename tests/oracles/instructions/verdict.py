"""How close is close enough, and what is known about the launches that are not."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracles.instructions.compared import Compared
from tests.oracles.instructions.decided import Decided

FOLDER = Path(__file__).resolve().parents[1]
KERNELS = FOLDER / "kernels"
EXPLANATIONS = FOLDER / "disagreements.toml"
BAR_PERCENT = {Decided.BY_LAUNCH: 5.0, Decided.BY_FILL: 5.0, Decided.BY_NOBODY: 5.0}
UNCOUNTED = "measure"  # the name of launches that are made for a clock: too large to simulate


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why some launches of a kernel disagree, or cannot be executed by the oracle at all."""

    kernel: str
    launches: frozenset[str]
    because: str


def kernel_files() -> list[Path]:
    return sorted(KERNELS.glob("*.cl"))


def agrees(one: Compared) -> bool:
    """Whether every quantity of an executed launch is within the bar of its class."""
    return one.problem is None and one.worst_percent <= BAR_PERCENT[one.decided]


def share_within(launches: Sequence[Compared], percent: float, quantity: str | None = None) -> float:
    """The share, 0 to 1, of executed launches whose `quantity` (all of them if None) deviates by no more."""
    executed = [one for one in launches if one.problem is None]
    close = [
        one
        for one in executed
        if all(abs(q.deviation_percent) <= percent for q in one.quantities if quantity in (None, q.name))
    ]
    return len(close) / len(executed) if executed else 1.0


def read_explanations(path: Path = EXPLANATIONS) -> list[Explanation]:
    """In the order of the file: `[[explained]]` tables with kernel, launches, because."""
    tables = tomllib.loads(path.read_text("utf-8")).get("explained", [])
    return [Explanation(t["kernel"], frozenset(t["launches"]), " ".join(t["because"].split())) for t in tables]
