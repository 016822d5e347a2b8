"""What the analysis counts is what an instruction counter counts, on kernels of many fields."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.oracles.instructions.compared import Compared, compare, read_tasks
from tests.oracles.instructions.decided import Decided
from tests.oracles.instructions.simulate import why_missing
from tests.oracles.instructions.verdict import (
    BAR_PERCENT,
    UNCOUNTED,
    agrees,
    kernel_files,
    read_explanations,
    share_within,
)

ENOUGH = {Decided.BY_LAUNCH: 0.95, Decided.BY_FILL: 0.9, Decided.BY_NOBODY: 0.85}  # of launches within 5 %
QUANTITIES = ("flops", "loads", "stores")


@pytest.fixture(scope="module")
def launches() -> list[Compared]:
    """Every launch of every kernel, counted twice."""
    if reason := why_missing():
        pytest.skip(reason)
    return compare([task for file in kernel_files() for task in read_tasks(file, without=[UNCOUNTED])])


def test_there_are_kernels_enough_and_each_has_several_launches() -> None:
    launches = {
        file.stem: [task.kernel.name for task, _ in read_tasks(file, without=[UNCOUNTED])] for file in kernel_files()
    }
    kernels = {(file, name) for file, names in launches.items() for name in names}
    assert len(kernels) >= 80
    assert [kernel for kernel in kernels if launches[kernel[0]].count(kernel[1]) < 2] == []


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("by", Decided)
def test_counts_agree(launches: list[Compared], by: Decided, quantity: str) -> None:
    """Whoever decides what runs: the launch, data that `fill` describes, or those that stand there by default."""
    own = [one for one in launches if one.decided is by]
    assert share_within(own, BAR_PERCENT[by], quantity) >= ENOUGH[by], _worst(own, quantity)


@pytest.mark.parametrize("by", Decided)
def test_counts_agree_in_all_quantities_at_once(launches: list[Compared], by: Decided) -> None:
    own = [one for one in launches if one.decided is by]
    assert share_within(own, BAR_PERCENT[by]) >= ENOUGH[by], _worst(own)


def test_every_disagreement_is_explained_and_no_explanation_is_out_of_date(launches: list[Compared]) -> None:
    explained: dict[str, set[str]] = defaultdict(set)
    for explanation in read_explanations():
        explained[explanation.kernel] |= explanation.launches
    found: dict[str, set[str]] = defaultdict(set)
    for one in launches:
        if not agrees(one):
            found[one.kernel].add(one.launch)
    assert found == explained


def test_no_kernel_of_ours_reads_or_writes_out_of_bounds(launches: list[Compared]) -> None:
    assert [(one.kernel, one.problem) for one in launches if one.problem and "Invalid" in one.problem] == []


def _worst(launches: list[Compared], quantity: str | None = None) -> str:
    rows = [
        (abs(q.deviation_percent), f"{one.kernel} {one.launch}: {q.name} {q.predicted:.0f} / {q.counted:.0f}")
        for one in launches
        for q in one.quantities
        if quantity in (None, q.name) and q.counted is not None
    ]
    return "\n".join(f"{percent:.1f} % {text}" for percent, text in sorted(rows, reverse=True)[:20])
