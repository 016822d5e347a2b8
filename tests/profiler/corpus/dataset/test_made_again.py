"""The dataset in this repository can be made again: its kernels from their seeds, byte for byte, on any machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from profiler.corpus.dataset.reading import read_dataset
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import GENERATOR, SEED, CorpusKernel

DATA = Path(__file__).parents[4] / "profiler" / "corpus" / "data"
EVERY = 97  # kernel, so that families come up in turn
MOST_BYTES = 40_000_000


@pytest.fixture(scope="module")
def kernels() -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = read_dataset(DATA).kernels.to_pylist()
    return found


@pytest.fixture(scope="module")
def made_again(kernels: list[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], CorpusKernel]]:
    def pairs() -> Iterator[tuple[Mapping[str, Any], CorpusKernel]]:
        for kernel in [each for each in kernels if each["origin"] == GENERATOR][::EVERY]:
            assert kernel["version"] == SEED
            family, _, seed = kernel["reference"].partition("/")
            yield kernel, corpus_kernel(FAMILIES[family], int(seed))

    return list(pairs())


def test_sources_made_again_are_the_same_bytes(made_again: list[tuple[Mapping[str, Any], CorpusKernel]]) -> None:
    for kernel, again in made_again:
        assert hashlib.sha256(again.source.encode()).hexdigest() == kernel["source_sha256"], kernel["reference"]
        assert again.id == kernel["id"], kernel["reference"]


def test_launches_made_again_are_the_same(made_again: list[tuple[Mapping[str, Any], CorpusKernel]]) -> None:
    launches: dict[str, set[str]] = {}
    for kernel_id, key in zip(
        *(read_dataset(DATA).launches[name].to_pylist() for name in ("kernel_id", "key")), strict=True
    ):
        launches.setdefault(kernel_id, set()).add(key)
    for kernel, again in made_again:
        assert {each.launch.key for each in again.launches} == launches[kernel["id"]], kernel["reference"]


def test_every_kernel_is_there_once(kernels: list[Mapping[str, Any]]) -> None:
    assert len({kernel["id"] for kernel in kernels}) == len(kernels)


def test_what_is_committed_stays_small() -> None:
    folder = DATA.parent
    assert sum(file.stat().st_size for name in ("data", "pictures") for file in (folder / name).iterdir()) < MOST_BYTES
