"""A kernel's machine code by loop and by line of the source, for a model of the processor's throughput."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from model.compiled import CodeRegion
from profiler.machine_code.instruction import Instruction
from profiler.machine_code.loops import find_loops
from profiler.machine_code.profile import mix_of_loop


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
