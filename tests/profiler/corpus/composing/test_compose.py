"""Composition across patterns."""

from __future__ import annotations

import pytest

import profiler.corpus.families  # noqa: F401  registers them
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.program import read_program
from profiler.corpus.draw import Draw
from profiler.corpus.family import FAMILIES, Wish

COMPOSED = sorted(name for name, family in FAMILIES.items() if family.group == "composed")


@pytest.mark.parametrize("name", COMPOSED)
def test_forms_do_not_run_out(name: str) -> None:
    kernels = set()
    for seed in range(12):
        draft = FAMILIES[name].write(Draw("test", name, seed))
        kernels.add(identity(normalised_tokens(read_program(draft.source), draft.kernel), []))
    assert len(kernels) >= 11


@pytest.mark.parametrize("name", COMPOSED)
def test_every_parameter_has_a_value_in_a_launch(name: str) -> None:
    for seed in range(6):
        draft = FAMILIES[name].write(Draw("test", name, seed))
        launch = draft.launch(Draw("launch", seed), Wish(items=1000, data=5000, local=64)).launch
        (kernel,) = read_program(draft.source).kernels
        given = {n for n, *_ in (*launch.scalars, *launch.buffers, *launch.images, *launch.local_bytes)}
        assert given == {p.name for p in kernel.parameters}
