"""The benchmarks' files are what they claim to be."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

Generate = Callable[[int, int, int], str]


@pytest.fixture(scope="module")
def generate_file(repository: Path) -> Generate:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository / "tests/bench")
        import generate

        return generate.generate_file


@given(kernels=st.integers(1, 40), spare=st.integers(0, 500), seed=st.integers(0, 2**32))
def test_a_file_has_the_lines_and_kernels_that_were_asked_for(
    generate_file: Generate, kernels: int, spare: int, seed: int
) -> None:
    lines = 40 + 30 * kernels + spare
    text = generate_file(lines, kernels, seed)
    assert text.count("\n") == lines
    names = re.findall(r"kernel (?:__attribute__\(\(.*\)\)\n)?void (\w+)\(", text)
    assert len(set(names)) == kernels
    assert text == generate_file(lines, kernels, seed)


def test_too_many_kernels_for_the_lines_are_refused(generate_file: Generate) -> None:
    with pytest.raises(ValueError, match="do not fit into 100 lines"):
        generate_file(100, 40, 1)
