"""Each loop of a kernel's code by itself: what one round of it executes, and how long the next must wait for it.

`regions_of` gives the same code by loop and by line of the source, for a model of the processor's throughput.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from model.compiled import CodeRegion, InstructionCount, LoopCode
from profiler.machine_code.chains import cycles_of_chain
from profiler.machine_code.instruction import Instruction, called_function
from profiler.machine_code.loops import Loop, find_loops, trips_of

_ALIKE = 0.6  # of a loop's lines, or of its kinds of instructions, that another version of it has, too
_TELLING = {"add", "mul", "fma", "divide", "sqrt", "load", "store", "call", "atomic", "int_mul", "gather"}


def profile_of(instructions: Sequence[Instruction]) -> tuple[LoopCode, ...]:
    """First the code outside all loops, then the loops, outer ones before those in them."""
    loops = find_loops(instructions)
    innermost: dict[int, int] = {}
    for number, loop in enumerate(loops, start=1):
        innermost.update(dict.fromkeys(loop.members, number))
    own: list[list[Instruction]] = [[] for _ in range(len(loops) + 1)]
    for position, each in enumerate(instructions):
        own[innermost.get(position, 0)].append(each)
    parents = [None, *(_parent(loop, loops) for loop in loops)]
    lanes = [_lanes(code) for code in own]
    leftovers = _leftovers(own, parents, lanes)
    return tuple(
        LoopCode(
            parents[number],
            lanes[number],
            number in leftovers,
            trips_of(loops[number - 1], instructions) if number else None,
            round(cycles_of_chain(code), 1) if number else 0.0,
            mix_of_loop(code),
        )
        for number, code in enumerate(own)
    )


def mix_of_loop(code: Sequence[Instruction]) -> tuple[InstructionCount, ...]:
    """Return the most frequent first; see `LoopCode`."""
    counted: Counter[tuple[str, str, int, str]] = Counter()
    for each in code:
        if each.motion:
            counted[each.motion, each.element, each.lanes, ""] += 1
        elif each.kind == "call":
            called = called_function(each.function)
            counted["call", called.name, called.lanes, ""] += 1
        elif each.kind != "move":
            counted[each.kind, each.element, each.lanes, each.space if each.kind == "atomic" else ""] += 1
        elif not (each.loads or each.stores) and each.target is None:
            counted["move", "", each.lanes, ""] += 1
        if each.kind == "atomic" or each.motion in ("gather", "scatter"):
            continue
        space = "stack" if each.slot is not None else each.space
        if each.loads:
            counted["load", each.element, each.memory_lanes, space] += 1
        if each.stores:
            counted["store", each.element, each.memory_lanes, space] += 1
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(InstructionCount(kind, element, lanes, n, space) for (kind, element, lanes, space), n in ordered)


def _parent(loop: Loop, loops: Sequence[Loop]) -> int:
    """Return the number of the next loop around it; 0 where there is none."""
    around = [(len(other.members), n) for n, other in enumerate(loops, 1) if loop.members < other.members]
    return min(around)[1] if around else 0


def _lanes(code: Sequence[Instruction]) -> int:
    """Of its widest arithmetic or access to a buffer."""
    found = [i.lanes for i in code if i.is_float_arithmetic or i.is_integer_arithmetic]
    found += [i.memory_lanes for i in code if (i.loads or i.stores) and i.space not in ("private", "constant")]
    found += [called_function(i.function).lanes for i in code if i.kind == "call"]
    return max(found, default=1)


def _leftovers(
    own: Sequence[Sequence[Instruction]], parents: Sequence[int | None], lanes: Sequence[int]
) -> frozenset[int]:
    """Loops of which a wider version stands beside them, and all that is in them."""
    signs, widest = [_signs(code) for code in own], list(lanes)
    for number in range(len(own) - 1, 0, -1):
        outer = parents[number] or 0
        signs[outer] |= signs[number]
        widest[outer] = max(widest[outer], widest[number])
    found: set[int] = set()
    for number in range(1, len(own)):
        beside = [n for n in range(1, len(own)) if n != number and parents[n] == parents[number]]
        if parents[number] in found or any(
            widest[n] > widest[number] and _is_version(signs[number], signs[n]) for n in beside
        ):
            found.add(number)
    return frozenset(found)


def _signs(code: Sequence[Instruction]) -> set[object]:
    """Return what different versions of a loop have in common: their lines, where these are known."""
    lines: set[object] = {each.place for each in code if each.place is not None}
    if lines:
        return lines
    kinds = {each.motion or each.kind for each in code}
    kinds |= {name for i in code for name, does in (("load", i.loads), ("store", i.stores)) if does}
    return set(kinds & _TELLING) | {called_function(i.function).name for i in code if i.kind == "call"}


def _is_version(narrow: set[object], wide: set[object]) -> bool:
    return bool(narrow) and len(narrow & wide) >= _ALIKE * len(narrow)


def regions_of(instructions: Sequence[Instruction], file: str) -> tuple[CodeRegion, ...]:
    """Return the regions in the order of their loops and lines; none where no line of `file` is known.

    Loops are numbered as in `profile_of`.
    """
    loops = find_loops(instructions)
    innermost: dict[int, int] = {}
    for number, loop in enumerate(loops, start=1):
        innermost.update(dict.fromkeys(loop.members, number))
    found: dict[tuple[int, int], list[Instruction]] = defaultdict(list)
    for position, each in enumerate(instructions):
        line = each.place[1] - 1 if each.place is not None and each.place[0] == file else -1
        found[innermost.get(position, 0), line].append(each)
    if all(line < 0 for _, line in found):
        return ()
    return tuple(
        CodeRegion(loop, line if line >= 0 else None, len(code), mix_of_loop(code))
        for (loop, line), code in sorted(found.items())
    )
