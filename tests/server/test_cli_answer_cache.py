"""Answers that an earlier batch gave are given again, and only while all that they rest on is as it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profiler.store import Store
from server.cli.entry import main
from server.cli.forecasts import Forecaster

SCALE = """#include "factor.h"
kernel void scale(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= FACTOR; }
"""
Answers = list[dict[str, Any]]
Ask = Callable[..., Answers]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two places for the header, and a store of its own."""
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "project"
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "factor.h").write_text("#define FACTOR 2.0f\n")
    (folder / "scale.cl").write_text(SCALE)
    return folder


@pytest.fixture
def request_of(folder: Path) -> Callable[..., dict[str, Any]]:
    def build(**changes: Any) -> dict[str, Any]:
        sizes = {"global": [4096], "local": [64], "args": {"n": 4096}}
        return {"file": str(folder / "scale.cl"), "include": [str(folder / "include")], **sizes, **changes}

    return build


@pytest.fixture
def ask(folder: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Answer a batch; the device is one that no machine has."""

    def answers(*requests: dict[str, Any], flags: tuple[str, ...] = ()) -> Answers:
        file = folder.parent / "requests.jsonl"
        file.write_text("".join(f"{json.dumps(each)}\n" for each in requests))
        main(["predict", "--batch", str(file), "--device", "generic-cpu", "--jobs", "1", *flags])
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return answers


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files of the requests that were worked on."""
    found: list[Path] = []
    forecast = Forecaster.forecast_each

    def counted(self: Forecaster, requests: Any) -> Any:
        found.extend(request.file for request in requests)
        return forecast(self, requests)

    monkeypatch.setattr(Forecaster, "forecast_each", counted)
    return found


def replaced(file: Path, text: str) -> None:
    """Write as an editor does: the new text has a later time, however quick the test is."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(text)
    os.utime(file, ns=(before + 10**9, before + 10**9))


def test_a_second_batch_has_the_same_answers_without_work(ask: Ask, request_of: Any, analysed: list[Path]) -> None:
    first = ask(request_of(id="one"), request_of(id=[2], **{"global": [8192]}))
    assert len(analysed) == 2
    second = ask(request_of(id=[2], **{"global": [8192]}), request_of(id="three"), request_of(id="one"))
    assert len(analysed) == 2
    assert [each["id"] for each in second] == [[2], "three", "one"]
    assert second[0] == first[1]
    assert second[2] == first[0]
    assert list(second[2]) == list(first[0])


def test_new_requests_among_known_ones_are_answered_in_their_order(
    ask: Ask, request_of: Any, analysed: list[Path]
) -> None:
    ask(request_of(), request_of(**{"global": [512]}))
    sizes = [[512], [1024], [4096], [2048]]
    answers = ask(*(request_of(**{"global": size}) for size in sizes))
    assert [each["launch"]["global"] for each in answers] == sizes
    assert len(analysed) == 4


def _edit_source(folder: Path) -> None:
    replaced(folder / "scale.cl", SCALE.replace("*=", "+="))


def _edit_header(folder: Path) -> None:
    replaced(folder / "include" / "factor.h", "#define FACTOR 3.0\n")


def _shadow_header(folder: Path) -> None:
    (folder / "factor.h").write_text("#define FACTOR sin(x[i])\n")


def _lose_header(folder: Path) -> None:
    (folder / "include" / "factor.h").unlink()


def _configure(folder: Path) -> None:
    (folder / "kernelcast.toml").write_text('[advice]\nignore = ["divergence"]\n')


def _use_the_store(_folder: Path) -> None:
    store = Store.open()
    data = Path(os.environ["KERNELCAST_DATA_DIR"]) / "kernelcast.sqlite3"
    assert store is not None
    replaced_ns = data.stat().st_mtime_ns + 10**9
    os.utime(data, ns=(replaced_ns, replaced_ns))


@pytest.mark.parametrize(
    "change", [_edit_source, _edit_header, _shadow_header, _lose_header, _configure, _use_the_store]
)
def test_what_an_answer_rests_on_makes_it_anew(
    ask: Ask, request_of: Any, folder: Path, analysed: list[Path], change: Callable[[Path], None]
) -> None:
    ask(request_of())
    change(folder)
    ask(request_of())
    assert len(analysed) == 2


def test_the_flags_of_the_call_count(ask: Ask, request_of: Any, analysed: list[Path]) -> None:
    ask(request_of())
    (answer,) = ask(request_of(), flags=("--analytic-only",))
    assert answer["basis"] == "analytic"
    assert len(analysed) == 2


def test_a_file_that_changes_while_it_is_analysed_is_not_kept(
    ask: Ask, request_of: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forecast = Forecaster.forecast_each

    def saved_meanwhile(self: Forecaster, requests: Any) -> Any:
        found = forecast(self, requests)
        _edit_source(folder)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Forecaster, "forecast_each", saved_meanwhile)
        ask(request_of())
    (kept,) = ask(request_of())
    (anew,) = ask(request_of(), flags=("--no-cache",))
    assert kept == anew
    assert kept["work"]["flops"] == 4096


def test_without_a_cache_all_is_worked_out(ask: Ask, request_of: Any, analysed: list[Path]) -> None:
    for _ in range(2):
        ask(request_of(), flags=("--no-cache",))
    assert len(analysed) == 2
    assert not (Path(os.environ["KERNELCAST_DATA_DIR"]) / "answers.sqlite3").exists()


def test_errors_are_not_kept(ask: Ask, request_of: Any, analysed: list[Path]) -> None:
    for _ in range(2):
        (answer,) = ask(request_of(kernel="scael"))
        assert answer["error"]["code"]
    assert len(analysed) == 2


def test_names_that_the_project_has_elsewhere_are_looked_for_again(
    ask: Ask, request_of: Any, folder: Path, analysed: list[Path]
) -> None:
    (folder / ".git").mkdir()
    (folder / "scale.cl").write_text(SCALE.replace("x[i] *=", "x[i] *= WIDTH *"))
    (folder / "host.c").write_text('const char *options = "-DWIDTH=4";\n')
    for _ in range(2):
        ask(request_of())
    assert len(analysed) == 2


def test_a_cache_that_cannot_be_read_costs_no_answer(
    ask: Ask, request_of: Any, folder: Path, analysed: list[Path]
) -> None:
    (first,) = ask(request_of())
    cache = Path(os.environ["KERNELCAST_DATA_DIR"]) / "answers.sqlite3"
    for file in cache.parent.glob(f"{cache.name}*"):
        file.write_bytes(b"no database at all")
    (second,) = ask(request_of())
    assert second["runtime_us"] == first["runtime_us"]
    ask(request_of())
    assert len(analysed) == 2, "the third answer is the second's"
    assert cache.stat().st_mode & 0o077 == 0
