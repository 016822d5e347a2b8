"""How often loops run that data end is predicted as a twin on PoCL counts it, or the line is named."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.oracles.data_loops.compare import Marked, compare, kernel_files
from tests.oracles.data_loops.places import places_in
from tests.oracles.instructions.compared import read_tasks

pytestmark = pytest.mark.device
CLOSE_ENOUGH = 0.9


@pytest.fixture(scope="module")
def marked() -> list[Marked]:
    """Every marked place of every launch, counted and predicted."""
    return compare(kernel_files())


def test_there_are_kernels_enough() -> None:
    kernels = {task.kernel.name for file in kernel_files() for task, _ in read_tasks(file)}
    assert len(kernels) >= 40
    names = [place.name for file in kernel_files() for place in places_in(file.read_text("utf-8"))]
    assert len(names) == len(set(names))


def test_nine_of_ten_places_run_as_often_as_predicted(marked: list[Marked]) -> None:
    close = [one for one in marked if one.is_close]
    assert len(close) >= CLOSE_ENOUGH * len(marked), _listed(one for one in marked if not one.is_close)


def test_none_is_far_off_unless_an_assumption_names_its_line(marked: list[Marked]) -> None:
    silent = [one for one in marked if one.is_far and not one.is_assumed]
    assert silent == [], _listed(silent)


def _listed(marked: Iterable[Marked]) -> str:
    return "\n".join(
        f"{one.place.name} ({one.task.launch.name}): {one.predicted} predicted, {one.counted} counted" for one in marked
    )
