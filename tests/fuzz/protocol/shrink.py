"""A failing script, cut down by playing parts of it, as long as the same fault comes."""

from __future__ import annotations

import time
from dataclasses import replace

from tests.fuzz.protocol.script import Script
from tests.fuzz.protocol.session import play


def kind_of(fault: str) -> str:
    """Without what differs from run to run."""
    first = fault.splitlines()[0] if fault else ""
    last = fault.rstrip().splitlines()[-1] if "log holds" in first else ""
    return "".join(c for c in f"{first.split(':')[0]} {last}" if not c.isdigit())[:200]


def shrunk(script: Script, fault: str, budget_s: float = 240.0) -> Script:
    """By halves, quarters and so on, after the habit of delta debugging."""
    wanted, until = kind_of(fault), time.monotonic() + budget_s
    steps, size = list(script.steps), max(1, len(script.steps) // 2)
    while size and time.monotonic() < until:
        at, has_shrunk = 0, False
        while at < len(steps) and time.monotonic() < until:
            fewer = steps[:at] + steps[at + size :]
            if fewer and kind_of(play(replace(script, steps=tuple(fewer))).fault) == wanted:
                steps, has_shrunk = fewer, True
            else:
                at += size
        size = size if has_shrunk and size == 1 else size // 2
    return replace(script, steps=tuple(steps))
