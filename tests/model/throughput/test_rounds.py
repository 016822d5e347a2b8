"""How often loops of machine code run, by what the source does on their lines."""

from __future__ import annotations

import pytest

from model.compiled import CodeRegion, CompiledFacts, CompiledLoop, InstructionCount, LoopCode
from model.throughput.rounds import Rounds, rounds_of
from tests.model.conftest import Count, Counted

SUM = """kernel void sum(global const float *x, global float *y, int n, float c) {
    size_t i = get_global_id(0);
    float s = 0;
    for (int j = 0; j < n; j++)
        s += x[j] * c;
    y[i] = s;
}"""
GUARDED = """kernel void guarded(global const float *x, global float *y, int n) {
    size_t i = get_global_id(0);
    if (i < n)
        y[i] = x[i] * 2.0f;
}"""
FOR, BODY, STORE = 3, 4, 5  # lines of SUM, from 0


def code(profile: list[LoopCode], lines: list[int | None], regions: list[CodeRegion]) -> CompiledFacts:
    """`lines` are those where the loops of the profile end, without its first entry."""
    loops = tuple(CompiledLoop(line, 1, 9, 1, 0.0) for line in lines)
    return CompiledFacts(
        "k", "", "", None, "pocl", "", "", "", profile=tuple(profile), regions=tuple(regions), loops=loops
    )


def loop(parent: int | None, *, lanes: int = 1, trips: int | None = None, leftover: bool = False) -> LoopCode:
    return LoopCode(parent, lanes, leftover, trips, 1.0, ())


def region(number: int, line: int | None, *mix: tuple[str, int], instructions: int = 4) -> CodeRegion:
    """`mix` are kinds of instructions on floats, with their lanes."""
    return CodeRegion(number, line, instructions, tuple(InstructionCount(kind, "f32", lanes, 1) for kind, lanes in mix))


def body(number: int, lanes: int = 1) -> CodeRegion:
    return region(number, BODY, ("fma", lanes), ("load", lanes))


def found(facts: CompiledFacts, counted: Counted) -> Rounds:
    rounds = rounds_of(facts, counted.counts)
    assert rounds is not None
    return rounds


@pytest.fixture
def summed(count: Count) -> Counted:
    return count(SUM, (1024,), (64,), n=100, buffers={"x": 1024, "y": 1024})


def test_a_vector_loop_goes_as_often_as_it_fits_and_what_is_left_goes_one_by_one(summed: Counted) -> None:
    facts = code(
        [loop(None), loop(0), loop(1, lanes=8), loop(1, leftover=True)],
        [None, FOR, FOR],
        [region(1, STORE, ("store", 1)), body(2, 8), body(3)],
    )
    assert found(facts, summed).often == pytest.approx([16, 1024, 12 * 1024, 4 * 1024])


def test_the_loop_over_work_items_goes_as_often_as_the_group_is_large(summed: Counted) -> None:
    facts = code([loop(None), loop(0), loop(1)], [None, FOR], [region(1, STORE, ("store", 1)), body(2)])
    assert found(facts, summed).often == pytest.approx([16, 1024, 102_400])


def test_work_items_side_by_side_share_the_rounds(summed: Counted) -> None:
    facts = code(
        [loop(None), loop(0, lanes=8), loop(0, lanes=8)], [FOR, None], [body(1, 8), region(2, STORE, ("store", 8))]
    )
    assert found(facts, summed).often[2] == pytest.approx(128)


def test_a_loop_that_was_written_once_for_each_work_item_is_shared_out(count: Count) -> None:
    few = count(SUM, (1024,), (2,), n=100, buffers={"x": 1024, "y": 1024})
    facts = code([loop(None), loop(0), loop(0)], [FOR, FOR], [region(0, STORE, ("store", 2)), body(1), body(2)])
    assert found(facts, few).often == pytest.approx([512, 51_200, 51_200])


def test_code_under_a_condition_runs_as_often_as_the_source_lets_it(count: Count) -> None:
    quarter = count(GUARDED, (1024,), (64,), n=256, buffers={"x": 1024, "y": 1024})
    own = [region(1, 2), region(1, 3, ("mul", 1), ("load", 1), ("store", 1))]
    rounds = found(code([loop(None), loop(0, trips=64)], [None], own), quarter)
    assert rounds.often == pytest.approx([16, 1024])
    assert rounds.active == pytest.approx([1.0, 0.25])


def test_vectors_run_whatever_their_conditions_say(count: Count) -> None:
    quarter = count(GUARDED, (1024,), (64,), n=256, buffers={"x": 1024, "y": 1024})
    own = [region(1, 3, ("mul", 8), ("load", 8), ("store", 8))]
    rounds = found(code([loop(None), loop(0, lanes=8, trips=8)], [None], own), quarter)
    assert rounds.often == pytest.approx([16, 128])
    assert rounds.active == pytest.approx([1.0])


def test_code_of_other_lines_is_not_counted(summed: Counted) -> None:
    assert rounds_of(code([loop(None), loop(0)], [None], [region(1, 40, ("fma", 1))]), summed.counts) is None
