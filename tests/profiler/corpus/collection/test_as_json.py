"""What goes into the store comes out of it again, to the last bit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from model.launch.launch import Fill, Launch
from model.opencl.options import BuildOptions
from profiler.corpus.collection.as_json import timing_from_json, timing_to_json
from profiler.corpus.collection.store import CorpusStore
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch, RowTiming, Vary
from profiler.store.as_json import launch_from_json, launch_to_json

NAMES = st.text(min_size=1, max_size=8)
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
SIZES = st.lists(st.integers(1, 2**40), min_size=1, max_size=3).map(tuple)
TEXTS = st.tuples(NAMES, NAMES)


def _pairs(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[tuple[str, object], ...]]:
    return st.lists(st.tuples(NAMES, values), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)


OPTIONS = st.builds(
    BuildOptions,
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(NAMES, max_size=2).map(tuple),
    st.lists(NAMES, max_size=2).map(tuple),
)
LAUNCHES = st.builds(
    Launch,
    global_size=SIZES,
    local_size=st.none() | SIZES,
    scalars=_pairs(NUMBERS),
    buffers=_pairs(st.integers(0, 2**40)),
    images=_pairs(st.tuples(*[st.integers(1, 2**14)] * 3)),
    local_bytes=_pairs(st.integers(0, 2**16)),
    fills=_pairs(st.builds(Fill, NAMES, st.lists(NUMBERS, max_size=3).map(tuple))),
    options=OPTIONS,
)


@given(LAUNCHES)
def test_a_launch_is_read_back_exactly(launch: Launch) -> None:
    read = launch_from_json(launch_to_json(launch))
    assert read == launch
    assert repr(read) == repr(launch)  # 1 and 1.0 are equal, and not the same
    assert read.key == launch.key


@given(LAUNCHES, OPTIONS, TEXTS, st.none() | NAMES)
@settings(max_examples=20)
def test_a_kernel_is_read_back_exactly(
    launch: Launch, options: BuildOptions, choice: tuple[str, str], path: str | None
) -> None:
    launches = (CorpusLaunch(launch, Vary.DATA, 12, "guard pages"),)
    kernel = CorpusKernel("id", "o", "f", "g", "r", "k", "void é", options, path, launches, ("x",), (choice,))
    with TemporaryDirectory() as folder:
        store = CorpusStore(Path(folder))
        assert store.add_kernels([kernel]) == 1
        assert store.add_kernels([kernel]) == 0
        assert list(store.all_kernels()) == [kernel]
        store.close()


FLOATS = st.floats(allow_nan=False)


TIMES = st.lists(FLOATS, max_size=6).map(tuple)


@given(
    st.builds(
        RowTiming, *[FLOATS] * 4, st.integers(0), TIMES, TIMES, FLOATS, *[st.none() | FLOATS] * 2, st.booleans(),
        FLOATS, NAMES,
    )
)  # fmt: skip
def test_a_timing_is_read_back_exactly(timing: RowTiming) -> None:
    assert timing_from_json(timing_to_json(timing)) == timing
