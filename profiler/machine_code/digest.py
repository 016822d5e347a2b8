"""From the instructions of a kernel to what `CompiledFacts` says of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from model.compiled import CompiledCall, CompiledLoop, InstructionCount, LoopCode
from profiler.machine_code.instruction import Instruction, called_function
from profiler.machine_code.loops import Loop, find_loops
from profiler.machine_code.profile import profile_of

Place = tuple[str, int]  # file and line (from 1)
_NOTHING = ("move",)
_LOOP_WORD = re.compile(r"\b(?:for|while|do)\b")


@dataclass(frozen=True, slots=True)
class Digest:
    """The fields of `CompiledFacts` of the same names."""

    mix: tuple[InstructionCount, ...]
    calls: tuple[CompiledCall, ...]
    loops: tuple[CompiledLoop, ...]
    vector_width_bits: int
    float_vector_share: float | None
    integer_vector_share: float | None
    memory_vector_share: float | None
    spill_bytes: int
    spill_loads: int
    spill_stores: int
    vector_registers: int
    profile: tuple[LoopCode, ...]


def digest(instructions: Sequence[Instruction], loop_places: Container[Place] = ()) -> Digest:
    """`loop_places` are where loops stand in the user's own file, so that those of the compiler's are told apart."""
    loops = find_loops(instructions)
    chosen = _widest_version(instructions, loops)
    floats = [i.lanes for i in chosen if i.is_float_arithmetic]
    calls = calls_of(chosen)
    floats += [call.lanes for call in calls for _ in range(call.count)]
    integers = [i.lanes for i in chosen if i.is_integer_arithmetic]
    memory = [i.memory_lanes for i in chosen if (i.loads or i.stores) and i.space not in ("private", "constant")]
    slots = _spill_slots(instructions)
    return Digest(
        mix=mix_of(chosen),
        calls=calls,
        loops=loops_of(instructions, loop_places),
        vector_width_bits=_vector_width_bits(chosen),
        float_vector_share=_vector_share(floats),
        integer_vector_share=_vector_share(integers),
        memory_vector_share=_vector_share(memory),
        spill_bytes=sum(size for _, _, size in slots),
        spill_loads=sum(i.loads and i.slot in slots for i in instructions),
        spill_stores=sum(i.stores and i.slot in slots for i in instructions),
        vector_registers=len({register for i in instructions for register in i.vector_registers}),
        profile=profile_of(instructions),
    )


def _vector_width_bits(chosen: Sequence[Instruction]) -> int:
    """Of the floats, where there are any: 32-bit indices are widened to twice the bits. Else of all, with memory."""
    floats = [i for i in chosen if i.is_float_arithmetic]
    arithmetic = [i.width_bits for i in floats or chosen if _is_arithmetic(i) and i.lanes > 1]
    memory = [_memory_lanes(i) * int(i.element[1:]) for i in chosen if _memory_lanes(i) > 1 and i.element]
    return max(arithmetic if floats else [*arithmetic, *memory], default=0)


def _is_arithmetic(instruction: Instruction) -> bool:
    return instruction.is_float_arithmetic or instruction.is_integer_arithmetic


def _vector_share(lanes: Sequence[int]) -> float | None:
    return sum(n > 1 for n in lanes) / len(lanes) if lanes else None


def _widest_version(instructions: Sequence[Instruction], loops: Sequence[Loop]) -> list[Instruction]:
    """Compilers write a loop several times: as vectors, for what is left over, for when an index overflows."""
    if any(i.place for i in instructions):
        return _widest_by_line(instructions, loops)
    outermost = [loop for loop in loops if loop.depth == 1]
    vectors = [loop for loop in outermost if _widest(instructions[p] for p in loop.members) > 1]
    dropped = {p for loop in outermost if loop not in vectors for p in loop.members} if vectors else set()
    return [i for p, i in enumerate(instructions) if p not in dropped]


def _widest_by_line(instructions: Sequence[Instruction], loops: Sequence[Loop]) -> list[Instruction]:
    """Return each line of the source as it stands in that loop where it was made into the widest vectors.

    What belongs to no line is the compiler's own: the counting of work-items, values kept over barriers.
    """
    innermost: dict[int, int] = {}
    for number, loop in enumerate(loops):  # the outermost first
        innermost.update(dict.fromkeys(loop.members, number))
    versions: dict[tuple[str, int], dict[int, list[Instruction]]] = defaultdict(lambda: defaultdict(list))
    for position, each in enumerate(instructions):
        if each.place is not None:
            versions[each.place][innermost.get(position, -1)].append(each)
    chosen: list[Instruction] = []
    for found in versions.values():
        widest: list[Instruction] = max(found.values(), key=_width_and_length)
        chosen += widest
    return sorted(chosen, key=lambda i: i.address)


def _width_and_length(version: list[Instruction]) -> tuple[int, int]:
    return _widest(version), len(version)


def _widest(instructions: Iterable[Instruction]) -> int:
    return max((max(i.lanes if _is_arithmetic(i) else 1, _memory_lanes(i)) for i in instructions), default=1)


def _memory_lanes(instruction: Instruction) -> int:
    touches = (instruction.loads or instruction.stores) and instruction.space not in ("private", "constant")
    lanes = called_function(instruction.function).lanes if instruction.function else 1
    return max(lanes, instruction.memory_lanes if touches else 1)


def mix_of(instructions: Iterable[Instruction]) -> tuple[InstructionCount, ...]:
    """Return the most frequent first. What only moves values between registers is left out, and so are spills."""
    counted: Counter[tuple[str, str, int, str]] = Counter()
    for each in instructions:
        if each.kind not in _NOTHING:
            counted[each.kind, each.element, each.lanes, each.space if each.kind == "atomic" else ""] += 1
        if each.kind != "atomic" and each.space != "constant" and each.slot is None:
            if each.loads:
                counted["load", each.element, each.memory_lanes, each.space] += 1
            if each.stores:
                counted["store", each.element, each.memory_lanes, each.space] += 1
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return tuple(InstructionCount(kind, element, lanes, n, space) for (kind, element, lanes, space), n in ordered)


def calls_of(instructions: Iterable[Instruction]) -> tuple[CompiledCall, ...]:
    """Return the most frequent first."""
    counted = Counter(called_function(i.function) for i in instructions if i.kind == "call")
    return tuple(CompiledCall(each.name, each.lanes, n) for each, n in counted.most_common())


def loops_of(instructions: Sequence[Instruction], loop_places: Container[Place]) -> tuple[CompiledLoop, ...]:
    """With their lines, where they are among `loop_places`."""
    return tuple(_loop(loop, instructions, loop_places) for loop in find_loops(instructions))


def loop_places_in(source: str, file: str) -> frozenset[Place]:
    """Where a loop's keyword stands. The loop over a group's work-items ends at some line, too, but at no such one."""
    lines = source.splitlines()
    return frozenset((file, number) for number, line in enumerate(lines, start=1) if _LOOP_WORD.search(line))


def _loop(loop: Loop, instructions: Sequence[Instruction], loop_places: Container[Place]) -> CompiledLoop:
    inside = [instructions[p] for p in sorted(loop.members)]
    arithmetic = [i.lanes for i in inside if i.is_float_arithmetic] or [i.lanes for i in inside if _is_arithmetic(i)]
    places = [instructions[p].place for p in loop.latches]
    lines = [place[1] - 1 for place in places if place is not None and place in loop_places]
    return CompiledLoop(
        min(lines, default=None), loop.depth, len(inside), max(arithmetic, default=1), _vector_share(arithmetic) or 0.0
    )


def _spill_slots(instructions: Sequence[Instruction]) -> frozenset[tuple[int, int, int]]:
    """Places on the stack that are both written and read."""
    written = {i.slot for i in instructions if i.stores and i.slot}
    return frozenset(slot for slot in written & {i.slot for i in instructions if i.loads} if slot)
