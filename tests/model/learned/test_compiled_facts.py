"""What a compiler made of a kernel, in numbers: NaN only where it does not tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.compiled import CodeSource, CompiledCall, CompiledFacts, CompiledLoop, InstructionCount
from model.learned.compiled_facts import COMPILED_FACT_NAMES, compiled_facts, kernel_code
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.work.counts import OpKind

ANY_LAUNCH = (0.0,) * len(LAUNCH_FACT_NAMES)
NOTHING_TOLD = CompiledFacts("k", "f", "", None, "cpu", "a CPU", "1", "2026-11-22T16:00:00+00:00")
FULL = replace(
    NOTHING_TOLD, source=CodeSource.ASSEMBLY, vector_registers=9, spill_loads=0, vector_width_bits=256,
    float_vector_share=0.75,
    mix=(InstructionCount("fma", "f32", 8, 7), InstructionCount("load", "f32", 4, 3, "private")),
    calls=(CompiledCall("exp", 8, 3), CompiledCall("(unnamed)", 1, 1)),
    loops=(CompiledLoop(3, 1, 100, 8, 0.5), CompiledLoop(4, 2, 31, 4, 1.0)),
)  # fmt: skip


def named(facts: CompiledFacts) -> Mapping[str, float]:
    return dict(zip(COMPILED_FACT_NAMES, compiled_facts(kernel_code(facts), ANY_LAUNCH), strict=True))


def test_no_two_facts_have_one_name() -> None:
    assert len(set(COMPILED_FACT_NAMES)) == len(COMPILED_FACT_NAMES)


def test_what_was_read_of_the_code_shows() -> None:
    found = named(FULL)
    amounts = ("mix.float.8", "mix.private.4", "calls.8", "calls.unnamed", "instructions")
    assert [2 ** found[name] - 1 for name in amounts] == pytest.approx([7, 3, 3, 1, 10])
    assert 2 ** found["log.vector_width_bits"] - 1 == pytest.approx(256)
    assert found["float_vector_share"] == 0.75
    assert (found["loop.depth"], found["loop.inner_lanes"], found["loop.outer_lanes"]) == (2, 4, 8)
    assert found["log.spill_loads"] == 0


def test_only_what_a_driver_does_not_tell_is_unknown() -> None:
    unknown = {name for name, each in named(NOTHING_TOLD).items() if math.isnan(each)}
    assert "log.vector_registers" in unknown
    assert "float_vector_share" in unknown
    assert not {name for name in unknown if name.startswith(("mix.", "calls", "loop", "instructions"))}
    still = {name for name, each in named(FULL).items() if math.isnan(each)}
    told = {"log.vector_registers", "log.spill_loads", "log.vector_width_bits", "float_vector_share"}
    assert still == unknown - told


kinds = st.sampled_from([*OpKind, "load", "store", "atomic", "barrier", "call", "move", "of another version"])
counts = st.integers(0, 1 << 40)
mixes = st.builds(InstructionCount, kinds.map(str), st.sampled_from(["f32", "i64", ""]), st.integers(0, 64), counts)
loops = st.builds(
    CompiledLoop, st.none(), st.integers(1, 9), counts, st.integers(0, 64), st.floats(0, 1)
)  # fmt: skip


@given(st.lists(mixes, max_size=5), st.lists(loops, max_size=5), st.none() | counts)
def test_no_code_is_too_odd(mix: list[InstructionCount], loops: list[CompiledLoop], size: int | None) -> None:
    found = compiled_facts(kernel_code(replace(FULL, mix=tuple(mix), loops=tuple(loops), code_bytes=size)), ANY_LAUNCH)
    assert len(found) == len(COMPILED_FACT_NAMES)
    assert not any(math.isinf(each) for each in found)
