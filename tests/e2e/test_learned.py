"""The learned model in the editor: it follows the analytical model, stays while one types, and survives."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""
BODY = SCALE.splitlines()[3]
LINEAR = {"kind": "linear", "log2_factor": 3.0, "spread": 1.2, "novelty": 0.9}


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps(LINEAR))
    return folder


def environment(weights: Path) -> dict[str, str]:
    return {"KERNELCAST_WEIGHTS": str(weights)}


def by_the_model(label: str) -> bool:
    """On a device that is not calibrated, what the analytical model says is marked otherwise."""
    return label.startswith("≈")


def predictors(editor: Any) -> list[psutil.Process]:
    children = [each for each in editor.child_processes() if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in children if "server.predictor.child" in " ".join(each.cmdline())]


def told_us(label: str) -> float:
    number, unit = label.split()[1:3]
    return float(number) * {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6, "min": 6e7}[unit]


async def test_the_models_answer_takes_the_place_of_the_analytical_model_and_the_hover_tells_both(
    start_editor: Start, weights: Path
) -> None:
    async with start_editor(environment=environment(weights)) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        label = await editor.wait_for_hint("scale.cl", by_the_model)
        told = await editor.hover("scale.cl", 1, 16)
        assert "learned model" in told
        assert "unlike anything it has seen: the interval is wide" in " ".join(told.split())
        (analytic,) = (line for line in told.splitlines() if line.startswith("Analytical"))
        number, unit = analytic.split()[1:3]
        assert 7 < told_us(label) / told_us(f"~ {number} {unit}") < 9
        status = await editor.status(lambda told: told["basis"] == "learned model")
        assert not [each for each in status["problems"] if "model" in each["message"]]
        assert await editor.leave() == 0


async def test_while_one_types_no_hint_falls_back_to_what_the_analytical_model_says(
    start_editor: Start, weights: Path
) -> None:
    async with start_editor(environment=environment(weights)) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE + SCALE.replace("scale", "other"))
        await editor.wait_for_hint("scale.cl", by_the_model, place=1)
        first = await editor.wait_for_hint("scale.cl", by_the_model)
        seen = []
        for column, character in enumerate("for (int k = 0; k < 4000; k++) ", 2):
            editor.edit("scale.cl", 3, column, character)
            seen += [label for _, _, label in await editor.hints("scale.cl")]
        assert len(seen) == 2 * len("for (int k = 0; k < 4000; k++) ")
        assert [label for label in seen if not by_the_model(label)] == []
        last = await editor.wait_for_hint("scale.cl", lambda label: told_us(label) > 50 * told_us(first))
        assert by_the_model(last)
        assert (await editor.hints("scale.cl"))[1][2] == seen[1], "the kernel that nobody touched kept its hint"


async def test_a_predictor_that_is_killed_leaves_all_hints_and_comes_back(start_editor: Start, weights: Path) -> None:
    async with start_editor(environment=environment(weights)) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        first = await editor.wait_for_hint("scale.cl", by_the_model)
        for loops in (400, 401):
            (process,) = predictors(editor)
            process.kill()
            assert [label for _, _, label in await editor.hints("scale.cl")] == [first]
            editor.edit("scale.cl", 3, 0, f"for (int k = 0; k < {loops}; k++) ")
            labels = [label for _, _, label in await editor.hints("scale.cl")]
            assert by_the_model(labels[0])
            before = told_us(first)
            first = await editor.wait_for_hint("scale.cl", lambda label, least=50 * before: told_us(label) > least)
            assert by_the_model(first)
            assert [each.pid for each in predictors(editor)] != [process.pid]


async def test_nothing_of_it_is_left_when_the_server_ends(start_editor: Start, weights: Path) -> None:
    async with start_editor(environment=environment(weights)) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl", by_the_model)
        (process,) = predictors(editor)
        editor.server.kill()
        await editor.server.wait()
        _, alive = psutil.wait_procs([process], 60)
        assert alive == []


async def test_weights_that_cannot_be_used_are_told_and_the_analytical_model_answers(
    start_editor: Start, weights: Path
) -> None:
    (weights / "model.json").write_text("{}")
    async with start_editor(environment=environment(weights)) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        assert (await editor.wait_for_hint("scale.cl")).startswith("~")
        status = await editor.status(lambda told: any("learned model" in each["message"] for each in told["problems"]))
        assert status["basis"] == "analytical model"
        assert (await editor.wait_for_hint("scale.cl")).startswith("~")


async def test_without_weights_nothing_is_started_and_the_analytical_model_answers(
    start_editor: Start, tmp_path: Path
) -> None:
    async with start_editor(environment=environment(tmp_path / "nowhere")) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        assert (await editor.wait_for_hint("scale.cl")).startswith("~")
        assert "analytical model" in await editor.hover("scale.cl", 1, 16)
        assert "Analytical" not in await editor.hover("scale.cl", 1, 16)
        assert predictors(editor) == []


async def test_a_client_that_cannot_refresh_gets_the_models_answer_at_once(start_editor: Start, weights: Path) -> None:
    async with start_editor(environment=environment(weights), refresh=False) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        ((_, _, label),) = await editor.hints("scale.cl")
        assert by_the_model(label)


@pytest.mark.device
async def test_what_is_measured_improves_what_is_said_of_other_kernels_at_once(
    start_editor: Start, weights: Path, tmp_path: Path
) -> None:
    (weights / "model.json").write_text(json.dumps({**LINEAR, "log2_factor": 9}))
    async with start_editor(environment=environment(weights)) as editor:
        editor.open("scale.cl", SCALE)
        editor.open("other.cl", SCALE.replace("scale", "other").replace("* 2.0f", "+ 2.0f"))
        await editor.run("kernelcast.listDevices")  # answers when all devices of the machine are known
        await editor.wait_for_hint("scale.cl", by_the_model)
        before = await editor.wait_for_hint("other.cl", by_the_model)
        answer = await editor.measure("scale.cl", "scale")
        assert answer["predicted_us"] > 20 * answer["runtime_us"]["median"], answer
        after = await editor.wait_for_hint("other.cl", lambda label: told_us(label) < 0.7 * told_us(before))
        assert by_the_model(after)
    with sqlite3.connect(next((tmp_path).rglob("kernelcast.sqlite3"))) as database:
        assert database.execute("SELECT count(question) FROM measurements").fetchone() == (1,)


@pytest.mark.device
async def test_each_size_that_is_measured_is_kept_with_what_was_asked_of_it(
    start_editor: Start, weights: Path, tmp_path: Path
) -> None:
    async with start_editor(environment=environment(weights)) as editor:
        editor.open("scale.cl", SCALE)
        await editor.run("kernelcast.listDevices")
        await editor.wait_for_hint("scale.cl", by_the_model)
        answer = await editor.run("kernelcast.measureSizes", editor.uri("scale.cl"), "scale")
        assert len(answer["sizes"]) > 2, answer
    with sqlite3.connect(next(tmp_path.rglob("kernelcast.sqlite3"))) as database:
        found = database.execute("SELECT count(question), count(DISTINCT question) FROM measurements").fetchone()
    assert found == (len(answer["sizes"]),) * 2
