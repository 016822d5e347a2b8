"""Families at the scale of programs: their sizes, barriers, long kernels, and nothing outside of buffers."""

from __future__ import annotations

import pytest

from profiler.corpus.family import FAMILIES, PROGRAM
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import CorpusKernel
from tests.families.run import failed

PROGRAMS = sorted(name for name, family in FAMILIES.items() if family.scale is PROGRAM)
GROUPS = {"searches", "in_place", "blocked_products", "stepped_grids", "cooperation", "whole_programs"}
EVERY = 3  # of the families, whose kernels are run


@pytest.fixture(scope="module")
def kernels() -> list[CorpusKernel]:
    return [corpus_kernel(FAMILIES[name], seed) for name in PROGRAMS for seed in range(4)]


def test_there_are_families_of_each_kind_of_program(kernels: list[CorpusKernel]) -> None:
    assert {kernel.group for kernel in kernels} == GROUPS
    assert len(PROGRAMS) >= 40


def test_barriers_and_long_kernels_are_as_frequent_as_in_programs(kernels: list[CorpusKernel]) -> None:
    assert sum("barrier(" in kernel.source for kernel in kernels) >= 0.45 * len(kernels)
    assert sum(kernel.source.count("\n") >= 150 for kernel in kernels) >= 0.05 * len(kernels)


def test_launches_of_a_program_differ_in_all_their_sizes(kernels: list[CorpusKernel]) -> None:
    for kernel in kernels:
        keys = [each.launch.key for each in kernel.launches]
        assert len(keys) == len(set(keys)) >= 2, kernel.reference
    lengths = [sum(length for _, length in each.launch.buffers) for kernel in kernels for each in kernel.launches]
    assert max(lengths) > 50_000_000
    assert sorted(lengths)[len(lengths) // 2] > 500_000


@pytest.mark.device
def test_they_build_and_stay_inside_their_buffers() -> None:
    chosen = [corpus_kernel(FAMILIES[name], 7) for name in PROGRAMS[::EVERY]]
    assert list(failed(chosen, "pocl", 1)) == []
