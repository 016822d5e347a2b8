"""What compilers made of kernels comes back from the dataset's cells with all that the model is told of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.compiled import (
    CodeRegion,
    CodeSource,
    CompiledCall,
    CompiledFacts,
    CompiledLoop,
    InstructionCount,
    LoopCode,
)
from model.learned.compiled_facts import compiled_facts, kernel_code
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from profiler.corpus.dataset.cells import compiled_cells, facts_from_cells
from profiler.corpus.dataset.columns import COMPILED

counts, lanes = st.integers(0, 1 << 31), st.sampled_from([1, 2, 4, 8, 16])
known, shares = st.none() | counts, st.floats(0, 1, width=32)
instructions = st.builds(
    InstructionCount, st.sampled_from(["fma", "load", "call"]), st.sampled_from(["f32", "", "a/b"]), lanes,
    st.integers(1, 1 << 31), st.sampled_from(["", "private", "stack"]),
)  # fmt: skip


def in_turn(loops: list[tuple[int, ...]]) -> tuple[LoopCode, ...]:
    """Each stands in one before it."""
    return tuple(LoopCode(min(outer, at - 1) if at else None, *rest) for at, (outer, *rest) in enumerate(loops))


profiles = st.lists(
    st.tuples(
        st.integers(0, 5), lanes, st.booleans(), st.none() | st.integers(1, 99), shares,
        st.lists(instructions, max_size=3).map(tuple),
    ), max_size=4,
).map(in_turn)  # fmt: skip
facts = st.builds(
    CompiledFacts,
    st.just(""), st.just(""), st.just(""), st.none() | st.tuples(counts, counts), st.sampled_from(["pocl", "a/b"]),
    st.just(""), st.just(""), st.just(""), st.sampled_from(CodeSource),
    max_work_group_size=known, private_mem_bytes=known, registers=known, spill_loads=known, items_side_by_side=known,
    float_vector_share=st.none() | shares, memory_vector_share=st.none() | shares, code_bytes=known,
    mix=st.lists(
        st.builds(
            InstructionCount, st.sampled_from(["fma", "load", "call"]), st.sampled_from(["f32", ""]), lanes, counts,
            st.sampled_from(["", "private", "global"]),
        ), max_size=4,
    ).map(tuple),
    calls=st.lists(
        st.builds(CompiledCall, st.sampled_from(["exp", "(unnamed)", "a/b"]), lanes, counts), max_size=3
    ).map(tuple),
    loops=st.lists(st.builds(CompiledLoop, st.none(), st.integers(1, 9), counts, lanes, shares), max_size=3).map(tuple),
    profile=profiles,
    regions=st.lists(
        st.builds(
            CodeRegion, st.integers(0, 9), st.none() | st.integers(0, 999), counts,
            st.lists(instructions, max_size=3).map(tuple),
        ), max_size=4,
    ).map(tuple),
    microarchitecture=st.sampled_from([None, "zen 3"]),
)  # fmt: skip


@given(facts)
def test_facts_come_back(given_facts: CompiledFacts) -> None:
    cells = compiled_cells(given_facts.device_id, "id", [0, 2], given_facts)
    assert cells.keys() == {column.name for column in COMPILED.columns}
    back = facts_from_cells(cells)
    assert back == given_facts
    launch = (0.0,) * len(LAUNCH_FACT_NAMES)
    told = [str(compiled_facts(kernel_code(each), launch)) for each in (back, given_facts)]
    assert told[0] == told[1]  # NaN equals nothing
