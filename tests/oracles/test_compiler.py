"""Held against a compiler: kernels, parameters and constructs of real packages, as PoCL builds them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.oracles.compiler.judging import Judged, judged, sample
from tests.oracles.compiler.programs import PACKAGES
from tests.real_packages import Unreachable

pytestmark = pytest.mark.device

LEAST_FOUND = 0.995
LEAST_CLEAN = 0.95
# Programs drawn of the packages that have dozens; the command in `document` builds all, or more, of them.
SAMPLES = {"hashcat": 3, "pyclesperanto": 30, "silx": 40, "darktable": 12}
SEED = 2


@pytest.fixture(scope="module", params=tuple(PACKAGES))
def package(request: pytest.FixtureRequest) -> Judged:
    try:
        sources = list(PACKAGES[request.param]())
    except Unreachable as reason:
        pytest.skip(str(reason))
    return judged(sample(sources, SAMPLES.get(request.param, len(sources)), SEED))


def test_kernels_that_the_compiler_knows_are_found(package: Judged) -> None:
    assert package.found > 0, "none of the programs builds"
    assert package.found >= LEAST_FOUND * (package.found + len(package.missed)), package.missed


def test_no_kernel_is_invented(package: Judged) -> None:
    assert package.invented == []


def test_parameters_are_those_that_the_compiler_reports(package: Judged) -> None:
    assert package.differences == []


def test_nearly_all_kernels_are_analysed_without_an_unknown_construct(
    package: Judged, record_property: Callable[[str, object], None]
) -> None:
    record_property("clean", package.clean_share)
    assert package.clean_share >= LEAST_CLEAN, package.reasons.most_common(20)
