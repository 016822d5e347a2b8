"""`kernelcast train` and `kernelcast evaluate` say in a sentence what is missing, and what to do."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from server.cli import evaluate, train
from server.cli.status import WrongCallError

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def call(kernelcast: str, tmp_path: Path) -> Call:
    """In a folder of one's own; none there may hold weights that would ship."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [kernelcast, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
        return done

    return run


def test_training_without_a_dataset_names_the_folder_and_writes_nothing(call: Call, tmp_path: Path) -> None:
    done = call("train", "no such folder", "--output", "weights")
    assert done.returncode == 1
    assert "no such folder holds no dataset" in done.stderr
    assert not (tmp_path / "weights").exists()


@pytest.mark.parametrize(
    ("words", "missing"),
    [(("train",), "DATA"), (("train", "data"), "--output"), (("evaluate",), "DATA")],
)
def test_what_must_be_told_is_a_wrong_call(call: Call, words: tuple[str, ...], missing: str) -> None:
    done = call(*words)
    assert done.returncode == 2
    assert missing in done.stderr


@pytest.mark.parametrize("flag", [("--threads", "0"), ("--threads", "many"), ("--seed", "x")])
def test_numbers_that_are_none_are_a_wrong_call(call: Call, flag: tuple[str, str]) -> None:
    done = call("train", "data", "--output", "weights", *flag)
    assert done.returncode == 2
    assert flag[0] in done.stderr


def test_an_evaluation_where_no_weights_ship_asks_for_some(call: Call) -> None:
    done = call("evaluate", "no such folder")
    assert done.returncode == 2
    assert "no weights are shipped; say which with --weights DIR" in done.stderr


def test_an_evaluation_without_a_dataset_names_the_folder(call: Call) -> None:
    done = call("evaluate", "no such folder", "--weights", "weights")
    assert done.returncode == 1
    assert "no such folder holds no dataset" in done.stderr


@pytest.mark.parametrize("text", [None, "no JSON", "[]", "{}", json.dumps({"version": 1, "file": "gone"})])
def test_weights_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    evaluating = pytest.importorskip("profiler.corpus.facts.evaluating")
    from profiler.corpus.dataset.columns import DatasetError

    monkeypatch.setattr(evaluating, "read_rows", lambda _: None)
    if text is not None:
        (tmp_path / "model.json").write_text(text)
    with pytest.raises(DatasetError, match=r"there are no weights in|are damaged or of another version") as told:
        evaluating.evaluate(tmp_path, tmp_path, is_brief=True, say=print)
    assert str(tmp_path) in str(told.value)
    assert "Errno" not in str(told.value)


@pytest.mark.parametrize(
    ("command", "module", "library"),
    [
        (train.run, "model.training.ensemble", "lightgbm"),
        (evaluate.run, "profiler.corpus.facts.evaluating", "torch"),
    ],
)
def test_an_installation_without_the_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, command: Callable[[argparse.Namespace], int], module: str, library: str
) -> None:
    for name in [each for each in sys.modules if each.startswith(("model.training", module))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    with pytest.raises(WrongCallError, match=rf"needs `{library}.*pip install 'kernelcast\[train\]'"):
        command(argparse.Namespace())
