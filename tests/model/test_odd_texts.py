"""Texts that once broke an analysis, found by sending the server nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import Forecast
from model.launch.config import load_config

LOOP = "#define ROUNDS 3\n__kernel void k(__global float *a) { for (int i = 0; i < ROUNDS; i++) a[i] = 1.0f; }\n"
CHAIN = "typedef int t0;\n" + "".join(f"typedef t{n} *t{n + 1};\n" for n in range(2000))


def forecast(text: str, engine: Engine | None = None, path: Path | None = None) -> Forecast:
    device = find_builtin("generic-cpu")
    assert device is not None
    return (engine or Engine()).forecast(text, path, device).forecasts[0]


@pytest.mark.parametrize(
    "parameters", ["__global float *a, int", "__global float *, float, int4", "int[4]", "int, int"]
)
def test_parameters_may_have_no_names(parameters: str) -> None:
    found = forecast(f"__kernel void k({parameters}) {{ }}\n")
    assert found.prediction is not None


def test_types_that_are_built_one_upon_the_other_can_be_analysed_again() -> None:
    """Two thousand pointers in each other are compared level by level."""
    text, engine = f"{CHAIN}__kernel void k(__global t2000 a) {{ a[0] = 0; }}\n", Engine()
    for each in (text, f"\n{text}", text.replace("= 0", "= 1")):
        assert forecast(each, engine).kernel.name == "k"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_byte_order_mark_hides_no_directive(line_end: str, tmp_path: Path) -> None:
    plain, marked = forecast(LOOP), forecast(f"\ufeff{LOOP}".replace("\n", line_end))
    assert marked.prediction is not None
    assert plain.prediction is not None
    assert marked.prediction.runtime_us == plain.prediction.runtime_us
    define, kernel = f"\ufeff{LOOP}".replace("\n", line_end).split(line_end, 1)
    (tmp_path / "rounds.h").write_text(define, encoding="utf-8")
    included = forecast(f'#include "rounds.h"{line_end}{kernel}', path=tmp_path / "k.cl")
    assert included.prediction is not None
    assert included.prediction.runtime_us == plain.prediction.runtime_us


def test_a_configuration_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text('[[launch]]\nkernel = "k"\nglobal = 64\n', encoding="utf-8-sig")
    found = load_config(tmp_path)
    assert found is not None
    assert len(found.specs_for("k", None)) == 1


@pytest.mark.parametrize("name", ["n" * 5000, "\0", "\ud83d"])
def test_no_configuration_is_in_a_folder_that_cannot_be(name: str) -> None:
    assert load_config(Path("/") / name / "sub") is None
