"""The time beside a kernel: it is there, it follows the typing, it neither vanishes nor jumps, and it can be read."""

from __future__ import annotations

import re

import pytest

from tests.bench.generate import generate_file
from tests.editors.vscode.conftest import Foretold
from tests.editors.vscode.workbench import Hint, Workbench

SAXPY = """\
// kernelcast: global=N local=64 N=4194304 x=N y=N n=N
__kernel void saxpy(__global const float *x, __global float *y, float a, int n)
{
    const int i = get_global_id(0);
    float s = a * x[i];
    if (i < n)
        y[i] += s;
}
"""
LOOP = "for (int k = 0; k < 4096; ++k) s += sin(s);"


def test_a_kernel_has_its_time_beside_it(workbench: Workbench, foretold: Foretold) -> None:
    workbench.open("saxpy.cl", SAXPY)
    shown = workbench.wait_for_prediction("saxpy", foretold(workbench.server, SAXPY, "saxpy"))
    assert shown.startswith(("~ ", "≈ ")), shown
    assert len(shown) <= 30, shown


def test_the_hint_follows_an_edit_and_never_vanishes_meanwhile(workbench: Workbench, foretold: Foretold) -> None:
    end = "a * x[i];"
    edited = SAXPY.replace(end, f"{end} {LOOP}")
    before, after = (foretold(workbench.server, text, "saxpy") for text in (SAXPY, edited))
    assert before != after
    workbench.open("saxpy.cl", SAXPY)
    workbench.wait_for_prediction("saxpy", before)
    workbench.put_cursor_behind(re.escape(end))
    with workbench.watching() as frames:
        workbench.type(f" {LOOP}")
        shown = workbench.wait_for_prediction("saxpy", after)
    assert "compute" in shown
    assert frames[0]["saxpy"].text.startswith(before)
    assert frames[-1]["saxpy"].text.startswith(after)
    assert [number for number, frame in enumerate(frames) if "saxpy" not in frame] == []


def test_the_hint_stays_behind_its_line_while_that_line_is_typed(workbench: Workbench, foretold: Foretold) -> None:
    workbench.open("saxpy.cl", SAXPY)
    workbench.wait_for_prediction("saxpy", foretold(workbench.server, SAXPY, "saxpy"))
    workbench.put_cursor_behind(r"int n\b")
    with workbench.watching() as frames:
        workbench.type(", int unused")
        workbench.until(lambda: "int unused)" in workbench.source(), "what was typed")
        workbench.wait_for_hint("saxpy")
    assert [number for number, frame in enumerate(frames) if "saxpy" not in frame] == []
    assert len({frame["saxpy"].gap for frame in frames}) == 1


def test_the_first_line_of_the_hover_answers(workbench: Workbench, foretold: Foretold) -> None:
    workbench.open("saxpy.cl", SAXPY)
    hint = workbench.wait_for_prediction("saxpy", foretold(workbench.server, SAXPY, "saxpy"))
    story = workbench.hover("saxpy", "saxpy")
    first = story.strip().splitlines()[0]
    amount, unit = hint.split()[1], re.search(r"\b(ns|µs|ms|s|min)\b", hint)
    assert amount in first
    assert unit is not None
    assert unit[1] in first
    assert hint.split()[-1] in story, "what bounds it"
    workbench.leave_hover()


@pytest.mark.parametrize("theme", ["Light Modern", "Dark Modern", "Dark High Contrast"])
def test_hints_can_be_read_in_every_kind_of_theme(workbench: Workbench, theme: str) -> None:
    workbench.open("saxpy.cl", SAXPY)
    try:
        workbench.choose_theme(theme)
        # The theme's own colours for inlay hints, the light one's being the palest: nothing of ours dims them.
        assert workbench.contrast_of_hint("saxpy") >= 2.5
    finally:
        workbench.choose_theme("Dark Modern")


def test_a_hundred_kernels_scroll_and_change_without_a_hint_that_jumps(workbench: Workbench) -> None:
    text = generate_file(lines=4000, kernels=100, seed=5)
    named = enumerate(text.splitlines(), 1)
    kernels = [(line, found[1]) for line, row in named if (found := re.search(r"void (\w+_\d+)\(", row))]
    assert len(kernels) == 100
    workbench.open("hundred.cl", text)
    first_line, first = kernels[0]
    workbench.go_to_line(first_line)
    before = workbench.wait_for_hint(first)
    with workbench.watching() as frames:
        for line, kernel in kernels[::5]:
            for _ in range(5):
                workbench.press("PageDown")
            workbench.go_to_line(line)
            workbench.wait_for_hint(kernel)
        workbench.go_to_line(first_line)
        workbench.wait_for_hint(first)
        workbench.put_cursor_behind(r"float v = [^;]*;")
        workbench.type(" for (int k = 0; k < 4096; ++k) v += sin(v);")
        workbench.wait_for_hint(first, lambda text: text != before, "after the edit")
    assert len({kernel for frame in frames for kernel in frame}) >= 20
    assert gaps(frames) == {}


def gaps(frames: list[dict[str, Hint]]) -> dict[str, set[int]]:
    """The hints that were not always equally far behind their line."""
    seen: dict[str, set[int]] = {}
    for frame in frames:
        for kernel, hint in frame.items():
            seen.setdefault(kernel, set()).add(hint.gap)
    return {kernel: places for kernel, places in seen.items() if max(places) - min(places) > 1}
