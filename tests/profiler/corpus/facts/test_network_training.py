"""The network is trained from the committed dataset and sources that are written anew; a stopped run goes on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch", reason="the extra `train` installs it")
pytest.importorskip("transformers", reason="the extra `train` installs it")

from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.network_file import load_network_file
from model.training.arrays import Arrays, Split
from model.training.batches import Batch, Plan
from model.training.recipe import CPU
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts import tokens as reading
from profiler.corpus.facts.network_arrays import network_arrays
from profiler.corpus.facts.network_training import TOKENS, train_on_sources
from profiler.corpus.facts.rows import read_rows
from profiler.corpus.facts.tokens import Tokens, kernel_tokens
from profiler.corpus.kernel import GENERATOR

TINY = {"width": 16, "heads": 2, "layers": 1, "slots": 2, "longest": 32, "pieces": 3}
HARDLY = replace(
    CPU, steps=4, head_steps=4, evaluate_every=2, kernels_per_step=3, other_rows=5, head_rows=8, cpu_threads=1
)
GENERATED = {"train": 6, "known": 2, "validation": 3, "test-origins": 0, "left out": 0}
REAL = 2  # of which the source of one is there


class Interrupted(Exception):
    """Whoever trains presses Ctrl-C."""


@pytest.fixture(scope="module")
def dataset(repository: Path, cut_out: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = repository / "profiler/corpus/data"
    rows = read_rows(data)
    chosen: dict[str, list[str]] = defaultdict(list)
    for kernel, split, origin in zip(rows.kernel.tolist(), rows.split.tolist(), rows.origin.tolist(), strict=True):
        kind, most = (split, GENERATED[split]) if origin == GENERATOR else ("real", REAL)
        if len(chosen[kind]) < most and kernel not in chosen[kind]:
            chosen[kind].append(kernel)
    kernels = [kernel for some in chosen.values() for kernel in some]
    return cut_out(tmp_path_factory.mktemp("few") / "data", kernels, ("launch_facts", "law_facts"))


@pytest.fixture(scope="module")
def sources(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `kernelcast dataset facts` leaves them, but for one that was not found."""
    folder = tmp_path_factory.mktemp("sources")
    kernels = pq.read_table(dataset / "kernels.parquet", columns=["id", "origin", "name"]).to_pylist()
    found = next(each for each in kernels if each["origin"] != GENERATOR)
    (folder / "restored").mkdir()
    text = f"kernel void {found['name']}(global float* x) {{ x[get_global_id(0)] *= 2.0f; }}"
    (folder / "restored/package.jsonl").write_text(json.dumps({"id": found["id"], "source": text}) + "\n")
    return folder


@pytest.fixture(scope="module")
def kept(dataset: Path, sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / TOKENS
    kernel_tokens(dataset, sources, path, processes=1, say=lambda _: None)
    return path


@pytest.fixture
def tokens(dataset: Path, sources: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """As they were kept: nothing is read again."""
    monkeypatch.setattr(reading, "shared_out", lambda *_: pytest.fail("a kernel was read twice"))
    monkeypatch.setattr(reading, "restored_sources", lambda _: {})
    return kernel_tokens(dataset, sources, kept, processes=1, say=lambda _: None)


def test_every_kernel_whose_source_is_there_has_tokens(dataset: Path, tokens: Tokens) -> None:
    kernels = pq.read_table(dataset / "kernels.parquet", columns=["id"]).to_pylist()
    assert len(tokens) == len(kernels) - 1
    assert all("kernel" in some and "(" in some for some in tokens.values())


def test_arrays_say_what_the_rows_say(dataset: Path, tokens: Tokens) -> None:
    rows = read_rows(dataset)
    arrays: Arrays = network_arrays(rows, tokens)
    given = np.flatnonzero(np.isin(rows.kernel, list(tokens)) & ~rows.is_repeat)
    assert len(arrays.row_launch) == len(given) > len(arrays.launch_kernel) > len(arrays.kernels) == len(tokens)
    for ours, theirs in (
        (arrays.launch_facts[arrays.row_launch], rows.launch),
        (arrays.device_facts[arrays.row_device], rows.device),
        (arrays.row_laws, rows.laws),
        (arrays.row_compiled, rows.compiled),
        (arrays.row_log2_us, rows.log2_us),
        (arrays.row_weight, rows.weight),
    ):
        assert np.array_equal(ours, theirs[given], equal_nan=True)
    named = [(arrays.kernels[at].id, arrays.kernels[at].split) for at in arrays.row_kernel]
    assert named == list(zip(rows.kernel[given], rows.split[given], strict=True))
    assert [arrays.names.devices[at] for at in arrays.row_device] == rows.device_name[given].tolist()
    assert all(kernel.tokens == tokens[kernel.id] for kernel in arrays.kernels)
    assert {kernel.split for kernel in arrays.kernels} >= {Split.TRAIN, Split.KNOWN_FAMILIES, Split.VALIDATION}


def _train(dataset: Path, sources: Path, kept: Path, out: Path, seed: int = 0) -> tuple[Path, list[str]]:
    said: list[str] = []
    out.mkdir(exist_ok=True)
    (out / TOKENS).write_bytes(kept.read_bytes())
    path = train_on_sources(dataset, sources, out, HARDLY, seed, processes=1, say=said.append, **TINY)
    return path, said


@pytest.mark.usefixtures("tokens")
def test_a_stopped_run_ends_with_the_weights_of_one_that_was_not(
    dataset: Path, sources: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Plan.__getitem__

    def stop_at_the_third(plan: Plan, step: int) -> Batch:
        if step == 3:
            raise Interrupted
        return take(plan, step)

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "__getitem__", stop_at_the_third)
        with pytest.raises(Interrupted):
            _train(dataset, sources, kept, tmp_path / "stopped")
    went_on, said = _train(dataset, sources, kept, tmp_path / "stopped")
    whole, _ = _train(dataset, sources, kept, tmp_path / "whole")
    assert any("; 1 whose source is not there" in each for each in said)
    one, other = load_network_file(went_on), load_network_file(whole)
    assert all(
        a.equal(b) for a, b in zip(one.network.state_dict().values(), other.network.state_dict().values(), strict=True)
    )
    assert one.names.launch_facts == tuple(LAUNCH_FACT_NAMES)
    assert json.loads(one.about["recipe"])["steps"] == HARDLY.steps
    assert {"seed", "commit", "kernelcast_version", "rows", "devices"} <= one.about.keys()
    with pytest.raises(DatasetError, match="holds a training of another seed"):
        _train(dataset, sources, kept, tmp_path / "whole", seed=1)


def test_a_folder_without_sources_of_packages_is_named(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"mistyped holds no source .* `kernelcast dataset facts"):
        kernel_tokens(dataset, tmp_path / "mistyped", tmp_path / TOKENS, processes=1, say=lambda _: None)
    assert not (tmp_path / TOKENS).exists()
