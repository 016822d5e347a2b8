"""The track record of fixes as a table: by code, how often edits that were predicted to help did."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from model.advice.advice import UNPROVEN
from model.advice.situation import LEAST_GAIN

Row = dict[str, Any]
LEAST_PRECISION = 0.7  # a code whose fixes help less often is off by default: see `UNPROVEN`
LEAST_EDITS = 10  # to say so of a code
FASTER = 1 / (1 - LEAST_GAIN)


def edits_of(rows: Iterable[Row]) -> list[Row]:
    """Return the edits that were measured; other rows say of a kernel that it was looked at."""
    return [row for row in rows if "measured" in row]


def precision(edits: Sequence[Row]) -> float:
    return sum(row["measured"] >= FASTER for row in edits) / len(edits) if edits else math.nan


def recall(edits: Sequence[Row]) -> float:
    """Return the share of edits that are faster by 5 % which were predicted to be.

    Of those predicted to gain less only a sample was measured, so each of these stands for as many as its `share` says.
    """
    shown = sum(row["shown"] and row["measured"] >= FASTER for row in edits)
    missed = sum(1 / row["share"] for row in edits if not row["shown"] and row["measured"] >= FASTER)
    return shown / (shown + missed) if shown + missed else math.nan


def table(rows: Sequence[Row]) -> str:
    """Return the track record by code, of fixes that are predicted to gain 5 % or more, then of the others."""
    head = (
        "Code", "Shown", "n", "Faster by 5 %", "Median gain", "Median predicted gain", "Error factor",
        "Recall", "Beyond 4 ulps", "Wrong",
    )  # fmt: skip
    lines = [f"| {' | '.join(head)} |", f"| --- | --- |{' ---: |' * (len(head) - 2)}"]
    edits = edits_of(rows)
    groups: dict[tuple[bool, str], list[Row]] = defaultdict(list)
    for row in edits:
        groups[not row["shown"], row["code"]].append(row)
    for (hidden, code), own in sorted(groups.items()):
        off = median(abs(math.log(row["predicted"] / row["measured"])) for row in own)
        found = "" if hidden else _percent(recall([row for row in edits if row["code"] == code]))
        lines.append(
            f"| `{code}` | {'no' if hidden else 'yes'} | {len(own)} | {_percent(precision(own))} "
            f"| {median(row['measured'] for row in own):.2f}x | {median(row['predicted'] for row in own):.2f}x "
            f"| {math.exp(off):.2f} | {found} | {_count(own, 'beyond')} | {_count(own, 'wrong')} |"
        )
    return "\n".join([*lines, "", *_defaults(groups), _summary(rows)])


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def _count(own: Sequence[Row], what: str) -> int:
    return sum(1 for row in own if row[what])


def _defaults(groups: dict[tuple[bool, str], list[Row]]) -> list[str]:
    """Return what the rule for codes that are off by default makes of the rows, where it differs from what is so."""
    said = []
    for (hidden, code), own in sorted(groups.items()):
        is_off = precision(own) < LEAST_PRECISION
        if not hidden and len(own) >= LEAST_EDITS and is_off != (code in UNPROVEN):
            said.append(f"`{code}` should be {'off' if is_off else 'on'} by default (model/advice/advice.py)")
    return [*said, ""] if said else []


def _summary(rows: Sequence[Row]) -> str:
    looked_at = {row["kernel"]: row for row in rows if "candidates" in row}
    errors = sum("error" in row and "code" in row for row in rows)
    edits = edits_of(rows)
    loads = [row["load"] for row in edits]
    real = sum("origin" in row and row["origin"] != "generator" for row in looked_at.values())
    return (
        f"{len(looked_at) or len({row['kernel'] for row in rows})} kernels ({real} of packages), "
        f"{len({row['kernel'] for row in edits})} of them measured with {len(edits)} edits; {errors} edits could not "
        f"be measured; load of the machine {min(loads, default=0):.1f} to {max(loads, default=0):.1f}, "
        f"median {median(loads or [0]):.1f}"
    )
