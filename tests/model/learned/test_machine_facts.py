"""How long a launch takes by its machine code: loops run as often as the source's work wants them to."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from model.compiled import CompiledFacts, InstructionCount, LoopCode
from model.learned.launch_facts import LAUNCH_FACT_NAMES, LEAST
from model.learned.loop_costs import call_cycles, loop_table
from model.learned.loop_rounds import rounds_of
from model.learned.machine_facts import MACHINE_FACT_NAMES, machine_facts

NOTHING_TOLD = CompiledFacts("k", "f", "", None, "cpu", "a CPU", "1", "2026-11-22T16:00:00+00:00")
OUTSIDE = LoopCode(None, 1, False, None, 0.0, (InstructionCount("integer", "i64", 1, 9),))


def code(*loops: LoopCode, items: int | None = None, group: tuple[int, ...] | None = (64, 1, 1)) -> CompiledFacts:
    return replace(NOTHING_TOLD, profile=(OUTSIDE, *loops), items_side_by_side=items, code_local_size=group)


def loop(parent: int, lanes: int, *mix: InstructionCount, trips: int | None = None, leftover: bool = False) -> LoopCode:
    return LoopCode(parent, lanes, leftover, trips, 4.0, mix)


def launch(items: int = 1024, local: int = 64, **amounts: float) -> tuple[float, ...]:
    """Launch facts; `amounts` are for a work-item, with `_` for `.`."""
    facts = dict.fromkeys(LAUNCH_FACT_NAMES, math.log2(LEAST))
    sizes = {"items": items, "active_items": items, "group_items": local, "local.x": local, "local.y": 1, "local.z": 1}
    facts |= {f"log.{name}": math.log2(size + 1) for name, size in sizes.items()} | {"dimensions": 1.0}
    facts |= {name.replace("_", "."): math.log2(amount + LEAST) for name, amount in amounts.items()}
    return tuple(facts[name] for name in LAUNCH_FACT_NAMES)


def often(facts: CompiledFacts, of_launch: tuple[float, ...]) -> list[float]:
    table = loop_table(facts)
    assert table is not None
    return [float(each) for each in rounds_of(table, of_launch).often]


STREAM = (
    InstructionCount("add", "f32", 8, 2),
    InstructionCount("load", "f32", 8, 2),
    InstructionCount("store", "f32", 8, 2),
)


def test_loops_that_say_how_often_they_run_are_believed() -> None:
    found = often(code(loop(0, 8, *STREAM, trips=4)), launch(op_add_f32=1.0))
    assert found == pytest.approx([1 / 64, 4 / 64])


def test_a_vectors_loop_over_work_items_runs_once_for_all_its_lanes() -> None:
    found = often(code(loop(0, 16, *STREAM), items=16, group=None), launch(op_add_f32=1.0, global_load_bytes=4.0))
    assert found[1] == pytest.approx(1 / 16, rel=0.5)


def test_what_is_left_over_runs_for_what_does_not_fill_a_vector() -> None:
    scalar = loop(0, 1, InstructionCount("add", "f32", 1, 1), leftover=True)
    whole, left = (
        often(code(loop(0, 16, *STREAM), scalar, items=16, group=None), launch(local=n))[2] for n in (64, 24)
    )
    assert whole < 0.01 < left


def test_a_loop_of_unknown_length_does_the_work_that_the_source_wants() -> None:
    inner = loop(1, 1, InstructionCount("fma", "f32", 1, 4))
    found = often(code(loop(0, 1, trips=64), inner), launch(op_fma_f32=400.0, loop_rounds=400.0))
    assert found[1] == pytest.approx(1.0)
    assert found[2] == pytest.approx(100.0, rel=0.35)  # unrolled by four


def test_work_that_a_compiler_removed_is_not_looked_for_in_straight_code() -> None:
    found = often(code(loop(0, 8, *STREAM, trips=4)), launch(op_integer_i32=300.0, loop_rounds=32.0))
    assert found == pytest.approx([1 / 64, 4 / 64])


def test_code_that_was_not_read_tells_nothing() -> None:
    assert loop_table(NOTHING_TOLD) is None
    assert all(math.isnan(each) for each in machine_facts(None, launch()))


def test_facts_are_finite_and_more_work_takes_longer() -> None:
    table = loop_table(code(loop(0, 1, trips=64), loop(1, 1, InstructionCount("fma", "f32", 1, 4))))
    few, many = (machine_facts(table, launch(op_fma_f32=n, loop_rounds=n)) for n in (40.0, 4000.0))
    assert all(math.isfinite(each) for each in (*few, *many))
    at = MACHINE_FACT_NAMES.index("cycles.all")
    assert many[at] > few[at] + 3


def test_functions_that_a_compiler_calls_for_the_like_of_min_cost_little() -> None:
    assert call_cycles("min", 1) < 10 < call_cycles("sin", 1) < call_cycles("pow", 1)
    assert call_cycles("sin", 16) < 16 * call_cycles("sin", 1)
