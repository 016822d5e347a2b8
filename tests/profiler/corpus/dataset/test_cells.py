"""Whatever a launch is made of comes back from the dataset's cells exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.launch import Fill, Launch
from model.opencl.options import BuildOptions
from profiler.corpus.dataset.cells import launch_cells, launch_from_cells
from profiler.corpus.dataset.columns import LAUNCHES, DatasetError
from profiler.corpus.dataset.reading import options_from
from profiler.corpus.dataset.signed import Signer
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch

names = st.text("abcxyz_", min_size=1, max_size=5)
sizes = st.integers(0, 2**40)
floats = st.floats(-1e30, 1e30)
numbers = st.one_of(st.integers(-(2**63), 2**64 - 1), floats)
fills = st.one_of(
    st.just(Fill("random")),
    st.builds(lambda v: Fill("const", (v,)), numbers),
    st.builds(lambda a, b: Fill("uniform", (min(a, b), max(a, b))), floats, floats),
    st.builds(lambda n, s: Fill("csr_rows", (n, s)), sizes, st.floats(0, 2)),
    st.builds(lambda n, r: Fill("clustered", (-n, n + 1, r)), sizes, st.floats(0, 1e9)),
)


def named(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[tuple[str, object], ...]]:
    return st.lists(st.tuples(names, values), max_size=4).map(tuple)


launches = st.builds(
    Launch,
    st.lists(sizes, min_size=1, max_size=3).map(tuple),
    st.one_of(st.none(), st.lists(st.integers(1, 1024), min_size=1, max_size=3).map(tuple)),
    scalars=named(st.one_of(numbers, st.just(float("inf")), st.just(float("-inf")))),
    buffers=named(sizes),
    images=named(st.tuples(sizes, sizes, sizes)),
    local_bytes=named(sizes),
    fills=named(fills),
)


@given(launches)
def test_a_launch_comes_back(launch: Launch) -> None:
    cells = launch_cells("k", 0, CorpusLaunch(launch))
    assert cells.keys() == {column.name for column in LAUNCHES.columns}
    back = launch_from_cells(cells)
    assert back == launch
    assert back.key == launch.key == cells["key"]


@given(
    st.lists(st.tuples(names, st.text("abc(+)=, 1", max_size=9)), max_size=3), st.sets(st.sampled_from(["-w", "-cl-x"]))
)
def test_build_options_come_back(defines: list[tuple[str, str]], flags: set[str]) -> None:
    options = BuildOptions(tuple(defines), (), tuple(flags))
    assert options_from(options.arguments()) == options


def test_a_kernel_that_is_not_in_its_source_is_named(kernels: list[CorpusKernel], tmp_path: Path) -> None:
    lost = replace(kernels[0], id="lost", source="kernel void another(global float *x) {}")
    with Signer(tmp_path) as signer, pytest.raises(DatasetError, match=r"`k` of .* is not in its source any more"):
        signer.sign(lost)


def test_signatures_that_were_cut_short_are_made_anew(kernels: list[CorpusKernel], tmp_path: Path) -> None:
    with Signer(tmp_path) as signer:
        first = signer.sign(kernels[0])
    file = tmp_path / "signatures.json"
    for spoilt in (file.read_text()[:-9], "[]", '{"a": 1}'):
        file.write_text(spoilt)
        with Signer(tmp_path) as signer:
            assert signer.sign(kernels[0]) == first
