"""Whatever stands in the editor at a given moment, the engine gives an answer or a named problem, and soon.

`make fuzz` does this at length, with other people's kernels as well, and in processes of its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.bombs import BOMBS
from tests.fuzz.inputs import Input, load, make
from tests.fuzz.judge import judge
from tests.fuzz.sources import MAX_INPUT_BYTES, own_sources

SEED = 20_240
DEPTH = 60
HANG_S = 20.0  # far beyond what `make fuzz` allows: here a loop without end counts, not how fast this machine is


def accepted(one: Input, label: str) -> None:
    verdict = judge(one, HANG_S)
    if verdict.problem:
        versions = "\n--- next version ---\n".join(one.versions)
        pytest.fail(f"{label}: {verdict.problem}\n{versions}".encode("utf-8", "backslashreplace").decode())


def test_no_mistyped_text_makes_the_engine_raise_or_hang() -> None:
    sources = own_sources()
    for number in range(40):
        accepted(make(sources, SEED, number, ("text",)), f"text {number} of seed {SEED}")


def test_after_every_edit_the_engine_says_what_a_fresh_one_says() -> None:
    sources = own_sources()
    for number in range(8):
        accepted(make(sources, SEED, number, ("edits",)), f"edits {number} of seed {SEED}")


@pytest.mark.parametrize("number", range(len(BOMBS)))
def test_small_texts_that_ask_for_much_are_turned_down_in_time(number: int) -> None:
    text = BOMBS[number](DEPTH)[:MAX_INPUT_BYTES].decode("latin-1")
    accepted(Input("text", (text,)), f"bomb {number} of depth {DEPTH}")


def test_an_input_is_the_same_whichever_were_made_before_it(tmp_path: Path) -> None:
    sources = own_sources()
    first = make(sources, SEED, 7)
    make(sources, SEED, 8)
    assert make(sources, SEED, 7) == first
    first.save(tmp_path / "7.json")
    assert load(tmp_path / "7.json") == first
