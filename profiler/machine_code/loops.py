"""The loops in a function's instructions, natural loops of its flow graph, and how many rounds they make.

Source: Aho, Lam, Sethi, Ullman, "Compilers", sec. 9.6; dominators after Cooper, Harvey, Kennedy, "A simple, fast
dominance algorithm", 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profiler.machine_code.instruction import Instruction


@dataclass(frozen=True, slots=True)
class Loop:
    """`members` are positions in the list of instructions, `latches` those of the jumps back to its begin."""

    members: frozenset[int]
    latches: tuple[int, ...]
    depth: int  # 1: outermost


def find_loops(instructions: Sequence[Instruction]) -> tuple[Loop, ...]:
    """Return all loops, the outermost first."""
    blocks = _blocks(instructions)
    if not blocks:
        return ()
    successors = _successors(instructions, blocks)
    order, parents = _dominators(successors)
    predecessors = _predecessors(order, successors)
    bodies: dict[int, set[int]] = {}
    latches: dict[int, list[int]] = {}
    for block in order:
        for header in successors[block]:
            if _dominates(header, block, parents):
                bodies.setdefault(header, {header}).update(_body(header, block, predecessors))
                latches.setdefault(header, []).append(block)
    found = []
    for header, body in bodies.items():
        depth = sum(header in other for other in bodies.values())
        members = frozenset(p for block in body for p in blocks[block])
        found.append(Loop(members, tuple(blocks[block][-1] for block in latches[header]), depth))
    return tuple(sorted(found, key=lambda loop: (loop.depth, min(loop.members))))


def _blocks(instructions: Sequence[Instruction]) -> dict[int, range]:
    """Positions of each basic block, by the position of its first instruction."""
    if not instructions:
        return {}
    position = {each.address: i for i, each in enumerate(instructions)}
    starts = {0}
    for i, each in enumerate(instructions):
        if each.target is not None and each.target in position:
            starts.add(position[each.target])
        ends = each.target is not None or not each.falls_through
        if ends and i + 1 < len(instructions):
            starts.add(i + 1)
    ordered = sorted(starts)
    return {a: range(a, b) for a, b in zip(ordered, [*ordered[1:], len(instructions)], strict=True)}


def _successors(instructions: Sequence[Instruction], blocks: dict[int, range]) -> dict[int, list[int]]:
    position = {each.address: i for i, each in enumerate(instructions)}
    following: dict[int, list[int]] = {}
    for start, block in blocks.items():
        last = instructions[block[-1]]
        after = []
        if last.target is not None and last.target in position:
            after.append(position[last.target])
        if last.falls_through and block.stop in blocks:
            after.append(block.stop)
        following[start] = after
    return following


def _dominators(successors: dict[int, list[int]]) -> tuple[list[int], dict[int, int]]:
    """Blocks that can be reached, in reverse postorder, and the immediate dominator of each."""
    order = _reverse_postorder(successors)
    number = {block: i for i, block in enumerate(order)}
    predecessors = _predecessors(order, successors)
    parents = {order[0]: order[0]}

    def common(one: int, other: int) -> int:
        while one != other:
            while number[one] > number[other]:
                one = parents[one]
            while number[other] > number[one]:
                other = parents[other]
        return one

    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [p for p in predecessors[block] if p in parents]
            parent = known[0]
            for each in known[1:]:
                parent = common(parent, each)
            if parents.get(block) != parent:
                parents[block], changed = parent, True
    return order, parents


def _predecessors(order: list[int], successors: dict[int, list[int]]) -> dict[int, list[int]]:
    """Of the blocks that can be reached, among them; what a jump table leads to cannot be told."""
    found: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for each in successors[block]:
            found[each].append(block)
    return found


def _reverse_postorder(successors: dict[int, list[int]]) -> list[int]:
    entry = min(successors)
    done: list[int] = []
    seen = {entry}
    stack = [(entry, iter(successors[entry]))]
    while stack:
        block, following = stack[-1]
        fresh = next((each for each in following if each not in seen), None)
        if fresh is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(fresh)
            stack.append((fresh, iter(successors[fresh])))
    return done[::-1]


def _dominates(block: int, other: int, parents: dict[int, int]) -> bool:
    if block not in parents:
        return False
    while other != block and parents[other] != other:
        other = parents[other]
    return other == block


def _body(header: int, latch: int, predecessors: dict[int, list[int]]) -> set[int]:
    body, waiting = {header}, [latch]
    while waiting:
        block = waiting.pop()
        if block not in body:
            body.add(block)
            waiting += predecessors[block]
    return body


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
