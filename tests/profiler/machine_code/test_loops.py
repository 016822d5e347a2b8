"""Loops are found in any code, however it jumps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from profiler.machine_code.instruction import Instruction
from profiler.machine_code.loops import find_loops


def straight(*jumps: tuple[int, int], length: int) -> list[Instruction]:
    """Code of `length` instructions with conditional jumps from one address to another."""
    targets = dict(jumps)
    return [Instruction(at, "branch" if at in targets else "add", target=targets.get(at)) for at in range(length)]


def test_straight_code_has_no_loop() -> None:
    assert find_loops(straight(length=5)) == ()
    assert find_loops(()) == ()


def test_a_jump_back_makes_a_loop_of_what_lies_between() -> None:
    (loop,) = find_loops(straight((3, 1), length=6))
    assert (loop.members, loop.latches, loop.depth) == (frozenset({1, 2, 3}), (3,), 1)


def test_loops_within_loops_are_deeper() -> None:
    outer, inner = find_loops(straight((3, 2), (5, 1), length=7))
    assert (outer.depth, inner.depth) == (1, 2)
    assert inner.members < outer.members


def test_a_block_that_was_moved_behind_the_code_belongs_to_its_loop() -> None:
    code = straight((1, 4), (2, 0), length=5)
    code[3] = Instruction(3, "move", falls_through=False)
    code[4] = Instruction(4, "move", target=2, falls_through=False)
    (loop,) = find_loops(code)
    assert loop.members == frozenset({0, 1, 2, 4})


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.lists(st.tuples(st.none() | st.integers(-2, n + 2), st.booleans()), min_size=n, max_size=n)
    )
)
def test_any_jumps_at_all_give_loops_that_nest(jumps: list[tuple[int | None, bool]]) -> None:
    code = [Instruction(at, "add", target=to, falls_through=falls) for at, (to, falls) in enumerate(jumps)]
    loops = find_loops(code)
    assert list(loops) == sorted(loops, key=lambda loop: (loop.depth, min(loop.members)))
    assert all(set(loop.latches) <= loop.members for loop in loops)
