"""What the data decide: the first hint rests on what is assumed, the next on what running some work-items told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_learned import predictors, told_us

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
STEPS = """// kernelcast: global=65536 local=64 start=65536 out=65536 fill.start=randint:1:1000
__kernel void steps(__global const int *start, __global int *out) {
  int v = start[get_global_id(0)], n = 0;
  while (v != 1) { if (v > 1000000000) break; v = v & 1 ? 3 * v + 1 : v / 2; n++; }
  out[get_global_id(0)] = n;
}
"""
RAN = "times on average: found by running"


@pytest.fixture
def no_weights(tmp_path: Path) -> dict[str, str]:
    """No learned model to ask."""
    (tmp_path / "none").mkdir()
    return {"KERNELCAST_WEIGHTS": str(tmp_path / "none")}


async def test_a_hint_is_first_assumed_and_then_refined(start_editor: Start, no_weights: dict[str, str]) -> None:
    async with start_editor(environment=no_weights) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("steps.cl", STEPS)
        first = await editor.wait_for_hint("steps.cl")
        told = await editor.hover_with("steps.cl", 1, 16, RAN)
        assert ": assumed for" not in told
        assert await editor.wait_for_hint("steps.cl", lambda label: label != first)
        assert await editor.leave() == 0


async def test_while_one_types_the_refined_hint_stays(start_editor: Start, no_weights: dict[str, str]) -> None:
    async with start_editor(environment=no_weights) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("steps.cl", STEPS)
        await editor.wait_for_hint("steps.cl")
        await editor.hover_with("steps.cl", 1, 16, RAN)
        refined = (await editor.hints("steps.cl"))[0][2]
        seen = []
        for column, character in enumerate(" + 100 * n", STEPS.splitlines()[4].index(";")):
            editor.edit("steps.cl", 4, column, character)
            seen += [label for _, _, label in await editor.hints("steps.cl")]
        await editor.hover_with("steps.cl", 1, 16, RAN)
        seen += [label for _, _, label in await editor.hints("steps.cl")]
        assert all(told_us(label) > 0.5 * told_us(refined) for label in seen)


async def test_work_items_are_run_again_when_the_process_that_does_it_dies(
    start_editor: Start, no_weights: dict[str, str]
) -> None:
    async with start_editor(environment=no_weights) as editor:
        editor.open("steps.cl", STEPS)
        await editor.wait_for_hint("steps.cl")
        await editor.hover_with("steps.cl", 1, 16, RAN)
        (process,) = predictors(editor)
        process.kill()
        process.wait(10)
        editor.open("other.cl", STEPS.replace("randint:1:1000", "randint:1:9000"))
        await editor.wait_for_hint("other.cl")
        await editor.hover_with("other.cl", 1, 16, RAN)
