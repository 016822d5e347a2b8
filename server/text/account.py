"""The account of a predicted time in words: its limit, what each resource adds, and what overlaps with others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from model.account import OTHER, Bound
from model.line_costs import NO_LINE
from server.text.format import format_duration_us, whole_percents

if TYPE_CHECKING:
    from model.account import ResourceTime, TimeAccount
    from model.line_costs import LineShare
    from model.prediction import Prediction

_PARTS_SHOWN = 3
_LEAST_SHARE = 0.005  # less would be shown as 0 %
_LEAST_TOLD = 0.05
_HALF = 0.5
_LIMITS = {Bound.LAUNCH: "the cost of a launch itself"}
_NAMES = {OTHER: "not explained"}
_GOES_TO = {
    Bound.MEMORY: "moving data",
    Bound.COMPUTE: "operations",
    Bound.LATENCY: "waiting",
    Bound.LAUNCH: "the launch itself",
}
_HELP = {
    Bound.MEMORY: "fewer bytes, or using again what was loaded, will help most",
    Bound.COMPUTE: "fewer or cheaper operations will help most",
    Bound.LATENCY: "it waits for barriers, for atomics on one place, or for operations that need the result of the "
    "one before; more independent work at a time will help most",
    Bound.LAUNCH: "starting it costs more than what it does; more work in each launch and in each work-group will "
    "help most",
}


def limit_text(account: TimeAccount) -> str:
    """`memory`, `the cost of a launch itself`."""
    return _LIMITS.get(account.limiter, str(account.limiter))


def name_of_part(part: ResourceTime) -> str:
    return _NAMES.get(part.resource, part.resource)


def share_text(share: float) -> str:
    return f"{100 * share:.0f} %"


def parts_text(account: TimeAccount) -> str:
    """`global memory 2.1 ms (78 %), floating point 0.4 ms (15 %), all else 7 %`: it sums to the time shown."""
    shown = [part for part in account.parts[:_PARTS_SHOWN] if part.share >= _LEAST_SHARE]
    left = 1 - sum(part.share for part in shown)
    *percents, rest = whole_percents([*(part.share for part in shown), left])
    said = [
        f"{name_of_part(part)} {format_duration_us(part.time_us)} ({percent} %)"
        for part, percent in zip(shown, percents, strict=True)
    ]
    return ", ".join([*said, *([f"all else {rest} %"] if rest > 0 else [])])


def overlap_text(account: TimeAccount) -> str:
    """`global memory overlaps with compute: 0.9 ms of it are hidden`; empty where nothing worth a word is."""
    hidden = sorted(account.overlapped, key=lambda part: -part.hidden_us)[:2]
    said = [f"{part.resource} ({format_duration_us(part.hidden_us)} hidden)" for part in hidden]
    return f"{' and '.join(said)} {'overlap' if len(said) > 1 else 'overlaps'} with {account.limiter}" if said else ""


def reading(account: TimeAccount) -> str:
    """Return one sentence on what limits the launch and what would help; it names only what the account shows."""
    kinds = dict(account.kinds)
    share = kinds.get(account.limiter, 0.0)
    own = [part for part in account.parts if part.bound is account.limiter]
    what = f" ({own[0].resource} {format_duration_us(own[0].time_us)})" if own else ""
    most = "Most" if share > _HALF else "The largest part"
    text = f"{most} of the time, {share_text(share)}, goes to {_GOES_TO[account.limiter]}{what}: "
    text += f"{_HELP[account.limiter]}."
    if account.unexplained >= _LEAST_TOLD:
        text += f" {share_text(account.unexplained)} is more than the analytical model explains."
    return text


def line_rows(prediction: Prediction, shown: int) -> list[tuple[str, str, str]]:
    """Share, place and main cost: the hottest lines, then what is left of the time, so that they sum to it."""
    own = [line for line in prediction.lines if line.line >= 0 and line.share >= _LEAST_SHARE]
    rows = [(line.share, f"line {line.line + 1}", line.what) for line in own[:shown]]
    left = [line for line in prediction.lines if line not in own[:shown]]
    for place, what, lines in _leftovers(left):
        share = sum(line.share for line in lines)
        if rows and share >= _LEAST_SHARE:
            rows.append((share, place, what))
    percents = whole_percents([share for share, _, _ in rows])
    return [(f"{percent} %", place, what) for percent, (_, place, what) in zip(percents, rows, strict=True)]


def _leftovers(left: Sequence[LineShare]) -> list[tuple[str, str, list[LineShare]]]:
    others = [line for line in left if line.line >= 0]
    included = [line for line in left if NO_LINE < line.line < 0]
    none = [line for line in left if line.line == NO_LINE]
    return [
        ("others", f"{len(others)} more line{'s' if len(others) > 1 else ''}", others),
        ("included", "lines of included files", included),
        ("no line", ", ".join(line.what for line in none if line.share >= _LEAST_SHARE), none),
    ]


def account_json(account: TimeAccount) -> list[dict[str, Any]]:
    """Return the parts of the time, the longest first; `time_us` sums to p50 and `share` to 1."""
    return [
        {
            "resource": part.resource,
            "bound": str(part.bound) if part.bound is not None else None,
            "time_us": part.time_us,
            "share": part.share,
            "hidden_us": part.hidden_us,
        }
        for part in account.parts
    ]


def lines_json(prediction: Prediction) -> list[dict[str, Any]]:
    """Lines count from 1; null is what no line of this file takes. Shares sum to 1."""
    return [
        {"line": each.line + 1 if each.line >= 0 else None, "share": each.share, "what": each.what}
        for each in prediction.lines
    ]


def assumptions_json(prediction: Prediction) -> list[dict[str, Any]]:
    """Return what was taken for granted; `is_guess`: a size, or how often something runs, that the user alone knows."""
    return [
        {"subject": each.subject, "text": each.text, "spread": each.spread, "is_guess": each.is_guess}
        for each in prediction.assumptions
    ]
