"""A training run that is stopped goes on where it was, and ends with the very weights of one that was not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm", reason="the extra `train` grows trees")
pytest.importorskip("torch", reason="the extra `train` learns prices")

from model.learned.weights import arrays_of
from model.training.checkpoints import read_curves
from model.training.ensemble import train_ensemble
from model.training.rows import Rows
from tests.made_world import HARDLY, made_rows


class Stopped(Exception):
    """By whoever ran it."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    return made_rows()


def trained(rows: Rows, parts: Path, *, stop_at: str = "", recipe_seed: int = 0) -> list[str]:
    """What was said until it ended or was stopped."""
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text == stop_at:
            raise Stopped

    train_ensemble(rows, replace(HARDLY, seed=recipe_seed), say, parts)
    return said


def test_a_stopped_run_goes_on_and_ends_as_if_it_had_never_stopped(rows: Rows, tmp_path: Path) -> None:
    whole, _ = arrays_of(train_ensemble(rows, HARDLY, lambda _: None, tmp_path / "whole"))
    with pytest.raises(Stopped):
        trained(rows, tmp_path / "stopped", stop_at="trees 1 are grown (compiled)")
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "stopped").glob("*.safetensors")}
    assert len(before) > 3
    went_on, _ = arrays_of(train_ensemble(rows, HARDLY, lambda _: None, tmp_path / "stopped"))
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "stopped").glob("*.safetensors")}
    assert {name: after[name] for name in before} == before
    assert len(after) > len(before)
    assert whole.keys() == went_on.keys()
    assert all(np.array_equal(whole[name], went_on[name]) for name in whole)


def test_parts_of_another_recipe_or_of_other_rows_are_made_anew(rows: Rows, tmp_path: Path) -> None:
    other = replace(rows, log2_us=rows.log2_us + 1)
    usual, _ = arrays_of(train_ensemble(other, HARDLY, lambda _: None))
    trained(rows, tmp_path)
    found, _ = arrays_of(train_ensemble(other, HARDLY, lambda _: None, tmp_path))
    assert all(np.array_equal(usual[name], found[name]) for name in usual)


def test_a_part_that_was_cut_off_is_made_anew(rows: Rows, tmp_path: Path) -> None:
    usual, _ = arrays_of(train_ensemble(rows, HARDLY, lambda _: None, tmp_path))
    for path in tmp_path.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:100])
    found, _ = arrays_of(train_ensemble(rows, HARDLY, lambda _: None, tmp_path))
    assert all(np.array_equal(usual[name], found[name]) for name in usual)


def test_the_errors_of_each_network_are_written_down_as_they_fall(rows: Rows, tmp_path: Path) -> None:
    trained(rows, tmp_path)
    curves = read_curves(tmp_path / "progress.jsonl")
    assert {"prices/error_octaves", "source network 0/error_octaves"} <= curves.keys()
    assert all(np.isfinite(value) for points in curves.values() for _, value in points)
