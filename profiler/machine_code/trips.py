"""How many rounds a loop makes, where its code says so: a counter with a constant begin, step and end."""

from __future__ import annotations

from collections.abc import Sequence

from profiler.machine_code.instruction import Instruction
from profiler.machine_code.loops import Loop

_FLAGS = "rflags"
_FAR = 400  # instructions before a loop among which its counter is set
_MOST = 1 << 20


def trips_of(loop: Loop, instructions: Sequence[Instruction]) -> int | None:
    """None where the launch or the data decide. A loop that may be left early is none of these."""
    if len(loop.latches) != 1 or _may_be_left_early(loop, instructions):
        return None
    latch = loop.latches[0]
    at = next(
        (p for p in range(latch - 1, latch - 40, -1) if p in loop.members and _FLAGS in instructions[p].writes), None
    )
    if at is None or not instructions[latch].falls_through:
        return None
    ended = instructions[at].constant
    if ended is None or ended[0] == "set":
        return None
    counter = ended[1]
    end = ended[2] if ended[0] == "compare" else 0
    steps = [p for p in loop.members if counter in instructions[p].writes]
    if len(steps) != 1:
        return None
    step = instructions[steps[0]].constant
    begin = _begin(counter, min(loop.members), instructions)
    if step is None or step[0] != "add" or step[2] == 0 or begin is None:
        return None
    rounds = (_signed(end) - _signed(begin)) / step[2] + (steps[0] > at)
    return max(1, round(rounds)) if 0 < rounds < _MOST else None


def _may_be_left_early(loop: Loop, instructions: Sequence[Instruction]) -> bool:
    inside = {instructions[p].address for p in loop.members}
    first, last = min(inside), max(inside)
    for position in loop.members:
        each = instructions[position]
        if (
            each.target is not None
            and position not in loop.latches
            and not (each.target in inside or first <= each.target <= last)
        ):
            return True
    return False


def _begin(counter: str, first: int, instructions: Sequence[Instruction]) -> int | None:
    """Return what the counter is set to before the loop."""
    for position in range(first - 1, max(-1, first - _FAR), -1):
        if counter in instructions[position].writes:
            found = instructions[position].constant
            return found[2] if found is not None and found[0] == "set" else None
    return None


def _signed(number: int) -> int:
    """Of 32 bits, where it is as large as a negative number of these."""
    return number - (1 << 32) if 1 << 31 <= number < 1 << 32 else number
