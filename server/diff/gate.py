"""Which changes fail a check, and which of them were accepted before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model.errors import KernelcastError
from server.cli.comparing import Verdict
from server.diff.changes import Change

_VERSION = 1
_NAMED = {each.value.replace(" ", "-"): each for each in Verdict}


class BaselineError(KernelcastError):
    """A file of accepted changes that cannot be used; the message says why."""

    code = "baseline"


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict that fails the check; of `faster` and `slower`, from this many percent on."""

    verdict: Verdict
    percent: float = 0.0

    def holds(self, change: Change) -> bool:
        """Return whether a change fails by this rule: its verdict is this one, and the ratio that far off."""
        if change.verdict is not self.verdict:
            return False
        middle = change.middle
        if middle is None or self.verdict not in (Verdict.SLOWER, Verdict.FASTER):
            return True
        return abs(middle - 1) * 100 >= self.percent


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Read `slower:10%,unknown`. Raises ValueError with a sentence."""
    return tuple(_rule(word.strip()) for word in text.split(",") if word.strip())


def _rule(word: str) -> Rule:
    name, colon, rest = word.partition(":")
    verdict = _NAMED.get(name.strip())
    if verdict is None:
        raise ValueError(f"`{name}` is not a verdict; there are {', '.join(_NAMED)}")
    if not colon:
        return Rule(verdict)
    if verdict not in (Verdict.SLOWER, Verdict.FASTER):
        raise ValueError(f"`{word}`: only slower and faster take a percentage")
    try:
        percent = float(rest.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent < float("inf"):
        raise ValueError(f"`{word}`: `{rest}` is not a percentage such as 10%")
    return Rule(verdict, percent)


def failing(changes: Iterable[Change], rules: Sequence[Rule]) -> list[Change]:
    """Return the changes that fail the check: a rule holds, and they were not accepted."""
    return [each for each in changes if not each.is_accepted and any(rule.holds(each) for rule in rules)]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The changes that a baseline file accepts: each until its kernel means something else."""

    entries: tuple[dict[str, Any], ...] = ()

    def marked(self, changes: Iterable[Change]) -> list[Change]:
        """Return the changes, those that are accepted marked as such."""
        known = set(map(_key, self.entries))
        return [replace(each, is_accepted=True) if _key(_entry(each)) in known else each for each in changes]

    def with_changes(self, changes: Iterable[Change]) -> Accepted:
        """Return the baseline with these changes accepted, instead of earlier entries for the same kernels."""
        new = [_entry(each) for each in changes]
        about = {(each["file"], each["kernel"], each["device"]) for each in new}
        kept = [each for each in self.entries if (each["file"], each["kernel"], each["device"]) not in about]
        entries = {_key(each): each for each in (*kept, *new)}
        return Accepted(tuple(entries[key] for key in sorted(entries)))


def read_baseline(path: Path, *, may_be_missing: bool = False) -> Accepted:
    """Return what a file accepts. Raises BaselineError."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if may_be_missing:
            return Accepted()
        raise BaselineError(f"{path} is not there; --write-baseline writes it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path} cannot be read: {error}") from None
    try:
        content = json.loads(text)
        entries = tuple(content["accepted"])
        is_known = content["version"] == _VERSION and all(_is_entry(each) for each in entries)
    except (ValueError, TypeError, KeyError, RecursionError):
        is_known = False
    if not is_known:
        raise BaselineError(f"{path} is not a baseline of `kernelcast diff`, or one of another version")
    return Accepted(entries)


def write_baseline(path: Path, accepted: Accepted) -> None:
    """Write the file, one line per kernel so that it merges well. Raises BaselineError."""
    rows = ",\n".join(f"  {json.dumps(each, sort_keys=True)}" for each in accepted.entries)
    text = f'{{"version": {_VERSION}, "accepted": [\n{rows}\n]}}\n'
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BaselineError(f"{path} cannot be written: {error.strerror}") from None


def _entry(change: Change) -> dict[str, Any]:
    middle = change.middle
    return {
        "file": change.at.file,
        "kernel": change.at.kernel,
        "device": change.device.id if change.device is not None else "",
        "launch": change.launch.describe() if change.launch is not None else "",
        "verdict": str(change.verdict),
        "fingerprint": change.fingerprint,
        "ratio": round(middle, 3) if middle is not None else None,
    }


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in _KEYS)


def _key(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry[name]) for name in _KEYS)


_KEYS = ("file", "kernel", "device", "launch", "verdict", "fingerprint")
