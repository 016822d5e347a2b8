"""Facts about compiled code outlive the process, and follow the kernel through the text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from model.compiled import (
    SMALL_GRID,
    CodeRegion,
    CodeSource,
    CompiledCall,
    CompiledFacts,
    CompiledLoop,
    InstructionCount,
    UnreadableFacts,
    facts_from_json,
    facts_to_json,
    key_of,
    moved_to,
)
from model.launch.launch import Launch
from model.opencl.kernel import Kernel, KernelAttributes, SourceRange

FACTS = CompiledFacts(
    "blur", "print", "-DN=4", (16, 4), "pocl", "A CPU", "3.0", "2026-11-22T00:00:00+00:00", CodeSource.ASSEMBLY,
    vector_width_bits=256, float_vector_share=1.0, spill_bytes=0, kernel_lines=(10, 20),
    mix=(InstructionCount("fma", "f32", 8, 3), InstructionCount("load", "f32", 8, 2, "global")),
    calls=(CompiledCall("sin", 8, 1),), loops=(CompiledLoop(12, 1, 9, 8, 1.0), CompiledLoop(None, 2, 9, 1, 0.0)),
    warnings=("unused",), microarchitecture="zen 3",
    regions=(
        CodeRegion(0, 12, 4, (InstructionCount("load", "f32", 8, 2, "stack"),)),
        CodeRegion(1, None, 2, (InstructionCount("call", "(through a pointer)", 1, 1),)), CodeRegion(1, 2, 1, ()),
    ),
)  # fmt: skip


def kernel(first: int, last: int) -> Kernel:
    place = SourceRange(first, 0, last, 1)
    return Kernel("blur", (), KernelAttributes(), place, place, place, "print")


def test_facts_come_back_from_json_as_they_were() -> None:
    assert facts_from_json(facts_to_json(FACTS)) == FACTS


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kernel": 3', '{"kernel": "blur"}', "null"])
def test_other_text_is_refused_by_name(text: str) -> None:
    with pytest.raises(UnreadableFacts):
        facts_from_json(text)


def test_what_older_readers_saw_is_read_anew() -> None:
    with pytest.raises(UnreadableFacts):
        facts_from_json(facts_to_json(replace(FACTS, version=0)))


def test_loops_keep_their_lines_when_something_is_written_above_the_kernel() -> None:
    moved = moved_to(FACTS, kernel(15, 25))
    assert [loop.line for loop in moved.loops] == [17, None]
    assert moved_to(moved, kernel(10, 20)).loops == FACTS.loops


def test_facts_of_the_version_before_regions_are_still_read() -> None:
    older = json.loads(facts_to_json(replace(FACTS, version=2, regions=(), microarchitecture=None)))
    del older["regions"], older["microarchitecture"]
    older["mix"] = [{"kind": "fma", "element": "f32", "lanes": 8, "count": 3, "space": ""}]
    found = facts_from_json(json.dumps(older))
    assert found.mix == FACTS.mix[:1]
    assert found.regions == ()


def test_regions_keep_their_lines_when_something_is_written_above_the_kernel() -> None:
    assert [each.line for each in moved_to(FACTS, kernel(15, 25)).regions] == [17, None, None]
    assert moved_to(FACTS, kernel(10, 22)).regions == ()


def test_lines_are_not_told_where_the_kernel_was_laid_out_anew() -> None:
    assert [loop.line for loop in moved_to(FACTS, kernel(10, 22)).loops] == [None, None]


def test_what_counts_is_the_compilers_word_then_floats_then_memory_then_integers() -> None:
    assert FACTS.is_vectorised
    assert replace(FACTS, float_vector_share=0.1, memory_vector_share=1.0).is_vectorised is False
    assert replace(FACTS, float_vector_share=None, memory_vector_share=1.0).is_vectorised is True
    assert replace(FACTS, float_vector_share=None).is_vectorised is None
    assert replace(FACTS, float_vector_share=0.1, items_side_by_side=16).is_vectorised is True
    assert replace(FACTS, items_side_by_side=1).is_vectorised is False


def test_pocls_code_depends_on_the_size_of_the_grid() -> None:
    small, large = Launch((SMALL_GRID - 1, 2), (1, 1), (), ()), Launch((SMALL_GRID, 2), (1, 1), (), ())
    assert key_of(kernel(0, 1), small, "pocl") != key_of(kernel(0, 1), large, "pocl")
    assert key_of(kernel(0, 1), small, "intel-cpu") == key_of(kernel(0, 1), large, "intel-cpu")
