"""Loops of machine code by themselves: what is in them, how often they run, and what they wait for."""

from __future__ import annotations

from profiler.machine_code.chains import cycles_of_chain
from profiler.machine_code.instruction import Instruction
from profiler.machine_code.profile import profile_of

BRANCH = "branch"


def counted_loop(at: int, trips: int, *body: Instruction) -> list[Instruction]:
    """From address `at`: a counter from 0 to `trips`, around `body`."""
    return [
        Instruction(at, "move", writes=("rax",), constant=("set", "rax", 0)),
        *body,
        Instruction(at + 50, "integer", reads=("rax",), writes=("rax", "rflags"), constant=("add", "rax", 1)),
        Instruction(at + 51, "integer", reads=("rax",), writes=("rflags",), constant=("compare", "rax", trips)),
        Instruction(at + 52, BRANCH, target=body[0].address, reads=("rflags",)),
    ]


def add(at: int, lanes: int = 8) -> Instruction:
    return Instruction(at, "add", "f32", lanes, reads=("mm0", "mm1"), writes=("mm0",))


def test_each_loop_has_its_own_instructions_alone() -> None:
    outside, loop = profile_of([*counted_loop(0, 12, add(1)), Instruction(99, "move", falls_through=False)])
    assert outside.parent is None
    assert (loop.parent, loop.lanes, loop.trips) == (0, 8, 12)
    assert [(each.kind, each.count) for each in loop.mix if each.element == "f32"] == [("add", 1)]


def test_a_loop_that_may_be_left_early_does_not_say_how_often_it_runs() -> None:
    leave = Instruction(2, BRANCH, target=99)
    _, loop = profile_of([*counted_loop(0, 12, add(1), leave), Instruction(99, "move", falls_through=False)])
    assert loop.trips is None


def test_a_narrow_version_of_a_loop_is_left_over() -> None:
    wide, narrow = counted_loop(0, 12, add(1)), counted_loop(100, 3, add(101, lanes=1))
    _, first, second = profile_of([*wide, *narrow, Instruction(199, "move", falls_through=False)])
    assert (first.leftover, second.leftover) == (False, True)


def test_sums_wait_for_the_round_before() -> None:
    assert cycles_of_chain([add(0)]) == 4
    assert cycles_of_chain([add(0), add(1)]) == 8
    independent = Instruction(0, "add", "f32", 8, reads=("mm2", "mm1"), writes=("mm0",))
    assert cycles_of_chain([independent]) == 0


def test_memory_hands_values_on_where_its_address_stays() -> None:
    load = Instruction(0, "move", "f32", loads=True, reads=("rdi", "[rdi+*1+0]"), writes=("mm0",))
    store = Instruction(2, "move", "f32", stores=True, reads=("mm0", "rdi"), writes=("[rdi+*1+0]",))
    step = Instruction(3, "integer", "i64", reads=("rdi",), writes=("rdi",), constant=("add", "rdi", 4))
    assert cycles_of_chain([load, add(1), store]) == 9
    assert cycles_of_chain([load, add(1), store, step]) == 1
