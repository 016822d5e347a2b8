"""`kernelcast train` and `kernelcast evaluate` say in a sentence what is missing, and what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from server.cli import entry, main

Call = Callable[..., subprocess.CompletedProcess[str]]
OF_THE_BASELINE = ("accelerate", "tokenizers", "transformers")


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


@pytest.fixture
def extra() -> None:
    """What the extra `train` installs."""
    for library in ("lightgbm", "torch"):
        pytest.importorskip(library, reason="the extra `train` installs it")


@pytest.mark.usefixtures("extra")
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


@pytest.mark.usefixtures("extra")
def test_an_evaluation_without_a_dataset_names_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "no such folder", "--weights", "weights"]) == 1
    assert "no such folder holds no dataset" in capsys.readouterr().err


@pytest.mark.usefixtures("extra")
@pytest.mark.parametrize("text", [None, "no JSON", "[]", "{}", json.dumps({"version": 1, "file": "gone"})])
def test_weights_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    from profiler.corpus.dataset.columns import DatasetError
    from profiler.corpus.facts import evaluating

    monkeypatch.setattr(evaluating, "read_rows", lambda _: None)
    if text is not None:
        (tmp_path / "model.json").write_text(text)
    with pytest.raises(DatasetError, match=r"there are no weights in|are damaged or of another version") as told:
        evaluating.evaluate(tmp_path, tmp_path, is_brief=True, say=print)
    assert str(tmp_path) in str(told.value)
    assert "Errno" not in str(told.value)


@pytest.mark.parametrize(
    ("words", "library"),
    [
        (("train", "data", "--output", "weights"), "lightgbm"),
        (("evaluate", "data", "--weights", "w"), "torch"),
        *((("evaluate", "data", "--weights", "w", "--sources", "s"), library) for library in OF_THE_BASELINE),
    ],
)
def test_an_installation_without_the_extra_says_what_to_install(words: tuple[str, ...], library: str) -> None:
    """As the one that comes with an editor's extension; in a process of its own, which has the library hidden."""
    code = f"""
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] == "{library}":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
from server.cli import main
sys.exit(main({list(words)}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2, done.stderr
    assert f"needs `{library}`: " in done.stderr
    assert "pip install 'kernelcast[train]'" in done.stderr


@pytest.mark.parametrize("command", ["campaign", "dataset", "evaluate", "train"])
def test_an_installation_without_our_own_modules_says_so(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Leave out our own modules, as the package in an editor's extension does."""

    def lacks(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {name!r}", name="profiler.corpus.dataset")

    monkeypatch.setattr(entry.importlib, "import_module", lacks)
    words = {
        "evaluate": ["data"],
        "train": ["data", "--output", "weights"],
        "campaign": [],
        "dataset": ["stats", "data"],
    }[command]
    assert main([command, *words]) == 2
    said = capsys.readouterr().err
    assert f"`kernelcast {command}` is not in this installation" in said
    assert "uv tool install" in said
