"""The baseline is trained from the committed dataset and sources that are written anew; nothing is read twice."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="the extra `train` installs it")
pytest.importorskip("transformers", reason="the extra `train` installs it")

from model.training.text_encoder import Shape
from model.training.trainer import Recipe
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.reading import read_splits
from profiler.corpus.facts import tokens as reading
from profiler.corpus.facts.rows import finer_splits, read_rows
from profiler.corpus.facts.text_baseline import TOKENS, WHO, text_table
from profiler.corpus.facts.tokens import Tokens, kernel_tokens
from profiler.corpus.kernel import GENERATOR

GENERATED = {"train": 6, "known": 2, "validation": 3, "test-origins": 0, "left out": 0}
REAL = 2  # of which the source of one is there


@pytest.fixture(scope="module")
def dataset(repository: Path, cut_out: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = repository / "profiler/corpus/data"
    measured = set(pq.read_table(data / "rows.parquet", columns=["kernel_id"])["kernel_id"].to_pylist())
    columns = ["id", "family", "origin"]
    kernels = [k for k in pq.read_table(data / "kernels.parquet", columns=columns).to_pylist() if k["id"] in measured]
    splits = finer_splits(read_splits(data), {each["id"]: each["family"] for each in kernels})
    chosen: dict[str, list[str]] = defaultdict(list)
    for each in kernels:
        split = splits[each["id"]]
        kind, most = (split, GENERATED[split]) if each["origin"] == GENERATOR else ("real", REAL)
        if len(chosen[kind]) < most:
            chosen[kind].append(each["id"])
    few = [kernel for some in chosen.values() for kernel in some]
    return cut_out(tmp_path_factory.mktemp("few") / "data", few, ("launch_facts", "analytic_facts"))


@pytest.fixture(scope="module")
def sources(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `kernelcast dataset facts` leaves them, but for one that was not found; tokens were read before."""
    folder = tmp_path_factory.mktemp("sources")
    kernels = pq.read_table(dataset / "kernels.parquet", columns=["id", "origin", "name"]).to_pylist()
    found = next(each for each in kernels if each["origin"] != GENERATOR)
    (folder / "restored").mkdir()
    text = f"kernel void {found['name']}(global float* x) {{ x[get_global_id(0)] *= 2.0f; }}"
    (folder / "restored/package.jsonl").write_text(json.dumps({"id": found["id"], "source": text}) + "\n")
    kernel_tokens(dataset, folder, folder / TOKENS, processes=1, say=lambda _: None)
    return folder


@pytest.fixture
def tokens(dataset: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    monkeypatch.setattr(reading, "parallel_map", lambda *_: pytest.fail("a kernel was read twice"))
    monkeypatch.setattr(reading, "restored_sources", lambda _: {})
    return kernel_tokens(dataset, sources, sources / TOKENS, processes=1, say=lambda _: None)


def test_every_kernel_whose_source_is_there_has_tokens(dataset: Path, tokens: Tokens) -> None:
    kernels = pq.read_table(dataset / "kernels.parquet", columns=["id"]).to_pylist()
    assert len(tokens) == len(kernels) - 1
    assert all("kernel" in some and "(" in some for some in tokens.values())


@pytest.mark.usefixtures("tokens")
def test_the_baseline_stands_beside_what_ships_on_the_same_rows(dataset: Path, sources: Path) -> None:
    rows = read_rows(dataset)
    said: list[str] = []
    shape, recipe = Shape(width=16, heads=2, layers=1, slots=2, longest=32), Recipe(steps=2, cpu_threads=1)
    lines = text_table(dataset, sources, rows, rows.analytic[:, 0], say=said.append, recipe=recipe, shape=shape)
    assert [line.who for line in lines] == [WHO, "shipped, from source"] * 3
    assert [line.figures.rows > 0 for line in lines if line.split == "validation"] == [True, True]
    assert all(a.figures.rows == b.figures.rows for a, b in zip(lines[::2], lines[1::2], strict=True))
    assert any("; 1 whose source is not there" in each for each in said)


def test_a_folder_without_sources_of_packages_is_named(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"mistyped holds no source .* `kernelcast dataset facts"):
        kernel_tokens(dataset, tmp_path / "mistyped", tmp_path / TOKENS, processes=1, say=lambda _: None)
    assert not (tmp_path / TOKENS).exists()
