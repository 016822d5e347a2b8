"""`make programs` on a folder of our own making: what it counts, and what it calls a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs.run import Asker, outcomes_of
from tests.programs.sources import programs_below, sources_of
from tests.programs.table import Tally, table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two programs: one in files with an include, one in a string of host code."""
    files = tmp_path / "all/files/src"
    (files / "inc").mkdir(parents=True)
    (files / "inc/half.h").write_text("#define HALF 0.5f\n")
    body = "(__global float *x) { x[get_global_id(0)] *= HALF; }\n"
    (files / "a.cl").write_text(f'#include "half.h"\n__kernel void a{body}')
    (files / "b.ocl").write_text(
        f'#include "inc/half.h"\n__kernel void b{body}__kernel void recursive(int n) {{ f(n); }}'
    )
    (files / "b.ocl").write_text((files / "b.ocl").read_text() + "\nint f(int n) { return f(n - 1); }\n")
    host = tmp_path / "all/host"
    host.mkdir()
    (host / "main.cpp").write_text('const char *code = R"(__kernel void c(__global int *x) { x[0] = 1; })";\n')
    return tmp_path / "all"


def test_kernels_in_files_and_in_host_code_are_found_with_what_they_include(folder: Path, tmp_path: Path) -> None:
    found = {name: [s.reference for s in sources_of(at, tmp_path / "texts")] for name, at in programs_below(folder)}
    assert found == {"files": ["src/a.cl", "src/b.ocl"], "host": ["main.cpp#0"]}


def test_each_kernel_has_an_outcome_and_each_program_a_row(folder: Path, tmp_path: Path) -> None:
    with Asker("generic-gpu", 60.0) as asker:
        tallies = [
            Tally(name, list(outcomes_of(at, tmp_path / "texts" / name, asker))) for name, at in programs_below(folder)
        ]
    codes = {outcome.kernel: outcome.code for tally in tallies for outcome in tally.outcomes}
    assert codes == {"a": "", "b": "", "recursive": "analysis", "c": ""}
    lines = table(tallies).splitlines()
    assert lines[2].startswith("| files | 3 | 2 | analysis 1 |")
    assert lines[-1].startswith("| all 2 | 4 | 3 |")
