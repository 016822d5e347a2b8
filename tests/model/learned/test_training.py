"""Training: the same seed gives the same network, a stopped run goes on as if it had not been."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.network import Network
from model.training.arrays import Arrays, Split
from model.training.batches import Plan
from model.training.predicting import estimates
from model.training.progress import read_curves
from model.training.recipe import Recipe
from model.training.train_network import train_network


class Interrupted(Exception):
    """Whoever trains presses Ctrl-C."""


def _same(one: Network, other: Network) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


@pytest.fixture
def train(arrays: Arrays, recipe: Recipe, tiny: dict[str, int], tmp_path: Path) -> Callable[..., Network]:
    def run(name: str, seed: int = 0, **changes: object) -> Network:
        return train_network(arrays, tmp_path / name, recipe, seed, **{**tiny, **changes}).network

    return run


def test_the_same_seed_gives_the_same_network(train: Callable[..., Network]) -> None:
    first = train("first")
    assert _same(first, train("second"))
    assert not _same(first, train("third", seed=1))


def test_a_stopped_run_ends_like_one_that_was_not(
    train: Callable[..., Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train("whole")
    take = Plan.__getitem__

    def stop_at_the_fifth(plan: Plan, step: int) -> dict[str, torch.Tensor]:
        if step == 5:
            raise Interrupted
        return take(plan, step)

    with monkeypatch.context() as patched:
        patched.setattr(Plan, "__getitem__", stop_at_the_fifth)
        with pytest.raises(Interrupted):
            train("stopped")
    assert _same(whole, train("stopped"))


def test_it_stops_when_its_minutes_are_spent(
    arrays: Arrays, recipe: Recipe, tiny: dict[str, int], tmp_path: Path
) -> None:
    train_network(arrays, tmp_path, replace(recipe, steps=10_000, most_minutes=1e-6), **tiny)
    assert max(step for step, _ in read_curves(tmp_path / "all" / "progress.jsonl")["error"]) < 10_000


def test_progress_tells_loss_and_error_by_device(train: Callable[..., Network], tmp_path: Path) -> None:
    train("watched")
    curves = read_curves(tmp_path / "watched" / "all" / "progress.jsonl")
    assert [step for step, _ in curves["validation/device0 compiled/within_2x"]] == [3, 6]
    assert "train_loss" in curves


def test_held_out_kernels_are_never_trained_on(arrays: Arrays, recipe: Recipe) -> None:
    held_out = {at for at, kernel in enumerate(arrays.kernels) if kernel.split is not Split.TRAIN}
    assert {arrays.kernels[at].split for at in held_out} == {Split.VALIDATION, Split.KNOWN_FAMILIES}
    plan = Plan(arrays, [[at] for at in range(len(arrays.kernels))], recipe, seed=0)
    assert held_out.isdisjoint(int(token) for step in range(20) for token in plan[step]["tokens"].flatten())


@pytest.mark.parametrize("left_out", ["with_code", "with_laws", "with_device_groups"])
def test_parts_can_be_left_out(train: Callable[..., Network], arrays: Arrays, left_out: str) -> None:
    network = train(left_out, **{left_out: False})
    rows = arrays.rows_in(Split.VALIDATION)
    ((log2_us, _),) = estimates(network, arrays, [[2, 3]] * len(arrays.kernels), rows, compiled=(True,))
    assert torch.isfinite(torch.from_numpy(log2_us)).all()
