"""The baseline that reads launch and source as one text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `train` installs it")
pytest.importorskip("transformers", reason="the extra `train` installs it")

from model.launch.launch import Launch
from model.training.checkpoints import read_curves
from model.training.rows import Rows
from model.training.text_encoder import Shape, TextNetwork
from model.training.text_only import RowTexts, TextPlan, launch_sentence, text_estimates, train_text_only
from model.training.tokenizer import UNKNOWN, ids_of, train_tokenizer
from model.training.trainer import Batch, Recipe
from tests.made_world import made_rows

TINY = Shape(width=16, heads=2, layers=1, slots=2, longest=64)
HARDLY = Recipe(steps=6, evaluate_every=3, cpu_threads=1)
TOKENS = ("kernel", "void", "v0", "(", ")", "{", "v1", "+=", "f1e", ";", "}")


class Interrupted(Exception):
    """Whoever trains presses Ctrl-C."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    return made_rows()


@pytest.fixture(scope="module")
def texts(rows: Rows) -> RowTexts:
    """Of all kernels but one."""
    kernels = sorted(set(rows.kernel.tolist()))[1:]
    tokens = {kernel: (*TOKENS, *("v1", "*=", ";") * (at % 5)) for at, kernel in enumerate(kernels)}
    named = sorted(set(zip(rows.kernel.tolist(), rows.launch_key.tolist(), strict=True)))
    launches = {key: Launch((64 + at,), None, (("n", at),), (("x", 4096),)) for at, key in enumerate(named)}
    return RowTexts(rows, tokens, launches, TINY.longest)


@pytest.fixture
def train(texts: RowTexts, tmp_path: Path) -> Callable[..., TextNetwork]:
    def run(name: str, seed: int = 0, recipe: Recipe = HARDLY) -> TextNetwork:
        return train_text_only(texts, tmp_path / name, recipe, TINY, seed).network

    return run


def _same(one: TextNetwork, other: TextNetwork) -> bool:
    return all(a.equal(b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def test_a_launch_is_told_in_digits_and_words() -> None:
    launch = Launch((64, 8), None, (("n", 12),), (("x", 512),))
    said = "global 6 4 , 8 , local any , scalars 1 2 , buffers 5 1 2 , on pocl ;"
    assert " ".join(launch_sentence(launch, "pocl")) == said


def test_rows_that_differ_in_launch_or_device_differ_in_text(rows: Rows, texts: RowTexts) -> None:
    own = np.flatnonzero(rows.kernel == rows.kernel[texts.of(rows.where("train"))[0]])
    assert len({tuple(texts[row]) for row in own.tolist()}) == len(own) > 1


def test_rows_without_a_source_are_left_out(rows: Rows, texts: RowTexts) -> None:
    everything = np.arange(len(rows.kernel))
    assert set(rows.kernel) - set(rows.kernel[texts.of(everything)]) == {min(rows.kernel.tolist())}


def test_it_learns_and_answers_for_every_row(rows: Rows, texts: RowTexts, train: Callable[..., TextNetwork]) -> None:
    network = train("once")
    assert np.isfinite(text_estimates(network, texts, texts.of(rows.judged("validation")))).all()


def test_the_same_seed_gives_the_same_network(train: Callable[..., TextNetwork]) -> None:
    first = train("first")
    assert _same(first, train("second"))
    assert not _same(first, train("third", seed=1))


def test_a_stopped_run_ends_like_one_that_was_not(
    train: Callable[..., TextNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train("whole")
    take = TextPlan.__getitem__

    def stop_at_the_fifth(plan: TextPlan, step: int) -> Batch:
        if step == 5:
            raise Interrupted
        return take(plan, step)

    with monkeypatch.context() as patched:
        patched.setattr(TextPlan, "__getitem__", stop_at_the_fifth)
        with pytest.raises(Interrupted):
            train("stopped")
    assert _same(whole, train("stopped"))


def test_it_stops_when_its_minutes_are_spent(train: Callable[..., TextNetwork], tmp_path: Path) -> None:
    train("short", recipe=replace(HARDLY, steps=10_000, most_minutes=1e-6))
    assert max(step for step, _ in read_curves(tmp_path / "short/progress.jsonl")["error"]) < 10_000


def test_progress_tells_loss_and_error(train: Callable[..., TextNetwork], tmp_path: Path) -> None:
    train("watched")
    curves = read_curves(tmp_path / "watched/progress.jsonl")
    assert [step for step, _ in curves["validation/median_ape_percent"]] == [3, 6]
    assert "train_loss" in curves


def test_held_out_kernels_are_never_trained_on(rows: Rows, texts: RowTexts, monkeypatch: pytest.MonkeyPatch) -> None:
    told: set[str] = set()
    take = RowTexts.__getitem__

    def remember(these: RowTexts, row: int) -> list[int]:
        told.add(str(rows.split[row]))
        return take(these, row)

    monkeypatch.setattr(RowTexts, "__getitem__", remember)
    plan = TextPlan(texts, HARDLY, seed=0)
    assert all(len(plan[step]["tokens"]) for step in range(20))
    assert told == {"train"}


def test_long_kernels_keep_their_head_and_tail() -> None:
    tokenizer = train_tokenizer([TOKENS] * 30)
    ids = ids_of(tokenizer, [*TOKENS, *["v1", ";"] * 5000, *TOKENS[::-1]], longest=32)
    assert len(ids) == 32
    assert tokenizer.decode(ids[:2]).startswith("kernel")
    assert ids_of(tokenizer, (), longest=32) == [UNKNOWN]


def test_the_same_kernels_give_the_same_tokenizer() -> None:
    kernels = [TOKENS] * 30
    assert json.loads(train_tokenizer(kernels).to_str()) == json.loads(train_tokenizer(kernels).to_str())
