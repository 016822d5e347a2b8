"""Weights are written with what they are, load again, and are judged in tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("lightgbm", reason="the extra `train` grows trees")
pytest.importorskip("torch", reason="the extra `train` learns prices")

from model.learned.ensemble import Ensemble
from model.learned.learned import DESCRIPTION, WEIGHTS_VARIABLE, load_model
from model.training.checkpoints import PROGRESS, read_curves
from model.training.evaluation import SPLITS
from model.training.rows import Rows
from profiler.corpus.facts import evaluating, training
from profiler.corpus.facts.evaluating import Evaluation, evaluate
from profiler.corpus.facts.plots import draw
from profiler.corpus.facts.training import train
from tests.made_world import HARDLY, made_rows


@pytest.fixture(scope="module")
def rows() -> Rows:
    return made_rows()


def kernels_of(rows: Rows) -> pa.Table:
    """Return what the dataset holds of the made-up kernels where versions are paired."""
    names = np.unique(rows.kernel).tolist()
    lines = [
        {"id": n, "origin": "made", "reference": f"{n}.cl:k", "choices": [f"tile={at % 2}"]}
        for at, n in enumerate(names)
    ]
    return pa.Table.from_pylist(lines)


@pytest.fixture(scope="module")
def weights(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained on a made-up world, into a folder that was not there."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training, "read_rows", lambda _: rows)
        return train(Path("data"), tmp_path_factory.mktemp("some") / "new/folder", HARDLY, lambda _: None)


@pytest.fixture(scope="module")
def evaluation(rows: Rows, weights: Path) -> Evaluation:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evaluating, "read_rows", lambda _: rows)
        patched.setattr(evaluating, "read_dataset", lambda _: SimpleNamespace(kernels=kernels_of(rows)))
        return evaluate(Path("data"), weights, is_brief=True, say=lambda _: None)


def test_weights_say_what_they_were_trained_on_and_load(
    rows: Rows, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = json.loads((weights / DESCRIPTION).read_text())
    assert described["rows"] == len(rows.where("train"))
    assert described["recipe"]["networks"]["epochs"] == HARDLY.networks.epochs
    assert {"kernelcast_version", "commit"} <= described.keys()
    assert not (weights / "parts").exists()
    assert "source network 0/error_octaves" in read_curves(weights / PROGRESS)
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(weights))
    assert isinstance(load_model(), Ensemble)


def test_tables_have_a_line_for_all_that_is_compared(evaluation: Evaluation) -> None:
    accuracy = evaluation.tables["accuracy"]
    for who in ("launch size only", "analytical model alone", "boosted trees", "cost networks", "shipped, from source",
                "shipped, compiled", "shipped, from source: pocl-1core"):  # fmt: skip
        assert len(re.findall(rf"^\| {re.escape(who)} \|", accuracy, re.MULTILINE)) == 3, who
    assert evaluation.tables.keys() == {
        "accuracy", "noise", "groups", "coverage", "ordering", "measured", "programs", "kinds", "novelty", "pairs"
    }  # fmt: skip
    for table in evaluation.tables.values():
        for block in table.split("\n\n"):
            assert len({line.count("|") for line in block.splitlines() if line.startswith("|")}) <= 1


def test_only_what_knows_the_roofline_keeps_above_it(rows: Rows, evaluation: Evaluation) -> None:
    judged = rows.judged(*SPLITS)
    for who, said in evaluation.predicted.items():
        assert np.isfinite(said[judged]).all()
        if who != "launch size only":
            assert (said[judged] >= rows.analytic[judged, 1] - 1e-5).all()


def test_pictures_are_drawn(evaluation: Evaluation, tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="the extra `picture` draws")
    draw(evaluation, tmp_path / "pictures")
    drawn = {each.name: each.read_bytes()[:4] for each in (tmp_path / "pictures").iterdir()}
    assert len(drawn) == 5
    assert set(drawn.values()) == {b"\x89PNG"}
